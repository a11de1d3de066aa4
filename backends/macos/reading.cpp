#include "reading.hpp"

#include "decode.hpp"
#include "text.hpp"

namespace rollcall::macos_backend {
namespace {

constexpr std::uint64_t kZombiesToo = 1;  // the argument of PROC_PIDTBSDINFO
constexpr std::int64_t kMicrosecond = 1'000;
// Instants up to here fit int64 nanoseconds.
constexpr std::uint64_t kLastSecond = static_cast<std::uint64_t>(INT64_MAX / 1'000'000'000) - 1;

void read_clock(const System& system, Once& once) {
  struct timespec now = {};
  if (system.clock_gettime(CLOCK_REALTIME, &now) != 0) return;
  once.unix_us = std::int64_t{now.tv_sec} * 1'000'000 + now.tv_nsec / kMicrosecond;
}

void set_age(const System& system, const proc_bsdinfo& info, Once& once,
             rollcall_observation& out) {
  if (info.pbi_start_tvsec > kLastSecond) return;
  const auto start_us = static_cast<std::int64_t>(info.pbi_start_tvsec) * 1'000'000 +
                        static_cast<std::int64_t>(info.pbi_start_tvusec);
  out.start_unix_ns = start_us * kMicrosecond;
  out.flags |= ROLLCALL_OBS_START_TIME;
  // It may have started since the batch's clock was read.
  if (once.unix_us < start_us) read_clock(system, once);
  if (once.unix_us < start_us) return;
  out.age_ns = (once.unix_us - start_us) * kMicrosecond;
  out.flags |= ROLLCALL_OBS_AGE;
}

void set_failed(const Reading& reading, std::int64_t pid, rollcall_observation& out) {
  Text<128> reason;
  reason << "pid " << pid << " could not be read: " << reading.why;
  if (reading.error != 0) reason << error_text(reading.error);
  plugin::set_unreadable(out, reason.view(), reading.error);
}

}  // namespace

Reading read_process(const System& system, std::int64_t pid) {
  Reading reading;
  errno = 0;
  const int size = system.proc_pidinfo(static_cast<int>(pid), PROC_PIDTBSDINFO, kZombiesToo,
                                       &reading.info, int{sizeof reading.info});
  reading.error = size <= 0 ? errno : 0;
  if (reading.error == ESRCH) {
    reading.outcome = Reading::Outcome::kAbsent;
  } else if (size <= 0) {
    reading.why = reading.error == 0 ? "the system gave nothing" : "";
  } else if (size != int{sizeof reading.info}) {
    reading.why = "the system's answer is cut";
  } else if (reading.info.pbi_pid != static_cast<std::uint32_t>(pid)) {
    reading.why = "the system's answer is for another pid";
  } else {
    reading.outcome = Reading::Outcome::kRead;
  }
  return reading;
}

void observe(const System& system, const rollcall_ask& ask, Once& once, rollcall_observation& out) {
  out.pid = ask.pid;
  if (ask.pid < 1 || ask.pid > INT32_MAX) {
    out.presence = ROLLCALL_PRESENCE_ABSENT;
    return;
  }
  const Reading reading = read_process(system, ask.pid);
  switch (reading.outcome) {
    case Reading::Outcome::kAbsent:
      out.presence = ROLLCALL_PRESENCE_ABSENT;
      return;
    case Reading::Outcome::kFailed:
      set_failed(reading, ask.pid, out);
      return;
    case Reading::Outcome::kRead:
      break;
  }
  const proc_bsdinfo& info = reading.info;
  out.presence = has_exited(info) ? ROLLCALL_PRESENCE_EXITED : ROLLCALL_PRESENCE_PRESENT;
  plugin::set_suspended(out, is_suspended(info));
  const auto token = start_token(info.pbi_start_tvsec, info.pbi_start_tvusec);
  if (!plugin::set_start_token(out, token.view())) return;
  if ((ask.wants & ROLLCALL_WANT_AGE) != 0) set_age(system, info, once, out);
}

}  // namespace rollcall::macos_backend
