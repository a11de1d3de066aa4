// Children of a test: started, waited for with a deadline, and never left behind.
#pragma once

#include <fcntl.h>
#include <grp.h>
#include <signal.h>
#include <sys/prctl.h>
#include <sys/types.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "support/temp_dir.hpp"

namespace rollcall::testing {

using namespace std::chrono_literals;

// Asks `condition` every 2 ms until it holds. False: it did not within `limit`.
inline bool wait_until(const std::function<bool()>& condition,
                       std::chrono::milliseconds limit = 20s) {
  const auto end = std::chrono::steady_clock::now() + limit;
  while (!condition()) {
    if (std::chrono::steady_clock::now() >= end) return false;
    std::this_thread::sleep_for(2ms);
  }
  return true;
}

// What /proc/PID/stat holds behind the command name, split on blanks; [0] is field 3, the state.
// Read apart from the code under test. Empty where there is no such process.
inline std::vector<std::string> stat_fields(pid_t pid) {
  const std::string line = slurp("/proc/" + std::to_string(pid) + "/stat");
  std::vector<std::string> fields;
  const auto paren = line.rfind(')');
  if (paren == std::string::npos) return fields;
  std::string field;
  for (const char c : std::string_view(line).substr(paren + 1)) {
    if (c == ' ' || c == '\n') {
      if (!field.empty()) fields.push_back(std::exchange(field, {}));
    } else {
      field += c;
    }
  }
  return fields;
}

// Field 22, or "".
inline std::string start_token_of(pid_t pid) {
  const auto fields = stat_fields(pid);
  return fields.size() > 19 ? fields[19] : std::string();
}

// Field 3, or 0.
inline char state_of(pid_t pid) {
  const auto fields = stat_fields(pid);
  return fields.empty() ? '\0' : fields[0][0];
}

// Whether it has exited, all its threads (a sanitizer's too), and is not reaped. (Fields 3 and 20.)
inline bool is_zombie(pid_t pid) {
  const auto fields = stat_fields(pid);
  return fields.size() > 17 && fields[0] == "Z" && std::stoi(fields[17]) <= 1;
}

// One child process. The destructor kills and reaps it. A child also gets SIGKILL when the thread
// that started it ends, so start children from a thread that outlives them.
class Child {
 public:
  Child() = default;
  explicit Child(pid_t pid) : pid_(pid) {}  // takes a child of ours over
  Child(Child&& other) noexcept
      : pid_(std::exchange(other.pid_, -1)), status_(std::exchange(other.status_, std::nullopt)) {}
  Child& operator=(Child&& other) noexcept {
    if (this != &other) {
      end();
      pid_ = std::exchange(other.pid_, -1);
      status_ = std::exchange(other.status_, std::nullopt);
    }
    return *this;
  }
  ~Child() { end(); }

  // Runs `body` in a fork and exits with what it returns. `body` sees a copy of our memory.
  static Child run(const std::function<int()>& body) {
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid == 0) {
      ::prctl(PR_SET_PDEATHSIG, SIGKILL);
      // It may have been killed before that was set. 0: it is outside of our pid namespace.
      const pid_t now = ::getppid();
      if (now != parent && now != 0) ::_exit(1);
      ::_exit(body());
    }
    if (pid < 0) fail("fork");
    return Child(pid);
  }

  // Executes a program (looked up in PATH); returns once it was executed.
  static Child exec(const std::vector<std::string>& argv) {
    int ready[2];
    if (::pipe2(ready, O_CLOEXEC) != 0) fail("pipe2");
    std::vector<char*> arguments;
    for (const auto& argument : argv) arguments.push_back(const_cast<char*>(argument.c_str()));
    arguments.push_back(nullptr);
    Child child = run([&] {
      ::execvp(arguments[0], arguments.data());
      return 127;
    });
    ::close(ready[1]);
    char byte = 0;
    while (::read(ready[0], &byte, 1) < 0 && errno == EINTR) {
    }
    ::close(ready[0]);
    return child;
  }

  // A process that does nothing until it is signalled.
  static Child sleeper() { return exec({"sleep", "600"}); }

  // A process that has exited and is not reaped.
  static Child zombie() {
    Child child = run([] { return 0; });
    wait_until([&] { return is_zombie(child.pid()); });
    return child;
  }

  [[nodiscard]] pid_t pid() const { return pid_; }
  void signal(int number) const {
    if (pid_ > 0) ::kill(pid_, number);
  }

  void kill() const { signal(SIGKILL); }
  // Read apart from the code under test.
  [[nodiscard]] std::string start_token() const { return start_token_of(pid_); }

  // Reaps the child. The wait status as waitpid(2) gives it; nullopt: still there at the limit.
  std::optional<int> wait(std::chrono::milliseconds limit = 20s) {
    if (status_ || pid_ <= 0) return status_;
    wait_until(
        [&] {
          int status = 0;
          if (::waitpid(pid_, &status, WNOHANG) != pid_) return false;
          status_ = status;
          return true;
        },
        limit);
    return status_;
  }

  // Whether it has neither exited nor been killed. Reaps it if it has.
  bool alive() { return !wait(0ms).has_value(); }

 private:
  [[noreturn]] static void fail(const char* what) {
    std::perror(what);
    std::abort();
  }
  void end() {
    if (pid_ > 0 && !status_) {
      ::kill(pid_, SIGKILL);
      while (::waitpid(pid_, nullptr, 0) < 0 && errno == EINTR) {
      }
    }
    pid_ = -1;
  }

  pid_t pid_ = -1;
  std::optional<int> status_;
};

// How many descriptors this process holds.
inline std::size_t open_descriptors() {
  std::size_t count = 0;
  std::error_code error;
  for (std::filesystem::directory_iterator it("/proc/self/fd", error), end; it != end; ++it) {
    ++count;
  }
  return count;
}

// Gives up root, groups included, for good: in a child of a test. False: it was not allowed.
inline bool become_nobody() {
  constexpr gid_t kNobody = 65534;
  return ::setgroups(0, nullptr) == 0 && ::setresgid(kNobody, kNobody, kNobody) == 0 &&
         ::setresuid(kNobody, kNobody, kNobody) == 0;
}

// A pid that no process held a moment ago: that of a child that was reaped.
inline pid_t free_pid() {
  Child child = Child::run([] { return 0; });
  const pid_t pid = child.pid();
  child.wait();
  return pid;
}

}  // namespace rollcall::testing
