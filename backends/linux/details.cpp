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
  held.error = procfs.read_stat(pid, held.buffer, sizeof held.buffer, held.stat);
}

class Details {
 public:
  Details(const System& system, const Procfs& procfs, std::int64_t pid)
      : system_(system), procfs_(procfs), pid_(pid) {}

  // `memory`: the file stays the program's that ran when it was opened.
  plugin::Status bytes(const char* file, const char* what, bool memory, std::string& out) const;
  plugin::Status directory(std::string& out) const;
  plugin::Status from_stat(bool name, std::string& out) const;
  plugin::Status users(std::string& out) const;

 private:
  plugin::Status failed(const char* what, int error) const;
  plugin::Status without(const char* what, int error) const;
  [[nodiscard]] std::string malformed() const {
    return "the stat of pid " + std::to_string(pid_) + " is malformed";
  }

  const System& system_;
  const Procfs& procfs_;
  std::int64_t pid_;
};

plugin::Status Details::failed(const char* what, int error) const {
  const std::string subject = std::string(what) + " of pid " + std::to_string(pid_);
  const bool missing = error == ENOENT || error == ESRCH;
  // A failed open is no proof of absence: under hidepid it is ENOENT while kill(2) says EPERM.
  if (missing && knows_nobody(system_, pid_)) {
    return {ROLLCALL_E_NOT_FOUND, "no process holds pid " + std::to_string(pid_), error};
  }
  if (error == ESRCH) {
    return {ROLLCALL_E_NOT_FOUND, "pid " + std::to_string(pid_) + " is ending", error};
  }
  if (error == ENOENT || error == EACCES || error == EPERM) {
    return {ROLLCALL_E_DENIED, "may not read the " + subject + ": " + error_text(error), error};
  }
  if (error == EFBIG) {
    return {ROLLCALL_E_TOO_LARGE, "the " + subject + " is larger than 8 MiB", error};
  }
  return {ROLLCALL_E_IO, "cannot read the " + subject + ": " + error_text(error), error};
}

// There was nothing to read, or reading failed with `error`: what the stat says of the process
// comes first, since a zombie's files fail in many ways. Success only where it truly is empty.
plugin::Status Details::without(const char* what, int error) const {
  HeldStat held;
  load(procfs_, pid_, held);
  if (held.stat && has_exited(*held.stat)) {
    return {ROLLCALL_E_NOT_FOUND, "pid " + std::to_string(pid_) + " has exited and has no " + what};
  }
  if (held.stat && is_kernel_thread(*held.stat)) {
    return {ROLLCALL_E_UNSUPPORTED,
            "pid " + std::to_string(pid_) + " is a kernel thread and has no " + what};
  }
  if (error != 0) return failed(what, error);
  if (held.error != 0) return failed(what, held.error);
  if (!held.stat) return {ROLLCALL_E_IO, malformed()};
  return {};
}

// A program that executes another in the middle ends the file early, and just then it may be empty,
// with nothing to tell it by. Arguments count once two readings in a row agree on them, the
// environment once its end is known for the true one, and that there is nothing, if all readings
// do.
plugin::Status Details::bytes(const char* file, const char* what, bool memory,
                              std::string& out) const {
  constexpr int kTries = 10;
  constexpr int kPauseMs = 1;
  const ProcPath path(pid_, file);
  std::string before;
  bool any = false;
  for (int reading = 0; reading < kTries; ++reading) {
    bool whole = false;
    const int error = procfs_.read_file(path.c_str(), kLimit, out, memory ? &whole : nullptr);
    if (error == EFBIG) return failed(what, error);
    if (error != 0) return without(what, error);
    if (!out.empty() && (memory ? whole : out == before)) return {};
    any = any || !out.empty();
    if (out.empty()) {
      // One that has exited, or is a kernel thread, will not have any.
      if (auto status = without(what, 0); !status.ok()) return status;
      (void)system_.poll(nullptr, 0, kPauseMs);
    }
    before.swap(out);
  }
  out.clear();
  if (!any) return {};
  return {ROLLCALL_E_IO,
          "the " + std::string(what) + " of pid " + std::to_string(pid_) +
              " changed whenever it was read: it executes one program after another"};
}

plugin::Status Details::directory(std::string& out) const {
  out.resize(PATH_MAX);
  const ssize_t size = procfs_.read_link(ProcPath(pid_, "cwd").c_str(), out.data(), out.size());
  const int error = size < 0 ? errno : 0;
  out.resize(static_cast<std::size_t>(size < 0 ? 0 : size));
  return error == 0 ? plugin::Status() : without("working directory", error);
}

plugin::Status Details::from_stat(bool name, std::string& out) const {
  HeldStat held;
  load(procfs_, pid_, held);
  if (held.error != 0) return failed("stat", held.error);
  if (!held.stat) return {ROLLCALL_E_IO, malformed()};
  out = name ? std::string(held.stat->name) : std::to_string(held.stat->parent);
  return {};
}

plugin::Status Details::users(std::string& out) const {
  std::string text;
  const int error = procfs_.read_file(ProcPath(pid_, "status").c_str(), kLimit, text);
  if (error != 0) return failed("status", error);
  const auto uids = decode_uids(text);
  if (!uids) {
    return {ROLLCALL_E_IO, "the status of pid " + std::to_string(pid_) + " is malformed"};
  }
  out.clear();
  for (const std::uint64_t uid : *uids) out += (out.empty() ? "" : " ") + std::to_string(uid);
  return {};
}

}  // namespace

std::optional<std::int64_t> parent_of(const Procfs& procfs, std::int64_t pid) {
  HeldStat held;
  load(procfs, pid, held);
  if (!held.stat) return std::nullopt;
  return held.stat->parent;
}

plugin::Status read_detail(const System& system, const Procfs& procfs, std::int64_t pid,
                           std::uint32_t what, std::string& out) {
  const Details details(system, procfs, pid);
  switch (what) {
    case ROLLCALL_READ_COMMAND:
      return details.bytes("cmdline", "arguments", false, out);
    case ROLLCALL_READ_ENVIRONMENT:
      return details.bytes("environ", "environment", true, out);
    case ROLLCALL_READ_CWD:
      return details.directory(out);
    case ROLLCALL_READ_PARENT:
      return details.from_stat(false, out);
    case ROLLCALL_READ_NAME:
      return details.from_stat(true, out);
    case ROLLCALL_READ_USERS:
      return details.users(out);
    default:
      return {ROLLCALL_E_INVALID, "unknown reading " + std::to_string(what)};
  }
}

}  // namespace rollcall::linux_backend
