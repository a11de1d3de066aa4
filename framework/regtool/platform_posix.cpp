#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <pwd.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <system_error>
#include <utility>
#include <vector>

#include "core/trusted_environment_posix.hpp"
#include "regtool/platform.hpp"

namespace rollcall::regtool::platform {
namespace {

std::string errno_text(int code) { return std::generic_category().message(code); }

tl::unexpected<Error> io_failure(std::string_view what, int code) {
  const ErrorCode kind = code == ENOENT || code == ENOTDIR ? ErrorCode::kNotFound : ErrorCode::kIo;
  return fail(kind, fmt::format("{}: {}", what, errno_text(code)), code);
}

class Descriptor {
 public:
  explicit Descriptor(int fd) : fd_(fd) {}
  ~Descriptor() {
    if (fd_ >= 0) close(fd_);
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int get() const { return fd_; }

 private:
  int fd_;
};

Result<std::string> read_whole(int fd, const std::string& path, std::size_t most) {
  std::string bytes;
  std::vector<char> block(8192);
  for (;;) {
    const ssize_t got = read(fd, block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) return io_failure(fmt::format("cannot read {}", path), errno);
    if (got == 0) return bytes;
    bytes.append(block.data(), static_cast<std::size_t>(got));
    if (bytes.size() > most) {
      return fail(ErrorCode::kTooLarge, fmt::format("{} is larger than {} bytes", path, most));
    }
  }
}

std::string mode_text(mode_t mode) {
  return fmt::format("0{:o}", static_cast<unsigned>(mode & 07777U));
}

bool is_owner_trusted(uid_t owner) { return owner == 0 || owner == geteuid(); }

Status check_directory_of(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  const std::string directory = slash == 0 ? "/" : path.substr(0, slash);
  struct stat info {};
  if (stat(directory.c_str(), &info) != 0) {
    return io_failure(fmt::format("cannot look at {}", directory), errno);
  }
  if (!is_owner_trusted(info.st_uid)) {
    return fail(ErrorCode::kDenied, fmt::format("{} is not trusted: its folder {} belongs to uid "
                                                "{}",
                                                path, directory, info.st_uid));
  }
  if ((info.st_mode & 022U) != 0) {
    return fail(ErrorCode::kDenied,
                fmt::format("{} is not trusted: others can write its folder (mode {}); run: chmod "
                            "go-w {}",
                            path, mode_text(info.st_mode), directory));
  }
  return {};
}

Status check_file(int fd, const std::string& path) {
  struct stat info {};
  if (fstat(fd, &info) != 0) return io_failure(fmt::format("cannot look at {}", path), errno);
  if (!S_ISREG(info.st_mode)) {
    return fail(ErrorCode::kDenied, fmt::format("{} is not a regular file", path));
  }
  if (!is_owner_trusted(info.st_uid)) {
    return fail(ErrorCode::kDenied,
                fmt::format("{} is not trusted: it belongs to uid {}", path, info.st_uid));
  }
  if ((info.st_mode & 022U) != 0) {
    return fail(ErrorCode::kDenied,
                fmt::format("{} is not trusted: others can write it (mode {}); run: chmod go-w {}",
                            path, mode_text(info.st_mode), path));
  }
  return {};
}

Result<User> to_user(const passwd* entry, int code, const std::string& who) {
  if (entry == nullptr && code != 0 && code != ENOENT && code != ESRCH) {
    return fail(ErrorCode::kIo, fmt::format("cannot look up user {}: {}", who, errno_text(code)),
                code);
  }
  if (entry == nullptr) return fail(ErrorCode::kNotFound, fmt::format("no user {}", who));
  return User{entry->pw_name, entry->pw_uid, entry->pw_dir};
}

int descriptor_of(Stream stream) { return static_cast<int>(stream); }

void end_by_closed_pipe() {
  std::signal(SIGPIPE, SIG_DFL);
  sigset_t only{};
  sigemptyset(&only);
  sigaddset(&only, SIGPIPE);
  sigprocmask(SIG_UNBLOCK, &only, nullptr);
  raise(SIGPIPE);
}

std::uint64_t ignored_signals() {
  std::uint64_t set = 0;
  for (int signal = 1; signal < NSIG && signal <= 64; ++signal) {
    struct sigaction action {};
    if (sigaction(signal, nullptr, &action) == 0 && action.sa_handler == SIG_IGN) {
      set |= std::uint64_t{1} << (signal - 1);
    }
  }
  return set;
}

}  // namespace

InheritedLimits prepare_process() {
  for (int fd = 0; fd <= 2; ++fd) {
    if (fcntl(fd, F_GETFD) < 0 && errno == EBADF) {
      // Takes the lowest free number, which is `fd`. Without it a record could become our output.
      // It stays one that cannot be written to: what nobody gets is not said to have been told.
      if (open("/dev/null", O_RDONLY) < 0) _exit(5);
    }
  }
  InheritedLimits inherited;
  rlimit files{};
  rlimit core{};
  if (getrlimit(RLIMIT_NOFILE, &files) == 0 && getrlimit(RLIMIT_CORE, &core) == 0) {
    inherited = {files.rlim_cur, files.rlim_max, core.rlim_cur, core.rlim_max, true, 0};
    const rlimit raised{files.rlim_max, files.rlim_max};
    const rlimit no_core{0, core.rlim_max};
    (void)setrlimit(RLIMIT_NOFILE, &raised);
    (void)setrlimit(RLIMIT_CORE, &no_core);
  }
  inherited.ignored_signals = ignored_signals();
  std::signal(SIGPIPE, SIG_IGN);
  std::signal(SIGXFSZ, SIG_IGN);
  return inherited;
}

Result<std::vector<std::string>> arguments(int argc, char** argv) {
  return std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc);
}

std::optional<std::string> environment(const char* name) {
  const char* value = core::trusted_environment(name);
  if (value == nullptr) return std::nullopt;
  return std::string(value);
}

std::uint64_t effective_uid() { return geteuid(); }

Status may_read_other_homes() {
  if (geteuid() == 0) return {};
  return fail(ErrorCode::kRefused,
              "--user is for the superuser: other users' homes are closed to you");
}

Result<User> user_by_name(const std::string& name) {
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  const int code = getpwnam_r(name.c_str(), &entry, buffer.data(), buffer.size(), &found);
  return to_user(found, code, name);
}

Result<std::string> home_directory() {
  const auto variable = environment("HOME");
  if (variable && !variable->empty() && variable->front() == '/') return *variable;
  std::vector<char> buffer(16384);
  passwd entry{};
  passwd* found = nullptr;
  const int code = getpwuid_r(geteuid(), &entry, buffer.data(), buffer.size(), &found);
  const auto user = to_user(found, code, std::to_string(geteuid()));
  if (!user) return tl::unexpected(user.error());
  return user->home;
}

bool is_terminal(Stream stream) { return isatty(descriptor_of(stream)) == 1; }

bool takes_escapes(Stream stream) {
  const auto terminal = environment("TERM");
  return terminal && !terminal->empty() && *terminal != "dumb" && is_terminal(stream);
}

bool is_utf8_locale() {
  for (const char* name : {"LC_ALL", "LC_CTYPE", "LANG"}) {
    const char* value = std::getenv(name);
    if (value == nullptr || *value == '\0') continue;
    return strcasestr(value, "utf-8") != nullptr || strcasestr(value, "utf8") != nullptr;
  }
  return false;
}

Status write_all(Stream stream, std::string_view bytes) {
  const int fd = descriptor_of(stream);
  while (!bytes.empty()) {
    const ssize_t put = write(fd, bytes.data(), bytes.size());
    if (put < 0 && errno == EINTR) continue;
    if (put < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
      pollfd polled{fd, POLLOUT, 0};
      (void)poll(&polled, 1, -1);
      continue;
    }
    if (put < 0 && errno == EPIPE) end_by_closed_pipe();
    if (put < 0) {
      const int code = errno;
      return fail(ErrorCode::kIo, fmt::format("cannot write the output: {}", errno_text(code)),
                  code);
    }
    bytes.remove_prefix(static_cast<std::size_t>(put));
  }
  return {};
}

Result<std::string> read_trusted_file(const std::string& path, std::size_t most) {
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (file.get() < 0) {
    const int code = errno;
    if (code == ELOOP) {
      return fail(ErrorCode::kDenied, fmt::format("{} is not trusted: it is a symlink", path));
    }
    return io_failure(fmt::format("cannot open {}", path), code);
  }
  if (auto safe = check_file(file.get(), path); !safe) return tl::unexpected(safe.error());
  if (auto safe = check_directory_of(path); !safe) return tl::unexpected(safe.error());
  return read_whole(file.get(), path, most);
}

Result<std::string> read_small_file(const std::string& path, std::size_t most) {
  if (path == "-") return read_whole(STDIN_FILENO, "standard input", most);
  const Descriptor file(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY));
  if (file.get() < 0) return io_failure(fmt::format("cannot open {}", path), errno);
  return read_whole(file.get(), path, most);
}

Result<std::string> current_directory() {
  std::vector<char> buffer(4096);
  while (getcwd(buffer.data(), buffer.size()) == nullptr) {
    if (errno != ERANGE) return io_failure("cannot read the working directory", errno);
    buffer.resize(buffer.size() * 2);
  }
  return std::string(buffer.data());
}

std::string absolute_path(const std::string& path) {
  if (path.empty() || path.front() == '/') return path;
  const auto here = current_directory();
  return here ? *here + "/" + path : path;
}

std::string base_name(const std::string& path) {
  const std::size_t slash = path.find_last_of('/');
  return slash == std::string::npos || slash + 1 == path.size() ? path : path.substr(slash + 1);
}

std::int64_t current_pid() { return getpid(); }

std::string system_config_path() { return "/etc/rollcall/config.json"; }

}  // namespace rollcall::regtool::platform
