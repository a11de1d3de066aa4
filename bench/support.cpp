#include "bench/support.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "rollcall/record.hpp"

namespace bench {
namespace {

constexpr long kPidFsMagic = 0x50494446;

int open_pidfd(pid_t pid) { return static_cast<int>(::syscall(SYS_pidfd_open, pid, 0)); }

void check(bool ok, const char* what) {
  if (!ok) die(std::string(what) + ": " + std::strerror(errno));
}

}  // namespace

void die(const std::string& what) {
  std::fprintf(stderr, "bench: %s\n", what.c_str());
  std::exit(1);
}

bool has_pidfs() {
  const int fd = open_pidfd(::getpid());
  if (fd < 0) return false;
  struct statfs about {};
  const bool yes = ::fstatfs(fd, &about) == 0 && about.f_type == kPidFsMagic;
  ::close(fd);
  return yes;
}

std::size_t raise_descriptor_limit() {
  rlimit limit{};
  check(::getrlimit(RLIMIT_NOFILE, &limit) == 0, "getrlimit");
  limit.rlim_cur = limit.rlim_max;
  check(::setrlimit(RLIMIT_NOFILE, &limit) == 0, "setrlimit");
  return limit.rlim_cur;
}

Sleepers::Sleepers(std::size_t count) {
  pids_.reserve(count);
  for (std::size_t i = 0; i < count; ++i) {
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) die("fork failed after " + std::to_string(i) + " children");
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      if (::getppid() != parent) ::_exit(0);
      for (;;) ::pause();
    }
    pids_.push_back(pid);
  }
}

Sleepers::~Sleepers() {
  for (const pid_t pid : pids_) ::kill(pid, SIGKILL);
  for (const pid_t pid : pids_) ::waitpid(pid, nullptr, 0);
}

const std::vector<pid_t>& shared_pids(std::size_t count) {
  static const Sleepers sleepers(count);
  if (sleepers.pids().size() < count) die("main() asked for fewer processes than are needed");
  return sleepers.pids();
}

TempHome::TempHome() {
  const char* base = std::getenv("TMPDIR");
  path_ = std::string(base != nullptr ? base : "/tmp") + "/rollcall-bench.XXXXXX";
  check(::mkdtemp(path_.data()) != nullptr, "mkdtemp");
  check(::mkdir(running().c_str(), 0700) == 0, "mkdir");
}

TempHome::~TempHome() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

Stack open_stack(const std::string& home, const rollcall::DoorLimits& limits) {
  Stack stack;
  rollcall::Host::Options options;
  options.use_environment = false;
  options.use_builtin_dir = false;
  options.plugin_dirs = {ROLLCALL_BENCH_PLUGIN_DIR};
  stack.host = must(rollcall::Host::open(options));
  stack.probe = must(stack.host->platform_probe());
  rollcall::FileStore::Options store;
  store.home = home;
  store.clock = rollcall::system_clock();
  stack.files = must(rollcall::FileStore::open(store));
  rollcall::Registry::Options registry;
  registry.store = stack.files;
  registry.files = stack.files;
  registry.probe = stack.probe;
  registry.control = must(stack.host->platform_control());
  registry.doors = [host = stack.host.get()](std::string_view kind) {
    return host->door_prober(kind);
  };
  registry.clock = rollcall::system_clock();
  registry.limits = limits;
  stack.registry = must(rollcall::Registry::open(registry));
  return stack;
}

std::string session_id(std::size_t index) {
  std::array<char, 40> text{};
  std::snprintf(text.data(), text.size(), "ses_0197f0000000700080%014zx", index);
  return text.data();
}

rollcall::Record make_record(rollcall::Registry& registry, pid_t pid, std::size_t index) {
  rollcall::Record record;
  record.session_id = session_id(index);
  record.process = must(registry.identify(pid, {}));
  record.name = "bench";
  record.version = "1.0";
  record.workdir = "/var/lib/bench";
  record.started_at = "2026-01-01T00:00:00Z";
  record.metadata = {{"label.team", "infrastructure"}, {"label.shift", "night"}};
  return record;
}

void write_records(const TempHome& home, const std::vector<rollcall::Record>& records) {
  const auto before = ::umask(0077);
  for (const auto& record : records) {
    std::ofstream out(home.running() + "/" + record.session_id + ".json", std::ios::binary);
    out << must(rollcall::serialize_record(record));
    out.close();
    if (!out) die("cannot write a record below " + home.path());
  }
  ::umask(before);
}

std::size_t bare_stat(int proc, pid_t pid) {
  std::array<char, 32> name{};
  std::snprintf(name.data(), name.size(), "%d/stat", pid);
  const int fd = ::openat(proc, name.data(), O_RDONLY | O_CLOEXEC);
  check(fd >= 0, "openat stat");
  std::array<char, 1024> buffer;
  const auto size = ::read(fd, buffer.data(), buffer.size());
  check(size > 0, "read stat");
  ::close(fd);
  return static_cast<std::size_t>(size);
}

std::uint64_t bare_pidfd(pid_t pid) {
  const int fd = open_pidfd(pid);
  check(fd >= 0, "pidfd_open");
  struct stat about {};
  check(::fstat(fd, &about) == 0, "fstat");
  pollfd ready{.fd = fd, .events = POLLIN, .revents = 0};
  check(::poll(&ready, 1, 0) == 0, "poll");
  ::close(fd);
  return about.st_ino;
}

std::size_t bare_sweep(const std::string& running, const std::vector<pid_t>& pids, bool with_age) {
  static const bool pidfs = has_pidfs();
  const int directory = ::open(running.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check(directory >= 0, "open running");
  const int proc = ::open("/proc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  check(proc >= 0, "open /proc");
  DIR* names = ::fdopendir(directory);
  check(names != nullptr, "fdopendir");
  std::size_t seen = 0;
  std::array<char, 64 * 1024> buffer;
  while (const dirent* entry = ::readdir(names)) {
    if (std::string_view(entry->d_name).find(".json") == std::string_view::npos) continue;
    const int fd =
        ::openat(directory, entry->d_name, O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
    check(fd >= 0, "openat record");
    struct stat about {};
    check(::fstat(fd, &about) == 0, "fstat record");
    check(::read(fd, buffer.data(), buffer.size()) > 0, "read record");
    ::close(fd);
    const pid_t pid = pids.at(seen);
    if (pidfs) bare_pidfd(pid);
    if (with_age || !pidfs) bare_stat(proc, pid);
    ++seen;
  }
  ::closedir(names);
  ::close(proc);
  return seen;
}

}  // namespace bench
