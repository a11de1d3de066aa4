// A process that writes to a home, for the tests that end or race such processes:
//   store_writer create HOME EVENT NAME  waits for EVENT, then registers "one"; 0, or 1: it is
//   there store_writer write HOME EVENT        writes for ever; EVENT is set once it has begun
//   store_writer hold HOME EVENT         takes the home's lock, sets EVENT and waits for its end
#include <windows.h>

#include <cstdio>
#include <string>
#include <string_view>

#include "core/handle_windows.hpp"
#include "core/private_files.hpp"
#include "registry/record_samples.hpp"
#include "rollcall/file_store.hpp"

namespace {

using namespace rollcall;  // NOLINT: a program

std::string record_text(std::string_view id, std::string_view name) {
  Record record = testing::sample_record(id);
  record.name = name;
  return *serialize_record(record);
}

int say(const char* what, const Error& error) {
  std::fprintf(stderr, "%s: %s\n", what, error.message.c_str());
  return 3;
}

int create_one(FileStore& store, HANDLE begin, const char* name) {
  ::WaitForSingleObject(begin, 60'000);
  const auto created = store.create_if_absent("one", record_text("one", name), {});
  if (created) return 0;
  return created.error().code == ErrorCode::kExists ? 1 : say("create", created.error());
}

// Replaces "kept", and makes and removes "passing".
int write_for_ever(FileStore& store, HANDLE began) {
  store.set_writer({.pid = static_cast<std::int64_t>(::GetCurrentProcessId()),
                    .start_token = "1",
                    .boot_id = "b"});
  for (unsigned round = 0;; ++round) {
    const auto kept = store.read("kept", {});
    if (!kept) return say("read", kept.error());
    ::SetEvent(began);
    const std::string name(200 + round % 7 * 300, static_cast<char>('a' + round % 26));
    const auto replaced = store.replace_if("kept", kept->version, record_text("kept", name), {});
    if (!replaced) return say("replace", replaced.error());
    const auto passing = store.read("passing", {});
    const auto done = passing ? store.remove_if("passing", passing->version, {})
                              : store.create_if_absent("passing", record_text("passing", "p"), {});
    if (!done) return say("pass", done.error());
  }
}

int hold_lock(const std::string& home, HANDLE held) {
  const auto clock = system_clock();
  const auto dir = core::PrivateDir::open(home, core::current_owner());
  if (!dir || !*dir) return 3;
  const auto lock = (*dir)->lock("lock", *clock, kNoDeadline, {});
  if (!lock) return say("lock", lock.error());
  ::SetEvent(held);
  ::Sleep(INFINITE);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc < 4) return 2;
  const std::string_view what = argv[1];
  const core::Handle event(::OpenEventA(EVENT_MODIFY_STATE | SYNCHRONIZE, FALSE, argv[3]));
  if (!event.valid()) return 2;
  if (what == "hold") return hold_lock(argv[2], event.get());
  const auto store =
      FileStore::open({.home = argv[2], .clock = system_clock(), .lock_timeout_ms = 30'000});
  if (!store) return say("open", store.error());
  if (what == "write") return write_for_ever(**store, event.get());
  if (what == "create" && argc == 5) return create_one(**store, event.get(), argv[4]);
  return 2;
}
