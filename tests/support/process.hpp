// Children of a test: started, waited for with a deadline, and never left behind.
#pragma once

#include <grp.h>
#include <signal.h>
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
#include <thread>
#include <utility>
#include <vector>

#include "core/close_on_exec_posix.hpp"
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

// What the system says of a process, read apart from the code under test.

// When it started, as the platform's backend writes it; "" where there is no such process.
std::string start_token_of(pid_t pid);

// 'R' or 'S': it runs or sleeps; 'T': it is stopped; 'Z': it has exited and is not reaped; others
// as ps(1) has them. 0: there is no such process.
char state_of(pid_t pid);

// Whether it has exited, all its threads (a sanitizer's too), and is not reaped.
bool is_zombie(pid_t pid);

// The descriptors that this process holds; empty where the system does not say.
std::vector<int> descriptors();

// The files and folders that a process of ours has open.
std::vector<std::string> open_files_of(pid_t pid);

// From now on SIGKILL comes when the thread that forked the caller ends. Linux; elsewhere it does
// nothing, and a child of a test that was killed lives on.
void end_with_parent();

// Ends what a child that was killed had started as a Child, where the system did not end it.
void end_orphan(pid_t pid);

// Does nothing until a signal ends it.
inline int pause_for_ever() {
  for (;;) ::pause();
}

// One child process. The destructor kills and reaps it. On Linux a child also gets SIGKILL when the
// thread that started it ends, so start children from a thread that outlives them.
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
      end_with_parent();
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
    if (core::open_pipe(ready) != 0) fail("pipe");
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
inline std::size_t open_descriptors() { return descriptors().size(); }

// Gives up root, groups included, for good: in a child of a test. False: it was not allowed.
inline bool become_nobody() {
  constexpr gid_t kNobody = 65534;
  return ::setgroups(0, nullptr) == 0 && ::setgid(kNobody) == 0 && ::setuid(kNobody) == 0;
}

// Why a test is skipped where is_open_to_others() is false.
inline constexpr const char* kClosedBuild = "the build's folder is closed to others";

// Whether another user reaches the file or folder `path`: not where the build is below a closed
// folder, as a home often is. For tests that run as root.
inline bool is_open_to_others(const std::string& path) {
  Child nobody = Child::run(
      [&] { return become_nobody() && ::access(path.c_str(), R_OK | X_OK) == 0 ? 0 : 1; });
  return nobody.wait() == 0;
}

// A pid that no process held a moment ago: that of a child that was reaped.
inline pid_t free_pid() {
  Child child = Child::run([] { return 0; });
  const pid_t pid = child.pid();
  child.wait();
  return pid;
}

}  // namespace rollcall::testing
