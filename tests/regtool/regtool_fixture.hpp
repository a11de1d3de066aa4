// Runs the built regtool on a home of the test's own.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/stat.h>

#include <array>
#include <chrono>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "regtool/shown.hpp"
#include "support/paths.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::regtool {

using testing::Child;
using testing::wait_until;

struct Ran {
  int status = -1;  // as waitpid(2) gives it
  std::string out;
  std::string err;
  // The exit code, or -N where signal N ended it.
  [[nodiscard]] int code() const {
    return WIFEXITED(status) ? WEXITSTATUS(status) : -WTERMSIG(status);
  }
};

class RegtoolTest : public ::testing::Test {
 protected:
  RegtoolTest() {
    home_ = (dir_ / "home").string();
    environment_["ROLLCALL_HOME"] = home_;
    environment_["HOME"] = dir_.path().string();
    // Not ours: a folder there that we may not search would make a missing command "not runnable".
    environment_["PATH"] = "/usr/local/bin:/usr/bin:/bin";
    environment_["LANG"] = "C.UTF-8";
    environment_["TERM"] = "dumb";
    for (const char* name : {"ASAN_OPTIONS", "TSAN_OPTIONS", "UBSAN_OPTIONS", "LSAN_OPTIONS"}) {
      if (const char* value = std::getenv(name)) environment_[name] = value;
    }
  }
  ~RegtoolTest() override {
    // Detached sessions that a test left running, by their records; never a process that a test
    // recorded itself, which may be this one.
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(home_ + "/running", error)) {
      const std::string id = entry.path().stem().string();
      if (entry.path().extension() == ".json" && command_pid(id) > 0) (void)run({"kill", id});
    }
  }

  static std::string program() { return std::string(test::kBinDir) + "/regtool"; }
  std::string program_ = program();  // what start() runs

  // A process that runs regtool; its standard streams are pipes or, where given, descriptors.
  struct Started {
    Child child;
    int in = -1;
    int out = -1;
    int err = -1;
    Started() = default;
    Started(Started&& other) noexcept
        : child(std::move(other.child)),
          in(std::exchange(other.in, -1)),
          out(std::exchange(other.out, -1)),
          err(std::exchange(other.err, -1)) {}
    ~Started() {
      for (const int fd : {in, out, err}) {
        if (fd >= 0) ::close(fd);
      }
    }
  };

  Started start(const std::vector<std::string>& arguments, int stdout_fd = -1) const {
    std::array<int, 2> in{};
    std::array<int, 2> out{-1, -1};
    std::array<int, 2> err{};
    EXPECT_EQ(::pipe2(in.data(), O_CLOEXEC), 0);
    if (stdout_fd < 0) {
      EXPECT_EQ(::pipe2(out.data(), O_CLOEXEC), 0);
    }
    EXPECT_EQ(::pipe2(err.data(), O_CLOEXEC), 0);
    std::vector<std::string> words = {program_};
    words.insert(words.end(), arguments.begin(), arguments.end());
    std::vector<std::string> variables;
    for (const auto& [name, value] : environment_) variables.push_back(name + "=" + value);
    std::vector<char*> argv;
    for (std::string& word : words) argv.push_back(word.data());
    argv.push_back(nullptr);
    std::vector<char*> envp;
    for (std::string& variable : variables) envp.push_back(variable.data());
    envp.push_back(nullptr);
    Started started;
    started.child = Child::run([&] {
      ::dup2(in[0], 0);
      ::dup2(stdout_fd >= 0 ? stdout_fd : out[1], 1);
      ::dup2(err[1], 2);
      if (!directory_.empty() && ::chdir(directory_.c_str()) != 0) return 98;
      ::execve(argv[0], argv.data(), envp.data());
      return 99;
    });
    ::close(in[0]);
    if (stdout_fd < 0) ::close(out[1]);
    ::close(err[1]);
    started.in = in[1];
    started.out = out[0];
    started.err = err[0];
    return started;
  }

  // To its end, at most a minute; then it is killed and the test fails.
  static Ran finish(Started started, const std::string& input = {}) {
    Ran ran;
    if (!input.empty()) {
      EXPECT_EQ(::write(started.in, input.data(), input.size()),
                static_cast<ssize_t>(input.size()));
    }
    ::close(std::exchange(started.in, -1));
    const auto end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
    while (started.out >= 0 || started.err >= 0) {
      std::array<pollfd, 2> polled{{{started.out, POLLIN, 0}, {started.err, POLLIN, 0}}};
      const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(
          end - std::chrono::steady_clock::now());
      if (left.count() <= 0 || ::poll(polled.data(), 2, static_cast<int>(left.count())) <= 0) {
        ADD_FAILURE() << "regtool did not end within a minute";
        return ran;
      }
      drain(polled[0], started.out, ran.out);
      drain(polled[1], started.err, ran.err);
    }
    const auto status = started.child.wait(std::chrono::seconds(60));
    EXPECT_TRUE(status) << "regtool closed its output and did not end";
    ran.status = status.value_or(SIGKILL);
    return ran;
  }

  Ran run(const std::vector<std::string>& arguments, const std::string& input = {}) const {
    return finish(start(arguments), input);
  }

  // One line (or what is there at the end of the file) of a running one.
  static std::string read_line(int fd) {
    std::string line;
    for (char byte = 0; line.empty() || line.back() != '\n';) {
      pollfd polled{fd, POLLIN, 0};
      if (::poll(&polled, 1, 30'000) <= 0 || ::read(fd, &byte, 1) != 1) break;
      line += byte;
    }
    return line;
  }

  // Starts `run --session ID ... -- COMMAND` and waits until its record stands.
  Started session(const std::string& id, std::vector<std::string> command,
                  std::vector<std::string> options = {}) const {
    std::vector<std::string> words = {"run", "--session", id};
    words.insert(words.end(), options.begin(), options.end());
    words.emplace_back("--");
    words.insert(words.end(), command.begin(), command.end());
    Started started = start(words);
    EXPECT_TRUE(wait_until([&] { return has_record(id); })) << id;
    return started;
  }

  [[nodiscard]] std::string record_path(const std::string& id) const {
    return home_ + "/running/" + id + ".json";
  }
  [[nodiscard]] bool has_record(const std::string& id) const {
    return ::access(record_path(id).c_str(), F_OK) == 0;
  }

  // Puts bytes where a record stands.
  void put_record(const std::string& id, const std::string& bytes) const {
    std::filesystem::create_directories(home_ + "/running");
    ::chmod(home_.c_str(), 0700);
    ::chmod((home_ + "/running").c_str(), 0700);
    std::ofstream(record_path(id), std::ios::binary) << bytes;
    ::chmod(record_path(id).c_str(), 0600);
  }
  static std::string boot_id() {
    std::string id = testing::slurp("/proc/sys/kernel/random/boot_id");
    while (!id.empty() && id.back() == '\n') id.pop_back();
    return id;
  }
  // A record of a process, as an older writer would leave it: no exact id, no host.
  static std::string record(const std::string& id, std::int64_t pid, const std::string& token,
                            const std::string& more = {}, const std::string& url = "null") {
    return "{\"session_id\":\"" + id + "\",\"url\":" + url + ",\"pid\":" + std::to_string(pid) +
           ",\"process_start\":\"" + token +
           "\",\"name\":\"n\",\"version\":\"1\",\"workdir\":\"/\",\"outlives_launcher\":false," +
           "\"started_at\":\"2026-01-01T00:00:00Z\",\"boot_id\":\"" + boot_id() + "\"" + more +
           "}\n";
  }
  void put_record_of(const std::string& id, pid_t pid, const std::string& more = {},
                     const std::string& url = "null") const {
    put_record(id, record(id, pid, testing::start_token_of(pid), more, url));
  }

  // What the record of a `run` says of its command.
  [[nodiscard]] pid_t command_pid(const std::string& id) const {
    const std::string bytes = testing::slurp(record_path(id));
    rapidjson::Document document;
    document.Parse(bytes.data(), bytes.size());
    if (document.HasParseError()) return -1;
    return static_cast<pid_t>(std::atoi(string_at(document, "metadata.command_pid").c_str()));
  }

  testing::TempDir dir_;
  std::string home_;
  std::string directory_;  // where regtool is started; empty: here
  std::map<std::string, std::string> environment_;

 private:
  static void drain(const pollfd& polled, int& fd, std::string& into) {
    if (fd < 0 || polled.revents == 0) return;
    std::array<char, 65536> block{};
    const ssize_t got = ::read(fd, block.data(), block.size());
    if (got > 0) {
      into.append(block.data(), static_cast<std::size_t>(got));
    } else {
      ::close(std::exchange(fd, -1));
    }
  }
};

}  // namespace rollcall::regtool
