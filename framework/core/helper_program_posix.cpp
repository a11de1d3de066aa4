#include "core/helper_program.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <system_error>
#include <utility>

#include <fcntl.h>

#include "core/descriptor_posix.hpp"
#include "core/text.hpp"

extern char** environ;

namespace rollcall::core {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::size_t kShownBytes = 200;
constexpr int kLookEveryMs = 20;  // whether the process has ended, or the call was cancelled

std::string errno_text(int code) { return std::generic_category().message(code); }

struct Stream {
  Descriptor reader;
  std::string bytes;
};

Status open_pipe(Descriptor& reader, Descriptor& writer) {
  int ends[2] = {-1, -1};
  if (::pipe(ends) != 0) return fail(ErrorCode::kIo, "cannot make a pipe: " + errno_text(errno));
  reader = Descriptor(ends[0]);
  writer = Descriptor(ends[1]);
  // The process gets its copies by dup2, which drops this flag.
  for (const int end : ends) (void)::fcntl(end, F_SETFD, FD_CLOEXEC);
  (void)::fcntl(ends[0], F_SETFL, O_NONBLOCK);
  return {};
}

// Reads what is there; closes the reader at the end of the file. True: bytes were dropped.
bool drain(Stream& stream, std::size_t max_bytes) {
  bool cut = false;
  std::array<char, 16384> block{};
  while (stream.reader.valid()) {
    const ssize_t got = ::read(stream.reader.get(), block.data(), block.size());
    if (got < 0 && errno == EINTR) continue;
    if (got < 0 && errno == EAGAIN) break;
    if (got <= 0) {
      (void)stream.reader.close();
      break;
    }
    const std::size_t room = max_bytes - std::min(max_bytes, stream.bytes.size());
    const std::size_t kept = std::min(room, static_cast<std::size_t>(got));
    stream.bytes.append(block.data(), kept);
    cut = cut || kept < static_cast<std::size_t>(got);
  }
  return cut;
}

// A child of ours in a process group of its own; killed with it and reaped if left.
class Helper {
 public:
  explicit Helper(pid_t pid) : pid_(pid) {}
  Helper(const Helper&) = delete;
  Helper& operator=(const Helper&) = delete;
  ~Helper() {
    if (pid_ <= 0) return;
    ::kill(-pid_, SIGKILL);
    while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
    }
  }
  // Its wait status once it has ended.
  bool has_ended(int& status) {
    if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
    pid_ = -1;
    return true;
  }

 private:
  pid_t pid_;
};

Result<pid_t> start(const std::vector<std::string>& argv, const Descriptor& out,
                    const Descriptor& err) {
  std::vector<std::string> words = argv;
  std::vector<char*> pointers;
  for (std::string& word : words) pointers.push_back(word.data());
  pointers.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  posix_spawnattr_t attributes;
  posix_spawn_file_actions_init(&actions);
  posix_spawnattr_init(&attributes);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, out.get(), 1);
  posix_spawn_file_actions_adddup2(&actions, err.get(), 2);
  short flags = POSIX_SPAWN_SETPGROUP | POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF;
#if defined(__APPLE__)
  flags |= POSIX_SPAWN_CLOEXEC_DEFAULT;
#else
  posix_spawn_file_actions_addclosefrom_np(&actions, 3);
#endif
  sigset_t none;
  sigset_t all;
  sigemptyset(&none);
  sigfillset(&all);
  posix_spawnattr_setsigmask(&attributes, &none);
  posix_spawnattr_setsigdefault(&attributes, &all);
  posix_spawnattr_setpgroup(&attributes, 0);
  posix_spawnattr_setflags(&attributes, flags);
  pid_t pid = -1;
  const int code =
      ::posix_spawnp(&pid, pointers[0], &actions, &attributes, pointers.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  posix_spawnattr_destroy(&attributes);
  if (code == 0) return pid;
  return fail(code == ENOENT ? ErrorCode::kNotFound : ErrorCode::kIo,
              fmt::format("cannot run {}: {}", argv.front(), errno_text(code)), code);
}

std::string what_it_said(const std::string& err) {
  const auto first = err.find_first_not_of(" \t\r\n");
  if (first == std::string::npos) return {};
  const auto last = err.find_last_not_of(" \t\r\n");
  return ": " + text::for_terminal(err.substr(first, std::min(last - first + 1, kShownBytes)));
}

Status judge(const std::string& program, int status, const std::string& err) {
  if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return {};
  const std::string how = WIFEXITED(status)
                              ? fmt::format("failed with exit code {}", WEXITSTATUS(status))
                              : fmt::format("was ended by signal {}", WTERMSIG(status));
  return fail(ErrorCode::kIo, fmt::format("{} {}{}", program, how, what_it_said(err)));
}

}  // namespace

Result<HelperOutput> run_helper(const std::vector<std::string>& argv, const HelperLimits& limits,
                                const Clock& clock, const Call& call) {
  if (argv.empty() || argv.front().empty()) return fail(ErrorCode::kInvalid, "no program to run");
  for (const std::string& word : argv) {
    if (word.find('\0') != std::string::npos) {
      return fail(ErrorCode::kInvalid, "an argument of " + argv.front() + " holds a NUL byte");
    }
  }
  std::array<Stream, 2> streams;
  std::array<Descriptor, 2> writers;
  for (std::size_t i = 0; i < 2; ++i) {
    if (auto made = open_pipe(streams[i].reader, writers[i]); !made) {
      return tl::unexpected(made.error());
    }
  }
  const std::int64_t deadline =
      std::min(call.deadline_ns, clock.monotonic_ns() + limits.total_ms * kNsPerMs);
  const auto pid = start(argv, writers[0], writers[1]);
  if (!pid) return tl::unexpected(pid.error());
  Helper helper(*pid);
  for (Descriptor& writer : writers) (void)writer.close();
  HelperOutput output;
  for (int status = 0;;) {
    const bool ended = helper.has_ended(status);
    for (Stream& stream : streams) output.cut = drain(stream, limits.max_bytes) || output.cut;
    if (ended) {
      if (auto good = judge(argv.front(), status, streams[1].bytes); !good) {
        return tl::unexpected(good.error());
      }
      output.out = std::move(streams[0].bytes);
      output.err = std::move(streams[1].bytes);
      return output;
    }
    if (call.cancel.cancelled()) return fail(ErrorCode::kCancelled, argv.front() + " was given up");
    const std::int64_t left_ms = (deadline - clock.monotonic_ns()) / kNsPerMs;
    if (left_ms <= 0) {
      return fail(ErrorCode::kTimeout, fmt::format("{} did not end within {} ms and was killed",
                                                   argv.front(), limits.total_ms));
    }
    std::array<pollfd, 2> polled{
        {{streams[0].reader.valid() ? streams[0].reader.get() : -1, POLLIN, 0},
         {streams[1].reader.valid() ? streams[1].reader.get() : -1, POLLIN, 0}}};
    (void)::poll(polled.data(), polled.size(),
                 static_cast<int>(std::min<std::int64_t>(left_ms, kLookEveryMs)));
  }
}

}  // namespace rollcall::core
