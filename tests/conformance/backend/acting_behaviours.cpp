// Behaviours of doors, and of asking, ending and awaiting.
#include <string>

#include "asking.hpp"

namespace rollcall::conformance {
namespace {

constexpr std::int64_t kMillisecond = 1'000'000;
constexpr std::int64_t kLong = 20'000 * kMillisecond;

Outcome door_holder(Stage& stage) {
  const auto door = stage.door();
  if (!door) return untried("no door can be opened");
  const auto held = owner(stage.backend(), door->socket, door->holder);
  if (held.owner != ROLLCALL_OWNER_PROCESS || (held.flags & ROLLCALL_SOCKET_LOOPBACK) == 0) {
    return broken("of its holder: " + shown(held));
  }
  const auto other = owner(stage.backend(), door->socket, stage.run());
  return expect(other.owner == ROLLCALL_OWNER_FOREIGN, "of a stranger: " + shown(other));
}

Outcome door_parent(Stage& stage) {
  const auto door = stage.door();
  if (!door) return untried("no door can be opened");
  const auto held = owner(stage.backend(), door->socket, door->parent);
  return expect(held.owner == ROLLCALL_OWNER_PROCESS, shown(held));
}

Outcome bad_socket(Stage& stage) {
  const auto held = owner(stage.backend(), -1, stage.own_pid());
  return expect(held.owner == ROLLCALL_OWNER_UNKNOWN && held.flags == 0, shown(held));
}

Outcome unix_peer(Stage& stage) {
  const auto door = stage.unix_door();
  if (!door) return untried("no Unix door can be opened");
  const auto held = owner(stage.backend(), door->socket, door->holder);
  if (held.owner == ROLLCALL_OWNER_UNKNOWN) return lacks(shown(held));
  return expect(held.owner == ROLLCALL_OWNER_PROCESS && (held.flags & ROLLCALL_SOCKET_UNIX) != 0,
                shown(held));
}

std::string shown(const Signalled& told) {
  return "status " + std::to_string(told.code) + ", outcome " + std::to_string(told.outcome) +
         ", '" + told.text + "'";
}

std::string token(Stage& stage, std::int64_t pid) {
  return token_of(observe(stage.backend(), pid));
}

Outcome end_by(Stage& stage, std::uint32_t number) {
  const std::int64_t pid = stage.run();
  const auto told = signal(stage, pid, number, of_token(token(stage, pid)));
  if (told.code != ROLLCALL_OK || told.outcome != ROLLCALL_SIGNAL_SENT) return broken(shown(told));
  return expect(stage.has_ended(pid), "it runs on");
}

Outcome term(Stage& stage) { return end_by(stage, ROLLCALL_SIGNAL_TERM); }
Outcome kill(Stage& stage) { return end_by(stage, ROLLCALL_SIGNAL_KILL); }

Outcome suspend(Stage& stage) {
  const std::int64_t pid = stage.run();
  for (const auto number : {ROLLCALL_SIGNAL_STOP, ROLLCALL_SIGNAL_CONT}) {
    const auto told = signal(stage, pid, number, of_token(token(stage, pid)));
    if (told.code == ROLLCALL_E_UNSUPPORTED) return lacks(told.text);
    if (told.outcome != ROLLCALL_SIGNAL_SENT) return broken(shown(told));
  }
  return holds();
}

Outcome user_signals(Stage& stage) {
  for (const auto number : {ROLLCALL_SIGNAL_HUP, ROLLCALL_SIGNAL_USR1, ROLLCALL_SIGNAL_USR2}) {
    const std::int64_t pid = stage.run();
    const auto told = signal(stage, pid, number, of_token(token(stage, pid)));
    if (told.code == ROLLCALL_E_UNSUPPORTED) return lacks(told.text);
    if (told.outcome != ROLLCALL_SIGNAL_SENT) return broken(shown(told));
  }
  return holds();
}

// KILL is tried: whatever is done wrongly shows.
Outcome another(Stage& stage) {
  const std::int64_t pid = stage.run();
  const auto told = signal(stage, pid, ROLLCALL_SIGNAL_KILL, of_token("1"));
  return expect(told.outcome == ROLLCALL_SIGNAL_ALREADY_GONE && stage.runs(pid), shown(told));
}

Outcome doubtful(Stage& stage) {
  const std::int64_t pid = stage.run();
  const auto told = signal(stage, pid, ROLLCALL_SIGNAL_KILL, [](const rollcall_observation&) {
    return std::uint32_t{ROLLCALL_JUDGE_UNVERIFIED};
  });
  return expect(told.outcome == ROLLCALL_SIGNAL_REFUSED && !told.text.empty() && stage.runs(pid),
                shown(told));
}

Outcome replaced_while_judged(Stage& stage) {
  const std::int64_t pid = stage.run();
  std::optional<std::int64_t> newcomer;
  const Judge recorded = of_token(token(stage, pid));
  const auto told = signal(stage, pid, ROLLCALL_SIGNAL_KILL, [&](const auto& seen) {
    const std::uint32_t verdict = recorded(seen);
    newcomer = stage.replace(pid);
    return verdict;
  });
  if (!newcomer) return untried("no number can be handed on here");
  return expect(told.outcome != ROLLCALL_SIGNAL_SENT && stage.runs(*newcomer), shown(told));
}

Outcome never_itself(Stage& stage) {
  const Judge reckless = [](const auto&) { return std::uint32_t{ROLLCALL_JUDGE_ALIVE}; };
  for (const std::int64_t pid : {stage.own_pid(), INT64_C(1), INT64_C(0), INT64_C(-1), INT64_C(-2),
                                 INT64_C(4294967296) + stage.run()}) {
    const auto told = signal(stage, pid, ROLLCALL_SIGNAL_KILL, reckless);
    if (told.code == ROLLCALL_OK && told.outcome != ROLLCALL_SIGNAL_REFUSED) {
      return broken("for " + std::to_string(pid) + ": " + shown(told));
    }
  }
  return holds();
}

Outcome awaited(Stage& stage) {
  const std::int64_t pid = stage.run();
  const Judge recorded = of_token(token(stage, pid));
  stage.end_soon(pid, 7);
  const auto told = await_exit(stage, pid, recorded, kLong);
  return expect(told.outcome == ROLLCALL_AWAIT_ENDED, shown(told));
}

Outcome deadline(Stage& stage) {
  const std::int64_t pid = stage.run();
  const auto told = await_exit(stage, pid, of_token(token(stage, pid)), 250 * kMillisecond);
  return expect(told.outcome == ROLLCALL_AWAIT_STILL_THERE && stage.runs(pid), shown(told));
}

Outcome exit_code(Stage& stage) {
  const std::int64_t pid = stage.run();
  const Judge recorded = of_token(token(stage, pid));
  stage.end_soon(pid, 7);
  const auto told = await_exit(stage, pid, recorded, kLong);
  if (told.outcome != ROLLCALL_AWAIT_ENDED) return broken(shown(told));
  if (told.exit.kind == ROLLCALL_EXIT_UNKNOWN) return lacks(told.text);
  return expect(told.exit.kind == ROLLCALL_EXIT_CODE && told.exit.value == 7, shown(told));
}

Outcome await_in_doubt(Stage& stage) {
  const auto told = await_exit(
      stage, stage.run(), [](const auto&) { return std::uint32_t{ROLLCALL_JUDGE_UNVERIFIED}; },
      kLong);
  return expect(told.outcome == ROLLCALL_AWAIT_UNKNOWN && !told.text.empty(), shown(told));
}

}  // namespace

std::vector<Behaviour> door_behaviours() {
  return {
      {"DoorHolder", "Who holds a TCP door is told from a stranger", &door_holder},
      {"DoorParent", "A descendant's door counts as the process's own", &door_parent},
      {"BadSocket", "Nobody is vouched for on a bad socket", &bad_socket},
      {"UnixPeer", "The peer of a Unix socket is told", &unix_peer},
  };
}

std::vector<Behaviour> acting_behaviours() {
  return {
      {"Term", "TERM asks a process to stop", &term},
      {"Kill", "KILL ends a process", &kill},
      {"Suspend", "STOP and CONT suspend a process and let it go on", &suspend},
      {"UserSignals", "HUP, USR1 and USR2 can be sent", &user_signals},
      {"Another", "A process that is not the recorded one is not signalled", &another},
      {"Doubtful", "A process that is in doubt is not signalled", &doubtful},
      {"ReplacedWhileJudged",
       "A process that took over the number while it was judged is not "
       "signalled",
       &replaced_while_judged},
      {"NeverItself", "Neither the caller, pid 1 nor an impossible number is signalled",
       &never_itself},
      {"Awaited", "The end of a process is awaited", &awaited},
      {"Deadline", "Awaiting ends at the deadline", &deadline},
      {"AwaitInDoubt", "Nothing is told of the end of a process that is in doubt", &await_in_doubt},
      {"ExitCode", "The exit code of an awaited process is told", &exit_code},
  };
}

const std::vector<Behaviour>& behaviours() {
  static const std::vector<Behaviour> all = [] {
    std::vector<Behaviour> joined;
    for (const auto& group :
         {reading_behaviours(), door_behaviours(), acting_behaviours(), watching_behaviours()}) {
      joined.insert(joined.end(), group.begin(), group.end());
    }
    return joined;
  }();
  return all;
}

}  // namespace rollcall::conformance
