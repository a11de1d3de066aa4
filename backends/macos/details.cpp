#include "details.hpp"

#include <sys/sysctl.h>

#include "decode.hpp"
#include "reading.hpp"

namespace rollcall::macos_backend {
namespace {

Status gone(std::int64_t pid) {
  return failed(ROLLCALL_E_NOT_FOUND, ESRCH, "no process holds pid ", pid);
}

Status no_memory() { return failed(ROLLCALL_E_NO_MEMORY, 0, "out of memory"); }

// Whose it is: success where it is there and has not exited.
Status look(const System& system, std::int64_t pid, Reading& reading) {
  reading = read_process(system, pid);
  switch (reading.outcome) {
    case Reading::Outcome::kAbsent:
      return gone(pid);
    case Reading::Outcome::kFailed: {
      const bool denied = reading.error == EPERM || reading.error == EACCES;
      return failed(denied ? ROLLCALL_E_DENIED : ROLLCALL_E_IO, reading.error, "cannot read pid ",
                    pid, ": ", reading.why,
                    reading.error == 0 ? std::string_view() : error_text(reading.error));
    }
    case Reading::Outcome::kRead:
      break;
  }
  if (!has_exited(reading.info)) return {};
  return failed(ROLLCALL_E_NOT_FOUND, 0, "pid ", pid, " has exited and has nothing to read");
}

// Why KERN_PROCARGS2 said no. It says EINVAL of an absent pid, a zombie and another user's process
// alike, so the process itself is looked at.
Status arguments_refused(const System& system, std::int64_t pid, int error) {
  Reading reading;
  if (auto status = look(system, pid, reading); !status.ok()) return status;
  const uid_t own = system.getuid();
  const bool others = own != 0 && reading.info.pbi_uid != own;
  const bool denied = error == EPERM || error == EACCES || (error == EINVAL && others);
  return failed(denied ? ROLLCALL_E_DENIED : ROLLCALL_E_IO, error,
                "cannot read the arguments of pid ", pid, others ? " of another user: " : ": ",
                error_text(error));
}

// The most that arguments and environment may take, in bytes.
Status argument_limit(const System& system, std::size_t& out) {
  int name[] = {CTL_KERN, KERN_ARGMAX};
  int limit = 0;
  std::size_t size = sizeof limit;
  if (system.sysctl(name, 2, &limit, &size, nullptr, 0) != 0) {
    return failed(ROLLCALL_E_IO, errno, "cannot read kern.argmax: ", error_text(errno));
  }
  if (size != sizeof limit || limit <= 0) {
    return failed(ROLLCALL_E_CORRUPT, 0, "kern.argmax makes no sense");
  }
  out = static_cast<std::size_t>(limit);
  return {};
}

Status read_arguments(const System& system, std::int64_t pid, bool environment, Detail& out) {
  std::size_t size = 0;
  if (auto status = argument_limit(system, size); !status.ok()) return status;
  if (!out.memory.reserve(size)) return no_memory();
  int name[] = {CTL_KERN, KERN_PROCARGS2, static_cast<int>(pid)};
  if (system.sysctl(name, 3, out.memory.data(), &size, nullptr, 0) != 0) {
    return arguments_refused(system, pid, errno);
  }
  const auto found =
      size <= out.memory.room() ? decode_arguments({out.memory.data(), size}) : std::nullopt;
  if (!found) {
    return failed(ROLLCALL_E_CORRUPT, 0, "the arguments of pid ", pid,
                  " are cut or malformed (KERN_PROCARGS2)");
  }
  if (environment && !found->has_environment) {
    return failed(ROLLCALL_E_DENIED, 0, "the system withholds the environment of pid ", pid);
  }
  out.bytes = environment ? found->environment : found->command;
  return {};
}

Status read_directory(const System& system, std::int64_t pid, Detail& out) {
  if (!out.memory.reserve(sizeof(proc_vnodepathinfo))) return no_memory();
  auto* info = reinterpret_cast<proc_vnodepathinfo*>(out.memory.data());
  errno = 0;
  const int size =
      system.proc_pidinfo(static_cast<int>(pid), PROC_PIDVNODEPATHINFO, 0, info, int{sizeof *info});
  if (size <= 0) {
    const int error = errno;
    if (error == ESRCH) return gone(pid);
    Reading reading;
    if (auto status = look(system, pid, reading); !status.ok()) return status;
    return failed(error == EPERM ? ROLLCALL_E_DENIED : ROLLCALL_E_IO, error,
                  "cannot read the working directory of pid ", pid, ": ", error_text(error));
  }
  if (size != int{sizeof *info}) {
    return failed(ROLLCALL_E_CORRUPT, 0, "the working directory of pid ", pid, " is cut");
  }
  const char* path = info->pvi_cdir.vip_path;
  out.bytes = fixed_text(path, sizeof info->pvi_cdir.vip_path);
  return {};
}

Status read_basics(const System& system, std::int64_t pid, std::uint32_t what, Detail& out) {
  Reading reading = read_process(system, pid);
  // A zombie has a name and a parent still. What fails is read once more, for its reason.
  if (reading.outcome != Reading::Outcome::kRead) {
    if (auto status = look(system, pid, reading); !status.ok()) return status;
  }
  Text<48> text;
  if (what == ROLLCALL_READ_NAME) {
    text << short_name(reading.info);
  } else if (what == ROLLCALL_READ_USERS) {
    text << std::int64_t{reading.info.pbi_ruid} << " " << std::int64_t{reading.info.pbi_uid} << " "
         << std::int64_t{reading.info.pbi_svuid};
  } else {
    text << std::int64_t{reading.info.pbi_ppid};
  }
  for (const char c : text.view()) {
    if (!out.memory.push(c)) return no_memory();
  }
  out.bytes = {out.memory.data(), out.memory.size()};
  return {};
}

}  // namespace

Status read_detail(const System& system, std::int64_t pid, std::uint32_t what, Detail& out) {
  switch (what) {
    case ROLLCALL_READ_COMMAND:
      return read_arguments(system, pid, false, out);
    case ROLLCALL_READ_ENVIRONMENT:
      return read_arguments(system, pid, true, out);
    case ROLLCALL_READ_CWD:
      return read_directory(system, pid, out);
    case ROLLCALL_READ_PARENT:
    case ROLLCALL_READ_NAME:
    case ROLLCALL_READ_USERS:
      return read_basics(system, pid, what, out);
    default:
      return failed(ROLLCALL_E_INVALID, 0, "unknown reading ", std::int64_t{what});
  }
}

}  // namespace rollcall::macos_backend
