#include "reading.hpp"

#include <unistd.h>

#include <utility>

#include "decode.hpp"
#include "rollcall/plugin.hpp"

namespace rollcall::linux_backend {
namespace {

constexpr std::size_t kStatBuffer = 1024;  // 52 fields of at most 20 digits, and a name of 64 bytes

constexpr std::uint32_t kStatOnly = ROLLCALL_WANT_STATE | ROLLCALL_WANT_AGE;

std::int64_t clock_ns(const System& system, clockid_t clock) {
  struct timespec now = {};
  if (system.clock_gettime(clock, &now) != 0) return -1;
  return std::int64_t{now.tv_sec} * 1'000'000'000 + now.tv_nsec;
}

void forget_tokens(rollcall_observation& out) {
  out.flags &= std::uint32_t{ROLLCALL_OBS_EXACT_ID};
  out.start_token_size = 0;
  out.age_ns = out.start_unix_ns = 0;
}

}  // namespace

Reader::Reader(const System& system, std::string proc_root)
    : system_(system),
      procfs_(system, std::move(proc_root)),
      pidfs_(system),
      ticks_per_second_(::sysconf(_SC_CLK_TCK)) {}

void Reader::observe(const rollcall_ask& ask, Once& once, rollcall_observation& out) {
  out.pid = ask.pid;
  if (ask.pid < 1 || ask.pid > INT32_MAX) {
    out.presence = ROLLCALL_PRESENCE_ABSENT;
    return;
  }
  if ((ask.wants & ROLLCALL_WANT_EXACT_ID) != 0 && by_pidfd(ask, once, out)) return;
  by_stat(ask, once, out);
}

// False: no pidfd was to be had, or the number looks like a thread's; stat must tell. A filter of
// system calls may answer with any errno, ESRCH too: two calls must agree that nobody is there.
bool Reader::by_pidfd(const rollcall_ask& ask, Once& once, rollcall_observation& out) {
  const Fd pidfd(system_, pidfs_.open(ask.pid));
  if (pidfd.open()) {
    observe_pinned(pidfd.get(), ask, once, out);
    return true;
  }
  if (errno != ESRCH || !knows_nobody(system_, ask.pid)) return false;
  out.presence = ROLLCALL_PRESENCE_ABSENT;
  return true;
}

void Reader::observe_pinned(int pidfd, const rollcall_ask& ask, Once& once,
                            rollcall_observation& out) {
  out.pid = ask.pid;
  const bool wanted = (ask.wants & ROLLCALL_WANT_EXACT_ID) != 0;
  const ExactId id = wanted ? pidfs_.exact_id(pidfd) : ExactId{};
  const bool exact = id.outcome == ExactId::Outcome::kRead;
  if (exact) plugin::set_exact_id(out, id.value);
  const bool decided = exact && (ask.wants & ROLLCALL_WANT_EXACT_SUFFICES) != 0;
  Failure failure;
  bool stat_read = false;
  if ((ask.wants & kStatOnly) != 0 || (!decided && (ask.wants & ROLLCALL_WANT_START_TOKEN) != 0)) {
    failure = read_stat_once(ask, once, out);
    stat_read = failure.why == nullptr;
  }
  switch (poll_pidfd(system_, pidfd, 0)) {
    case PidfdState::kExited:  // so the stat may have been a newcomer's
      forget_tokens(out);
      out.presence = ROLLCALL_PRESENCE_EXITED;
      return;
    case PidfdState::kUnknown:
      forget_tokens(out);
      return unreadable(ask, {"its pidfd could not be polled", errno}, out);
    case PidfdState::kRunning:
      break;
  }
  if (id.outcome == ExactId::Outcome::kFailed) {  // a token is no substitute for it
    forget_tokens(out);
    return unreadable(ask, {"its exact id could not be read", id.error}, out);
  }
  // The number has been this process's all along. What a stat said of being dead or a thread came
  // from the moment in which a thread takes its leader's place by exec.
  if (stat_read && out.presence != ROLLCALL_PRESENCE_PRESENT) forget_tokens(out);
  if (failure.why != nullptr && !exact) return unreadable(ask, failure, out);
  out.presence = ROLLCALL_PRESENCE_PRESENT;
}

void Reader::by_stat(const rollcall_ask& ask, Once& once, rollcall_observation& out) {
  const Failure failure = read_stat(ask, once, out);
  if (failure.why != nullptr) without_stat(ask, failure, out);
}

// A thread that calls exec takes its leader's pid, and one reading in that very moment may still
// show the leader, dead and no leader any more. So what would make a process count as gone is read
// twice, and the second reading counts: after such an exec there is but one thread.
Reader::Failure Reader::read_stat(const rollcall_ask& ask, Once& once, rollcall_observation& out) {
  const Failure failure = read_stat_once(ask, once, out);
  if (failure.why != nullptr || out.presence == ROLLCALL_PRESENCE_PRESENT) return failure;
  forget_tokens(out);
  out.presence = ROLLCALL_PRESENCE_UNREADABLE;
  return read_stat_once(ask, once, out);
}

Reader::Failure Reader::read_stat_once(const rollcall_ask& ask, Once& once,
                                       rollcall_observation& out) {
  if (!once.proc_is_ours) once.proc_is_ours = procfs_.is_ours();
  if (!*once.proc_is_ours) return {"the procfs is not this process's own (its self link says so)"};
  char buffer[kStatBuffer];
  std::optional<Stat> stat;
  const int error = procfs_.read_stat(ask.pid, buffer, sizeof buffer, stat);
  if (error != 0) return {"its stat could not be read", error};
  if (!stat) return {"its stat is cut or malformed"};
  apply(*stat, ask, once, out);
  return {};
}

void Reader::apply(const Stat& stat, const rollcall_ask& ask, Once& once,
                   rollcall_observation& out) {
  if (is_thread(stat)) {
    out.presence = ROLLCALL_PRESENCE_ABSENT;
    out.flags |= ROLLCALL_OBS_THREAD;
    return;
  }
  out.presence = has_exited(stat) ? ROLLCALL_PRESENCE_EXITED : ROLLCALL_PRESENCE_PRESENT;
  plugin::set_suspended(out, is_suspended(stat));
  if (stat.start.empty()) return;
  plugin::set_start_token(out, stat.start);
  if ((ask.wants & ROLLCALL_WANT_AGE) != 0) set_age(stat.start_ticks, once, out);
}

// No stat: only ESRCH proves absence, and nothing does while a pidfd can be had.
void Reader::without_stat(const rollcall_ask& ask, const Failure& failure,
                          rollcall_observation& out) {
  const bool nobody = knows_nobody(system_, ask.pid);
  const Fd pidfd(system_, open_pidfd(system_, ask.pid));
  const int error = pidfd.open() ? 0 : errno;
  if (pidfd.open() && poll_pidfd(system_, pidfd.get(), 0) == PidfdState::kExited) {
    out.presence = ROLLCALL_PRESENCE_EXITED;
  } else if (!pidfd.open() && (nobody || (error == ESRCH && knows_nobody(system_, ask.pid)))) {
    out.presence = ROLLCALL_PRESENCE_ABSENT;
  } else if (says_thread(error) && is_proven_thread(system_, ask.pid)) {
    out.presence = ROLLCALL_PRESENCE_ABSENT;
    out.flags |= ROLLCALL_OBS_THREAD;
  } else {
    unreadable(ask, failure, out);
  }
}

void Reader::unreadable(const rollcall_ask& ask, const Failure& failure,
                        rollcall_observation& out) const {
  std::string reason = "pid " + std::to_string(ask.pid) + " is held, but " + failure.why;
  if (failure.error != 0) reason += ": " + error_text(failure.error);
  plugin::set_unreadable(out, reason, failure.error);
}

void Reader::set_age(std::uint64_t start_ticks, Once& once, rollcall_observation& out) {
  if (!once.clocks_read) read_clocks(once);
  auto age = age_ns(start_ticks, ticks_per_second_, once.since_boot_ns);
  if (!age) {  // it may have started since the batch's clocks were read
    read_clocks(once);
    age = age_ns(start_ticks, ticks_per_second_, once.since_boot_ns);
  }
  if (!age) return;
  out.age_ns = *age;
  out.flags |= ROLLCALL_OBS_AGE;
  if (once.unix_ns < *age) return;
  out.start_unix_ns = once.unix_ns - *age;
  out.flags |= ROLLCALL_OBS_START_TIME;
}

void Reader::read_clocks(Once& once) const {
  once.since_boot_ns = clock_ns(system_, CLOCK_BOOTTIME);
  once.unix_ns = clock_ns(system_, CLOCK_REALTIME);
  once.clocks_read = true;
}

}  // namespace rollcall::linux_backend
