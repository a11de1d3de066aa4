// Families of processes for tests: what each of them is, they write down themselves.
#pragma once

#include <signal.h>
#include <unistd.h>

#include <algorithm>
#include <fstream>
#include <string>
#include <vector>

#include "support/process.hpp"

namespace rollcall::testing {

// A shell script as a process; its `$log` is a file of the test's own, in which each line "pid" (as
// `echo $$ >> $log` writes it) names a process. All that stands there is killed at the end.
class Family {
 public:
  // Returns once `lines` processes have said that they are there.
  Family(const std::string& script, std::size_t lines) {
    const std::string file = log();
    std::ofstream(file).close();
    root_ = Child::exec({"sh", "-c", "log=" + file + "\n" + script});
    wait_until([&] { return pids().size() >= lines; });
  }
  ~Family() {
    for (const pid_t pid : pids()) {
      if (alive(pid)) ::kill(pid, SIGKILL);
    }
  }
  Family(const Family&) = delete;
  Family& operator=(const Family&) = delete;

  [[nodiscard]] std::string log() const { return (dir_ / "pids").string(); }
  [[nodiscard]] pid_t root() const { return root_.pid(); }
  [[nodiscard]] Child& child() { return root_; }
  [[nodiscard]] std::vector<pid_t> pids() const {
    std::vector<pid_t> found;
    std::ifstream file(log());
    for (pid_t pid = 0; file >> pid;) found.push_back(pid);
    return found;
  }
  // Of those that wrote themselves down, and of the root.
  [[nodiscard]] std::size_t living() const {
    auto all = pids();
    all.push_back(root());
    std::sort(all.begin(), all.end());
    all.erase(std::unique(all.begin(), all.end()), all.end());
    return static_cast<std::size_t>(
        std::count_if(all.begin(), all.end(), [](pid_t pid) { return alive(pid); }));
  }
  // Neither gone nor a zombie.
  static bool alive(pid_t pid) {
    const char state = state_of(pid);
    return state != '\0' && state != 'Z' && state != 'X';
  }

 private:
  TempDir dir_;
  Child root_;
};

}  // namespace rollcall::testing
