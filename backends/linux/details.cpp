#include "details.hpp"

#include <climits>

#include "decode.hpp"

namespace rollcall::linux_backend {
namespace {

constexpr std::size_t kLimit = std::size_t{8} << 20;

// One stat, with the bytes that its views point into.
struct HeldStat {
  char buffer[1024];
  std::optional<Stat> stat;
  int error = 0;
};

void load(const Procfs& procfs, std::int64_t pid, HeldStat& held) {
  const ssize_t size = procfs.read_stat(pid, held.buffer, sizeof held.buffer);
  if (size < 0) {
    held.error = errno;
  } else {
    held.stat = decode_stat({held.buffer, static_cast<std::size_t>(size)});
  }
}

std::string subject(std::int64_t pid, const char* what) {
  return std::string(what) + " of pid " + std::to_string(pid);
}

plugin::Status failed(std::int64_t pid, const char* what, int error) {
  switch (error) {
    case ENOENT:
    case ESRCH:
      return {ROLLCALL_E_NOT_FOUND, "no process shows the " + subject(pid, what), error};
    case EACCES:
    case EPERM:
      return {ROLLCALL_E_DENIED,
              "may not read the " + subject(pid, what) + ": " + error_text(error), error};
    case EFBIG:
      return {ROLLCALL_E_TOO_LARGE, "the " + subject(pid, what) + " is larger than 8 MiB", error};
    default:
      return {ROLLCALL_E_IO, "cannot read the " + subject(pid, what) + ": " + error_text(error),
              error};
  }
}

// Why there was nothing: success only where it truly is empty.
plugin::Status judge_nothing(const Procfs& procfs, std::int64_t pid, const char* what) {
  HeldStat held;
  load(procfs, pid, held);
  if (held.error != 0) return failed(pid, what, held.error);
  if (!held.stat)
    return {ROLLCALL_E_IO, "the stat of pid " + std::to_string(pid) + " is malformed"};
  if (has_exited(*held.stat)) {
    return {ROLLCALL_E_NOT_FOUND, "pid " + std::to_string(pid) + " has exited and has no " + what};
  }
  if (is_kernel_thread(*held.stat)) {
    return {ROLLCALL_E_UNSUPPORTED,
            "pid " + std::to_string(pid) + " is a kernel thread and has no " + what};
  }
  return {};
}

plugin::Status read_bytes(const Procfs& procfs, std::int64_t pid, const char* file,
                          const char* what, std::string& out) {
  const int error = procfs.read_file(ProcPath(pid, file).c_str(), kLimit, out);
  if (error == 0 && !out.empty()) return {};
  const auto nothing = judge_nothing(procfs, pid, what);
  if (!nothing.ok() && error != EFBIG && error != EACCES) return nothing;
  return error == 0 ? plugin::Status() : failed(pid, what, error);
}

plugin::Status read_directory(const Procfs& procfs, std::int64_t pid, std::string& out) {
  constexpr const char* kWhat = "working directory";
  out.resize(PATH_MAX);
  const ssize_t size = procfs.read_link(ProcPath(pid, "cwd").c_str(), out.data(), out.size());
  if (size >= 0) {
    out.resize(static_cast<std::size_t>(size));
    return {};
  }
  const int error = errno;
  out.clear();
  const auto nothing = judge_nothing(procfs, pid, kWhat);
  return !nothing.ok() && error == ENOENT ? nothing : failed(pid, kWhat, error);
}

}  // namespace

std::optional<std::int64_t> parent_of(const Procfs& procfs, std::int64_t pid) {
  HeldStat held;
  load(procfs, pid, held);
  if (!held.stat) return std::nullopt;
  return held.stat->parent;
}

plugin::Status read_detail(const Procfs& procfs, std::int64_t pid, std::uint32_t what,
                           std::string& out) {
  switch (what) {
    case ROLLCALL_READ_COMMAND:
      return read_bytes(procfs, pid, "cmdline", "arguments", out);
    case ROLLCALL_READ_ENVIRONMENT:
      return read_bytes(procfs, pid, "environ", "environment", out);
    case ROLLCALL_READ_CWD:
      return read_directory(procfs, pid, out);
    case ROLLCALL_READ_PARENT:
    case ROLLCALL_READ_NAME:
      break;
    default:
      return {ROLLCALL_E_INVALID, "unknown reading " + std::to_string(what)};
  }
  HeldStat held;
  load(procfs, pid, held);
  if (held.error != 0) return failed(pid, "stat", held.error);
  if (!held.stat)
    return {ROLLCALL_E_IO, "the stat of pid " + std::to_string(pid) + " is malformed"};
  out =
      what == ROLLCALL_READ_NAME ? std::string(held.stat->name) : std::to_string(held.stat->parent);
  return {};
}

}  // namespace rollcall::linux_backend
