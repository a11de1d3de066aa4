// A whole host: lists the sessions of a home with their verdicts.
#include <cstdio>
#include <cstdlib>
#include <rollcall/file_store.hpp>
#include <rollcall/host.hpp>
#include <rollcall/registry.hpp>

template <class T>
T must(rollcall::Result<T> result) {
  if (result) return std::move(*result);
  std::fprintf(stderr, "host: %s\n", result.error().message.c_str());
  std::exit(1);
}

int main(int argc, char** argv) {
  if (argc != 2) return std::fprintf(stderr, "usage: %s HOME\n", argv[0]), 2;
  const auto clock = rollcall::system_clock();
  const auto host = must(rollcall::Host::open({}));
  const auto files = must(rollcall::FileStore::open({.home = argv[1], .clock = clock}));
  const auto doors = [&](std::string_view kind) { return host->door_prober(kind); };
  const auto probe = must(host->platform_probe());
  const auto registry = must(rollcall::Registry::open(
      {.store = files, .files = files, .probe = probe, .doors = doors, .clock = clock}));
  const auto sweep = must(registry->sweep({}, {}));
  for (const auto& session : sweep.sessions) {
    std::printf("%s %s %s\n", session.record.session_id.c_str(),
                to_text(session.finding.verdict).data(), session.finding.text.c_str());
  }
}
