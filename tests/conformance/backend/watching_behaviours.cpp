// Behaviours of watching: what is told by itself.
#include <atomic>
#include <string>
#include <thread>

#include "asking.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::conformance {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kLong = 20'000 * kMillisecond;
constexpr std::int64_t kShort = 50 * kMillisecond;

Outcome no_watcher(const Stage& stage) {
  const std::string why = stage.may_lack_watcher();
  return why.empty() ? lacks("its backend has no watcher") : untried(why);
}

std::string shown(const Watched& told) {
  return "status " + std::to_string(told.code) + ", outcome " + std::to_string(told.outcome) +
         ", '" + told.text + "'";
}

std::string shown(const std::optional<rollcall_watch_event>& event) {
  if (!event) return "no event";
  return "event " + std::to_string(event->kind) + " of " + std::to_string(event->id) + ", '" +
         std::string(event->name, event->name_size) + "'";
}

bool is(const std::optional<rollcall_watch_event>& event, std::uint32_t kind, std::uint64_t id) {
  return event && event->kind == kind && event->id == id;
}

Outcome end(Stage& stage) {
  if (stage.backend().watch == nullptr) return no_watcher(stage);
  const std::int64_t pid = stage.run();
  const std::int64_t other = stage.run();
  for (const auto& [id, each] : {std::pair{7U, pid}, std::pair{8U, other}}) {
    const auto told =
        watch_process(stage, id, each, of_token(token_of(observe(stage.backend(), each))));
    if (told.outcome != ROLLCALL_WATCH_WATCHED) return broken(shown(told));
  }
  if (const auto early = next_event(stage, kShort)) return broken("too early: " + shown(early));
  stage.end(pid, 3);
  const auto event = next_event(stage, kLong);
  if (!is(event, ROLLCALL_WATCH_EVENT_ENDED, 7)) return broken(shown(event));
  if (const auto again = next_event(stage, kShort)) return broken("again: " + shown(again));
  stage.end(other, 0);
  const auto last = next_event(stage, kLong);
  return expect(is(last, ROLLCALL_WATCH_EVENT_ENDED, 8), shown(last));
}

Outcome doubt(Stage& stage) {
  if (stage.backend().watch == nullptr) return no_watcher(stage);
  const std::int64_t pid = stage.run();
  const auto another = watch_process(stage, 7, pid, of_token("1"));
  if (another.outcome != ROLLCALL_WATCH_GONE) return broken("another's: " + shown(another));
  const auto doubtful = watch_process(stage, 8, pid, [](const rollcall_observation&) {
    return static_cast<std::uint32_t>(ROLLCALL_JUDGE_UNVERIFIED);
  });
  if (doubtful.outcome != ROLLCALL_WATCH_UNVERIFIED) return broken("in doubt: " + shown(doubtful));
  const auto nobody = watch_process(stage, 9, stage.free_pid(), of_token("1"));
  if (nobody.outcome != ROLLCALL_WATCH_GONE) return broken("nobody's: " + shown(nobody));
  stage.end(pid, 0);
  const auto event = next_event(stage, kShort);
  return expect(!event, shown(event));
}

Outcome folder(Stage& stage) {
  if (stage.backend().watch == nullptr) return no_watcher(stage);
  const testing::TempDir dir;
  const auto told = watch_directory(stage, 7, testing::utf8(dir.path()));
  if (told.outcome != ROLLCALL_WATCH_WATCHED) return broken(shown(told));
  const auto seen = [&](const char* name) {
    for (auto event = next_event(stage, kLong); event; event = next_event(stage, kLong)) {
      if (!is(event, ROLLCALL_WATCH_EVENT_CHANGED, 7)) return false;
      const std::string_view named(event->name, event->name_size);
      if (named.empty() || named == name) return true;
    }
    return false;
  };
  dir.write("a", "1");
  if (!seen("a")) return broken("a new file is not told");
  std::filesystem::rename(dir / "a", dir / "b");
  if (!seen("b")) return broken("a renamed file is not told");
  std::filesystem::remove(dir / "b");
  if (!seen("b")) return broken("a removed file is not told");
  // The backend is every behaviour's.
  (void)stage.backend().watch->remove(stage.backend().watch_self, 7, nullptr);
  const auto none = watch_directory(stage, 8, testing::utf8(dir / "none"));
  return expect(none.outcome == ROLLCALL_WATCH_GONE, "of none: " + shown(none));
}

Outcome wake(Stage& stage) {
  if (stage.backend().watch == nullptr) return no_watcher(stage);
  const Backend& backend = stage.backend();
  rollcall_call call = {};
  call.struct_size = sizeof call;
  call.deadline_ns = stage.now_ns() + kLong;
  rollcall_watch_event event = {};
  rollcall_watch_batch batch = {sizeof batch, sizeof event, 1, 0, &event};
  std::thread other([&] { backend.watch->wake(backend.watch_self); });
  const auto code = backend.watch->wait(backend.watch_self, &batch, &call, nullptr);
  other.join();
  return expect(
      code == ROLLCALL_OK && batch.count == 0 && stage.now_ns() < call.deadline_ns,
      "status " + std::to_string(code) + ", " + std::to_string(batch.count) + " events, or late");
}

}  // namespace

std::vector<Behaviour> watching_behaviours() {
  return {
      {"WatchedEnd", "The end of a watched process is told by itself", &end},
      {"WatchInDoubt", "A process that is not the recorded one, or in doubt, is not watched",
       &doubt},
      {"WatchedFolder", "A change in a watched folder is told by itself", &folder},
      {"Wake", "A wait for what is told can be ended from another thread", &wake},
  };
}

}  // namespace rollcall::conformance
