// Programs of the official A2A SDKs, run for a test.
#pragma once

#include <sys/types.h>

#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::test {

// Why the tests of this folder cannot run here, or nothing: Node 20 or newer and the packages of
// package-lock.json (install.sh) are wanted.
[[nodiscard]] std::optional<std::string> why_no_node();

// One node program, its output read line by line. Ends with the object.
class NodeProcess {
 public:
  // `script`: a file of this folder; `argument`: its JSON.
  NodeProcess(const std::string& script, const std::string& argument);
  ~NodeProcess();
  NodeProcess(const NodeProcess&) = delete;
  NodeProcess& operator=(const NodeProcess&) = delete;

  [[nodiscard]] pid_t pid() const { return child_.pid(); }
  void signal(int number) const { child_.signal(number); }
  // Kills and reaps it.
  void end();
  [[nodiscard]] std::vector<std::string> lines();
  // The first line that has `text`, within 30 s, or "".
  [[nodiscard]] std::string line_with(const std::string& text);

 private:
  void read_output();

  testing::TempDir folder_;  // the scripts, beside a link to node_modules
  int output_ = -1;
  testing::Child child_;
  std::mutex mutex_;
  std::vector<std::string> lines_;
  std::thread reader_;
};

}  // namespace rollcall::test
