// Behaviours of readings: what is there, what is not, and what cannot be told.
#include <string>

#include "asking.hpp"

namespace rollcall::conformance {
namespace {

constexpr std::uint32_t kEverything =
    ROLLCALL_WANT_START_TOKEN | ROLLCALL_WANT_EXACT_ID | ROLLCALL_WANT_STATE | ROLLCALL_WANT_AGE;

Outcome itself(Stage& stage) {
  const auto seen = observe(stage.backend(), stage.own_pid(), kEverything);
  const auto who = whoami(stage.backend());
  const std::string token(who.me.start_token, who.me.start_token_size);
  return expect(seen.presence == ROLLCALL_PRESENCE_PRESENT && !token_of(seen).empty() &&
                    who.code == ROLLCALL_OK && who.me.pid == stage.own_pid() &&
                    token == token_of(seen),
                shown(seen) + "; whoami says '" + token + "'");
}

Outcome agreement(Stage& stage) {
  const std::int64_t pid = stage.run();
  const auto first = observe(stage.backend(), pid, kEverything);
  const auto second = observe(stage.backend(), pid, kEverything);
  return expect(first.presence == ROLLCALL_PRESENCE_PRESENT && !token_of(first).empty() &&
                    token_of(first) == token_of(second) && first.exact_id == second.exact_id,
                shown(first) + ", then " + shown(second));
}

Outcome exited(Stage& stage) {
  for (const int code : {0, 1, 259}) {
    const std::int64_t pid = stage.run();
    stage.end(pid, code);
    const auto seen = observe(stage.backend(), pid);
    if (seen.presence != ROLLCALL_PRESENCE_EXITED) {
      return broken("after exit code " + std::to_string(code) + " " + shown(seen));
    }
  }
  return holds();
}

Outcome absent(Stage& stage) {
  for (const std::int64_t pid : {stage.free_pid(), INT64_C(0), INT64_C(-1), INT64_C(2147483648),
                                 INT64_C(4294967296) + stage.own_pid()}) {
    const auto seen = observe(stage.backend(), pid);
    if (seen.presence != ROLLCALL_PRESENCE_ABSENT) return broken(shown(seen));
  }
  return holds();
}

Outcome denied(Stage& stage) {
  const auto found = stage.denied();
  if (!found) return untried("no process here may not be read");
  const auto seen = observe(found->first, found->second);
  return expect(seen.presence == ROLLCALL_PRESENCE_UNREADABLE && seen.reason_size > 0, shown(seen));
}

Outcome replaced(Stage& stage) {
  const std::int64_t pid = stage.run();
  const auto before = observe(stage.backend(), pid, kEverything);
  if (stage.replace(pid) != pid) return untried("no number can be handed on here");
  const auto after = observe(stage.backend(), pid, kEverything);
  const bool exact = (before.flags & after.flags & ROLLCALL_OBS_EXACT_ID) != 0;
  return expect(
      after.presence == ROLLCALL_PRESENCE_PRESENT &&
          (exact ? before.exact_id != after.exact_id : token_of(before) != token_of(after)),
      shown(before) + ", then " + shown(after));
}

Outcome thread(Stage& stage) {
  const auto id = stage.thread();
  if (!id) return untried("no thread has a number here");
  const auto seen = observe(stage.backend(), *id);
  return expect(seen.presence == ROLLCALL_PRESENCE_ABSENT, shown(seen));
}

Outcome suspended(Stage& stage) {
  const std::int64_t pid = stage.run();
  const auto running = observe(stage.backend(), pid, ROLLCALL_WANT_STATE);
  if ((running.flags & ROLLCALL_OBS_STATE) == 0) return lacks("the state is not told");
  if (!stage.suspend(pid)) return untried("no process can be suspended here");
  const auto seen = observe(stage.backend(), pid, ROLLCALL_WANT_STATE);
  return expect(
      (running.flags & ROLLCALL_OBS_SUSPENDED) == 0 && (seen.flags & ROLLCALL_OBS_SUSPENDED) != 0,
      shown(seen));
}

Outcome exact_id(Stage& stage) {
  const auto one = observe(stage.backend(), stage.run(), ROLLCALL_WANT_EXACT_ID);
  const auto other = observe(stage.backend(), stage.run(), ROLLCALL_WANT_EXACT_ID);
  const std::string why = stage.may_lack_exact_id();
  if ((one.flags & ROLLCALL_OBS_EXACT_ID) == 0) {
    return why.empty() ? lacks("no exact id is told") : untried(why);
  }
  return expect(one.exact_id != other.exact_id && one.exact_id != 0, shown(one));
}

Outcome age(Stage& stage) {
  const auto seen = observe(stage.backend(), stage.run(), ROLLCALL_WANT_AGE);
  constexpr std::uint32_t kBoth = ROLLCALL_OBS_AGE | ROLLCALL_OBS_START_TIME;
  return expect((seen.flags & kBoth) == kBoth && seen.age_ns >= 0, shown(seen));
}

Outcome boot(Stage& stage) {
  const auto first = whoami(stage.backend());
  const auto second = whoami(stage.backend());
  const std::string one(first.me.boot_id, first.me.boot_id_size);
  const std::string two(second.me.boot_id, second.me.boot_id_size);
  return expect(!one.empty() && one == two, "'" + one + "', then '" + two + "'");
}

Outcome machine(Stage& stage) {
  const auto who = whoami(stage.backend());
  const std::string why = stage.may_lack_machine_id();
  if (who.me.machine_id_size == 0 && !why.empty()) return untried(why);
  return expect(who.me.machine_id_size > 0 && who.me.nodename_size > 0, "it is not told");
}

Outcome pid_namespace(Stage& stage) {
  const auto who = whoami(stage.backend());
  return who.me.pid_namespace_size > 0 ? holds() : lacks("no namespace is told");
}

Outcome listing(Stage& stage) {
  const auto family = stage.family();
  if (!family) return untried("no process here has a child");
  const auto all = list(stage.backend());
  const auto child = all.find(family->second);
  return expect(
      all.count(stage.own_pid()) == 1 && child != all.end() && child->second == family->first,
      std::to_string(all.size()) + " processes; the child's parent is " +
          std::to_string(child == all.end() ? -2 : child->second));
}

Outcome parent(Stage& stage) {
  const auto family = stage.family();
  if (!family) return untried("no process here has a child");
  const auto told = read(stage.backend(), family->second, ROLLCALL_READ_PARENT);
  return expect(told.bytes == std::to_string(family->first), told.bytes + " " + told.message);
}

const Started& odd() {
  static const Started started = {
      .arguments = {"agent", "A=evil", "a b", "\xC3\xA9 \"quoted\"", ""},
      .environment = {"ROLLCALL_ODD=a=b c", "ROLLCALL_UTF=\xE2\x82\xAC"},
      .directory = {}};
  return started;
}

// Every text of `wanted`, ended by NUL, is among those of `told`.
bool has_all(const std::string& told, const std::vector<std::string>& wanted) {
  const std::string all = std::string(1, '\0') + told;
  for (const std::string& one : wanted) {
    if (all.find('\0' + one + '\0') == std::string::npos) return false;
  }
  return true;
}

Outcome arguments(Stage& stage) {
  const auto pid = stage.run_with(odd());
  if (!pid) return untried("no process can be started with them");
  const auto told = read(stage.backend(), *pid, ROLLCALL_READ_COMMAND);
  std::string behind;  // the program's own name is the platform's matter
  for (std::size_t i = 1; i < odd().arguments.size(); ++i) behind += odd().arguments[i] + '\0';
  const auto first = told.bytes.find('\0');
  return expect(first != std::string::npos && told.bytes.substr(first + 1) == behind,
                told.bytes + " " + told.message);
}

Outcome environment(Stage& stage) {
  const auto pid = stage.run_with(odd());
  if (!pid) return untried("no process can be started with one");
  const auto told = read(stage.backend(), *pid, ROLLCALL_READ_ENVIRONMENT);
  return expect(has_all(told.bytes, odd().environment) && !has_all(told.bytes, {"A=evil"}),
                told.bytes + " " + told.message);
}

Outcome directory(Stage& stage) {
  Started started = odd();
  started.directory = "here";  // the stage knows where
  const auto pid = stage.run_with(started);
  if (!pid) return untried("no process can be started in one");
  const auto told = read(stage.backend(), *pid, ROLLCALL_READ_CWD);
  if (told.code == ROLLCALL_E_UNSUPPORTED) return lacks(told.message);
  const auto at = told.bytes.find_last_of("/\\");
  return expect(at != std::string::npos && told.bytes.substr(at + 1) == "here",
                told.bytes + " " + told.message);
}

Outcome name(Stage& stage) {
  const auto pid = stage.run_with(odd());
  if (!pid) return untried("no process can be started");
  const auto told = read(stage.backend(), *pid, ROLLCALL_READ_NAME);
  return expect(told.bytes == stage.name(), told.bytes + " " + told.message);
}

Outcome nothing_of_a_free_number(Stage& stage) {
  for (const auto what : {ROLLCALL_READ_COMMAND, ROLLCALL_READ_ENVIRONMENT, ROLLCALL_READ_CWD,
                          ROLLCALL_READ_PARENT, ROLLCALL_READ_NAME, ROLLCALL_READ_USERS}) {
    const auto told = read(stage.backend(), stage.free_pid(), what);
    if (told.code != ROLLCALL_E_NOT_FOUND && told.code != ROLLCALL_E_UNSUPPORTED) {
      return broken("reading " + std::to_string(what) + " gave " + std::to_string(told.code));
    }
  }
  return holds();
}

}  // namespace

std::vector<Behaviour> reading_behaviours() {
  return {
      {"Itself", "A process reads itself, with its start token", &itself},
      {"Agreement", "Two readings of a process agree", &agreement},
      {"Exited",
       "A process that has ended is *exited* while its number is taken, whatever its exit code",
       &exited},
      {"Absent", "A number that no process has, or can have, is *absent*", &absent},
      {"Denied", "A process that may not be read is *unreadable*, never absent", &denied},
      {"Replaced", "A process that took over a number is told from the one before", &replaced},
      {"Thread", "A thread's number is no process", &thread},
      {"Suspended", "A suspended process is said to be so", &suspended},
      {"ExactId", "An exact id, never reused in a boot, is told", &exact_id},
      {"Age", "The age of a process is told", &age},
      {"Boot", "The boot is told", &boot},
      {"Machine", "The machine is told", &machine},
      {"PidNamespace", "The pid namespace is told", &pid_namespace},
      {"Listing", "Every process is listed, with its parent", &listing},
      {"Parent", "The parent of a process is told", &parent},
      {"Name", "The name of a process is told", &name},
      {"Arguments", "Its arguments are told, each by itself", &arguments},
      {"Environment", "Its environment is told, and no argument taken for it", &environment},
      {"Directory", "Its working directory is told", &directory},
      {"Nothing", "Of a number that no process has, nothing is told", &nothing_of_a_free_number},
  };
}

}  // namespace rollcall::conformance
