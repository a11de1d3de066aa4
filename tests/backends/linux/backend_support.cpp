#include "backend_support.hpp"

#include <fcntl.h>
#include <sys/syscall.h>

#include <algorithm>
#include <cerrno>
#include <filesystem>

namespace rollcall::testing {
namespace {

using linux_backend::linux_system;
using linux_backend::System;

FakeSystem* active = nullptr;

// Counts the call; true: it is to be refused, and errno is set.
bool refused(const char* call) {
  const int count = ++active->counts[call];
  const auto nth = active->refuse_nth.find(call);
  if (nth != active->refuse_nth.end() && nth->second.first == count) {
    errno = nth->second.second;
    return true;
  }
  const auto it = active->refuse.find(call);
  if (it == active->refuse.end()) return false;
  errno = it->second;
  return true;
}

int fake_openat(int directory, const char* path, int flags) {
  active->opened.emplace_back(path);
  return refused("openat") ? -1 : linux_system().openat(directory, path, flags);
}
ssize_t fake_read(int fd, void* buffer, std::size_t size) {
  if (refused("read")) return -1;
  if (active->read_at_most != 0) size = std::min(size, active->read_at_most);
  const ssize_t got = linux_system().read(fd, buffer, size);
  if (active->after_stat) active->after_stat();
  return got;
}
int fake_close(int fd) {
  ++active->counts["close"];
  return linux_system().close(fd);
}
ssize_t fake_readlinkat(int directory, const char* path, char* buffer, std::size_t size) {
  return refused("readlinkat") ? -1 : linux_system().readlinkat(directory, path, buffer, size);
}
ssize_t fake_getdents64(int fd, void* buffer, std::size_t size) {
  return refused("getdents64") ? -1 : linux_system().getdents64(fd, buffer, size);
}
int fake_fstat(int fd, struct stat* out) {
  return refused("fstat") ? -1 : linux_system().fstat(fd, out);
}
int fake_fstatfs(int fd, struct statfs* out) {
  if (refused("fstatfs")) return -1;
  const int result = linux_system().fstatfs(fd, out);
  if (active->plain_pidfds) out->f_type = 0x09041934;  // ANON_INODE_FS_MAGIC
  return result;
}
int fake_poll(struct pollfd* fds, nfds_t count, int timeout_ms) {
  if (active->before_poll) active->before_poll();
  return refused("poll") ? -1 : linux_system().poll(fds, count, timeout_ms);
}
int fake_kill(pid_t pid, int signal) {
  if (signal != 0) std::abort();  // the backend never signals by number
  return refused("kill") ? -1 : linux_system().kill(pid, signal);
}
int fake_pidfd_open(pid_t pid, unsigned flags) {
  return refused("pidfd_open") ? -1 : linux_system().pidfd_open(pid, flags);
}
int fake_pidfd_send_signal(int pidfd, int signal) {
  if (active->before_send) active->before_send();
  if (refused("pidfd_send_signal")) return -1;
  ++active->sent_signals;
  return linux_system().pidfd_send_signal(pidfd, signal);
}
// The word to a guard (SIGURG) is none of the signals that a test refuses.
int fake_pidfd_queue_signal(int pidfd, int signal, int value) {
  if (signal != SIGURG) {
    if (active->before_send) active->before_send();
    if (refused("pidfd_send_signal")) return -1;
    ++active->sent_signals;
  }
  return linux_system().pidfd_queue_signal(pidfd, signal, value);
}
int fake_socket(int domain, int type, int protocol) {
  return refused("socket") ? -1 : linux_system().socket(domain, type, protocol);
}
int fake_clock_gettime(clockid_t clock, struct timespec* out) {
  return refused("clock_gettime") ? -1 : linux_system().clock_gettime(clock, out);
}
int fake_getsockopt(int fd, int level, int name, void* value, socklen_t* size) {
  return refused("getsockopt") ? -1 : linux_system().getsockopt(fd, level, name, value, size);
}

System fake_table() {
  System table = linux_system();
  table.openat = &fake_openat;
  table.read = &fake_read;
  table.close = &fake_close;
  table.readlinkat = &fake_readlinkat;
  table.getdents64 = &fake_getdents64;
  table.fstat = &fake_fstat;
  table.fstatfs = &fake_fstatfs;
  table.poll = &fake_poll;
  table.kill = &fake_kill;
  table.pidfd_open = &fake_pidfd_open;
  table.pidfd_send_signal = &fake_pidfd_send_signal;
  table.pidfd_queue_signal = &fake_pidfd_queue_signal;
  table.socket = &fake_socket;
  table.clock_gettime = &fake_clock_gettime;
  table.getsockopt = &fake_getsockopt;
  return table;
}

}  // namespace

plugin::Call bounded(std::chrono::milliseconds limit) {
  rollcall_call call = {};
  call.struct_size = sizeof call;
  call.deadline_ns =
      plugin::now_ns() + std::chrono::duration_cast<std::chrono::nanoseconds>(limit).count();
  return plugin::Call(&call);
}

rollcall_observation observe(linux_backend::Probe& probe, std::int64_t pid, std::uint32_t wants) {
  const rollcall_ask ask = {.pid = pid, .wants = wants, .reserved = 0};
  rollcall_observation seen = {};
  const rollcall_observe_batch batch = {.struct_size = sizeof batch,
                                        .ask_stride = sizeof ask,
                                        .observation_stride = sizeof seen,
                                        .reserved = 0,
                                        .count = 1,
                                        .asks = &ask,
                                        .observations = &seen};
  const auto status = probe.observe(plugin::ObserveBatch(batch), unbounded());
  if (!status.ok()) std::abort();
  return seen;
}

std::string token_of(const rollcall_observation& seen) {
  const bool read = (seen.flags & ROLLCALL_OBS_START_TOKEN) != 0;
  return read ? std::string(seen.start_token, seen.start_token_size) : std::string();
}

std::string reason_of(const rollcall_observation& seen) { return {seen.reason, seen.reason_size}; }

std::uint64_t exact_id_of(pid_t pid) {
  const int fd = static_cast<int>(::syscall(434, pid, 0));
  if (fd < 0) return 0;
  struct statfs filesystem = {};
  struct stat status = {};
  const bool pidfs = ::fstatfs(fd, &filesystem) == 0 && filesystem.f_type == 0x50494446;
  const std::uint64_t id = pidfs && ::fstat(fd, &status) == 0 ? status.st_ino : 0;
  ::close(fd);
  return id;
}

namespace {
linux_backend::Probe make_probe(const std::string& root, const System& system) {
  const rollcall_setting setting = {.key = plugin::str("proc_root"), .value = plugin::str(root)};
  return linux_backend::Probe(plugin::Settings(&setting, 1), system);
}
}  // namespace

ProbeAt::ProbeAt(const std::string& root, const System& system)
    : probe_(make_probe(root, system)) {}

std::string stat_line(std::int64_t pid, const StatLine& fields) {
  std::string line = std::to_string(pid) + " (" + fields.name + ") " + fields.state + " " +
                     std::to_string(fields.parent) + " 1 1 0 -1 4194304 99 0 0 0 0 0 0 0 20 0 " +
                     std::to_string(fields.threads) + " 0 " + fields.start +
                     " 5480448 224 18446744073709551615 1 1 0 0 0 0 0 0 0 0 0 0 " +
                     std::to_string(fields.exit_signal) + " 1 0 0 0 0 0 0 0 0 0 0 0 0 0";
  return line + "\n";
}

FakeProc::FakeProc() { std::filesystem::create_symlink(std::to_string(::getpid()), dir_ / "self"); }

FakeProc& FakeProc::stat(std::int64_t pid, std::string_view line) {
  dir_.write(std::to_string(pid) + "/stat", line);
  return *this;
}

FakeSystem::FakeSystem() : table_(fake_table()) { active = this; }
FakeSystem::~FakeSystem() { active = nullptr; }

void FakeSystem::reset_counts() {
  counts.clear();
  opened.clear();
}

int FakeSystem::total() const {
  int sum = 0;
  for (const auto& [call, count] : counts) sum += count;
  return sum;
}

}  // namespace rollcall::testing
