// Runs the built regtool.exe on a home of the test's own. The cast of regtool_fixture.hpp.
#pragma once

#include <gtest/gtest.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <type_traits>
#include <vector>

#include "regtool/shown.hpp"
#include "support/process_windows.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::regtool {

using testing::Child;
using testing::wait_until;

// The exit code, whole.
struct Ran {
  std::uint32_t code = 0;
  std::string out;
  std::string err;
};

class RegtoolTest : public ::testing::Test {
 protected:
  RegtoolTest() {
    home_ = testing::utf8(dir_ / "home");
    set("ROLLCALL_HOME", home_);
    set("NO_COLOR", "1");
    for (const char* name : {"ROLLCALL_LOG", "ROLLCALL_SESSION_ID", "ROLLCALL_PLUGIN_PATH"}) {
      set(name, std::nullopt);
    }
  }
  ~RegtoolTest() override {
    // Detached sessions that a test left running, by their records.
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(dir_ / "home/running", error)) {
      const std::string id = testing::utf8(entry.path().stem());
      if (entry.path().extension() == ".json" && command_pid(id) > 0) (void)run({"kill", id});
    }
  }

  static std::string program() { return std::string(test::kBinDir) + "/regtool.exe"; }

  // Of this process, and so of what it starts.
  static void set(const std::string& name, const std::optional<std::string>& value) {
    const auto wide_name = core::widen(name);
    const auto wide_value = core::widen(value.value_or(""));
    ::SetEnvironmentVariableW(wide_name->c_str(), value ? wide_value->c_str() : nullptr);
  }

  // One direction of a pipe whose far end a child has.
  struct Pipe {
    core::Handle ours;
    core::Handle theirs;
    static Pipe to_child() { return make(false); }
    static Pipe from_child() { return make(true); }

   private:
    static Pipe make(bool we_read) {
      HANDLE reader = nullptr;
      HANDLE writer = nullptr;
      EXPECT_NE(::CreatePipe(&reader, &writer, nullptr, 0), 0);
      Pipe pipe;
      pipe.ours = core::Handle(we_read ? reader : writer);
      pipe.theirs = core::Handle(we_read ? writer : reader);
      return pipe;
    }
  };

  // A process that runs regtool; its standard streams are pipes.
  struct Started {
    Child child;
    core::Handle in;
    core::Handle out;
    core::Handle err;
  };

  // Who else may write to the build tree, and to what stands above it, is no matter of these tests.
  static Started start(const std::vector<std::string>& arguments,
                       const std::vector<HANDLE>& also = {}) {
    std::vector<std::string> words = {"regtool", "--trust-plugins"};
    words.insert(words.end(), arguments.begin(), arguments.end());
    Pipe in = Pipe::to_child();
    Pipe out = Pipe::from_child();
    Pipe err = Pipe::from_child();
    Started started;
    started.child =
        Child::exec(program(), words, {in.theirs.get(), out.theirs.get(), err.theirs.get()}, also);
    started.in = std::move(in.ours);
    started.out = std::move(out.ours);
    started.err = std::move(err.ours);
    return started;
  }

  // To its end, at most a minute; then it is killed and the test fails. Not to the end of its
  // pipes: what it left running may hold them (Wine's desktop, which the first look for windows
  // starts, has the error output of who looked).
  static Ran finish(Started started, const std::string& input = {}) {
    Ran ran;
    std::thread writer([&] {
      DWORD done = 0;
      if (!input.empty()) {
        ::WriteFile(started.in.get(), input.data(), static_cast<DWORD>(input.size()), &done,
                    nullptr);
      }
      started.in = core::Handle();
    });
    const auto take = [&] {
      const bool some = take_from(started.out.get(), ran.out);
      return take_from(started.err.get(), ran.err) || some;
    };
    std::optional<std::uint32_t> code;
    (void)wait_until(
        [&] {
          while (take()) {
          }
          return (code = started.child.wait(std::chrono::milliseconds(0))).has_value();
        },
        std::chrono::seconds(60));
    if (!code) {
      ADD_FAILURE() << "regtool did not end within a minute";
      started.child.kill();
      (void)started.child.wait();
    }
    writer.join();
    (void)take();
    ran.code = code.value_or(0xDEAD);
    // What --trust-plugins says each time, and no test is about.
    constexpr std::string_view kTrust =
        "regtool: warning: plugins are accepted whoever owns them and whoever may write to them\n";
    if (const auto where = ran.err.find(kTrust); where != std::string::npos) {
      ran.err.erase(where, kTrust.size());
    }
    return ran;
  }

  static Ran run(const std::vector<std::string>& arguments, const std::string& input = {}) {
    return finish(start(arguments), input);
  }

  // regtool run -- actor WORDS...
  static std::vector<std::string> acting(std::vector<std::string> options,
                                         const std::vector<std::string>& words) {
    options.insert(options.begin(), "run");
    options.insert(options.end(), {"--", Child::actor()});
    options.insert(options.end(), words.begin(), words.end());
    return options;
  }

  // One line (or what is there at the end of the file) of a running one.
  static std::string read_line(const core::Handle& pipe) {
    std::string line;
    char byte = 0;
    DWORD got = 0;
    while ((line.empty() || line.back() != '\n') &&
           ::ReadFile(pipe.get(), &byte, 1, &got, nullptr) != 0 && got == 1) {
      line += byte;
    }
    return line;
  }

  // Starts `run --session ID ... -- actor WORDS` and waits until it says its first line.
  Started session(const std::string& id, const std::vector<std::string>& words,
                  std::vector<std::string> options = {}) const {
    options.insert(options.end(), {"--session", id});
    Started started = start(acting(std::move(options), words));
    first_line_ = read_line(started.out);
    EXPECT_TRUE(has_record(id)) << id << ": " << first_line_;
    return started;
  }

  [[nodiscard]] std::filesystem::path record_path(const std::string& id) const {
    return dir_ / ("home/running/" + id + ".json");
  }
  [[nodiscard]] bool has_record(const std::string& id) const {
    return std::filesystem::exists(record_path(id));
  }

  // A true record of a process that runs, by `regtool register`.
  void put_record_of(const std::string& id, const Child& child) const {
    const Ran ran = run({"register", "--session", id, "--pid", std::to_string(child.pid())});
    EXPECT_EQ(ran.code, 0U) << ran.err;
  }
  // The same with other members: what a foreign writer would have left.
  void put_record(const std::string& id, const rapidjson::Document& record) const {
    rapidjson::StringBuffer bytes;
    rapidjson::Writer<rapidjson::StringBuffer> writer(bytes);
    record.Accept(writer);
    std::ofstream(record_path(id), std::ios::binary | std::ios::trunc) << bytes.GetString();
  }
  template <class Value>
  void alter_record(const std::string& id, const char* key, const Value& value) const {
    auto record = read_record(id);
    ASSERT_TRUE(record.HasMember(key)) << id << ": " << key;
    if constexpr (std::is_same_v<Value, std::string>) {
      record[key].SetString(value.c_str(), record.GetAllocator());
    } else {
      record[key].SetInt64(value);
    }
    put_record(id, record);
  }
  // As if the process that holds the pid had started at another time: the pid was reused.
  void forge_start(const std::string& id) const {
    const std::string token = string_at(read_record(id), "process_start");
    alter_record(id, "process_start", std::to_string(std::stoll(token) - 1));
  }

  [[nodiscard]] rapidjson::Document read_record(const std::string& id) const {
    const std::string bytes = testing::slurp(record_path(id));
    rapidjson::Document document;
    document.Parse(bytes.data(), bytes.size());
    if (document.HasParseError() || !document.IsObject()) document.SetObject();
    return document;
  }
  // What the record of a `run` says of its command.
  [[nodiscard]] std::int64_t command_pid(const std::string& id) const {
    return std::atoll(string_at(read_record(id), "metadata.command_pid").c_str());
  }

  testing::TempDir dir_;
  std::string home_;
  mutable std::string first_line_;

 private:
  // What is in the pipe now. False: nothing.
  static bool take_from(HANDLE pipe, std::string& into) {
    char block[65536];
    DWORD there = 0;
    DWORD got = 0;
    while (::PeekNamedPipe(pipe, nullptr, 0, nullptr, &there, nullptr) != 0 && there > 0 &&
           ::ReadFile(pipe, block, sizeof block, &got, nullptr) != 0 && got > 0) {
      into.append(block, got);
    }
    return got > 0;
  }
};

}  // namespace rollcall::regtool
