// Asking a backend's raw tables.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

#include "behaviours.hpp"
#include "stage.hpp"

namespace rollcall::conformance {

inline Outcome holds() { return {}; }
inline Outcome lacks(std::string why) { return {Outcome::Kind::kLacks, std::move(why)}; }
inline Outcome broken(std::string why) { return {Outcome::Kind::kBroken, std::move(why)}; }
inline Outcome untried(std::string why) { return {Outcome::Kind::kUntried, std::move(why)}; }
inline Outcome expect(bool so, std::string otherwise) {
  return so ? holds() : broken(std::move(otherwise));
}

// One reading. A batch that fails reads as UNREADABLE with its message.
rollcall_observation observe(const Backend& backend, std::int64_t pid,
                             std::uint32_t wants = ROLLCALL_WANT_START_TOKEN);
std::string token_of(const rollcall_observation& seen);
std::string shown(const rollcall_observation& seen);  // for what was seen instead

struct WhoAmI {
  std::int32_t code = 0;
  rollcall_whoami me = {};
};
WhoAmI whoami(const Backend& backend);

struct Detail {
  std::int32_t code = 0;
  std::string bytes;
  std::string message;
};
Detail read(const Backend& backend, std::int64_t pid, std::uint32_t what);

// pid -> parent; empty where it failed.
std::map<std::int64_t, std::int64_t> list(const Backend& backend);

rollcall_socket_answer owner(const Backend& backend, std::int64_t socket, std::int64_t pid);
std::string shown(const rollcall_socket_answer& answer);

using Judge = std::function<std::uint32_t(const rollcall_observation&)>;
// As a record with this token has it: alive where it is equal.
Judge of_token(std::string token);

struct Signalled {
  std::int32_t code = 0;
  std::uint32_t outcome = 0;
  std::string text;
  rollcall_exit exit = {};  // of await_exit
};
Signalled signal(Stage& stage, std::int64_t pid, std::uint32_t number, Judge judge);
Signalled await_exit(Stage& stage, std::int64_t pid, Judge judge, std::int64_t limit_ns);

// Of a backend that has a watcher: additions by an id, and what a wait then gives.
struct Watched {
  std::int32_t code = 0;
  std::uint32_t outcome = 0;
  std::string text;
};
Watched watch_process(Stage& stage, std::uint64_t id, std::int64_t pid, Judge judge);
Watched watch_directory(Stage& stage, std::uint64_t id, const std::string& path);
// The first event within the limit; nullopt: there was none.
std::optional<rollcall_watch_event> next_event(Stage& stage, std::int64_t limit_ns);

}  // namespace rollcall::conformance
