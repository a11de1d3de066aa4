// Which system calls an act makes, by strace.
#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "regtool/regtool_fixture.hpp"

namespace rollcall::regtool {
namespace {

class SystemCalls : public RegtoolTest {
 protected:
  void SetUp() override {
    if (::access("/usr/bin/strace", X_OK) != 0) GTEST_SKIP() << "there is no strace";
    environment_["ASAN_OPTIONS"] += ":detect_leaks=0";  // it cannot look under a tracer
    if (trace({"--version"}).err.find("ptrace") != std::string::npos) {
      GTEST_SKIP() << "strace may not trace";
    }
  }

  // The lines of the trace stand in `seen_`.
  Ran trace(const std::vector<std::string>& words) {
    const std::string file = (dir_ / "trace").string();
    std::vector<std::string> all = {
        "-f", "-qq",
        "-e", "signal=none",
        "-o", file,
        "-e", "trace=execve,execveat,kill,tkill,tgkill,pidfd_send_signal,rt_sigqueueinfo"};
    all.push_back(program());
    all.insert(all.end(), words.begin(), words.end());
    program_ = "/usr/bin/strace";
    const Ran ran = run(all);
    program_ = program();
    seen_ = testing::slurp(file);
    return ran;
  }
  [[nodiscard]] int count(const std::string& call) const {
    int found = 0;
    for (std::size_t at = 0; (at = seen_.find(call + "(", at)) != std::string::npos; ++at) {
      found += at == 0 || seen_[at - 1] == ' ' ? 1 : 0;
    }
    return found;
  }

  std::string seen_;
};

TEST_F(SystemCalls, OfAStopAreOnePinnedSignalAndNoOtherProgram) {
  Child sleeper = Child::sleeper();
  put_record_of("web", sleeper.pid());
  const Ran ran = trace({"stop", "web"});
  if (count("pidfd_send_signal") == 0 && ran.code() == 4) GTEST_SKIP() << "there is no pidfd here";
  EXPECT_EQ(ran.code(), 0) << ran.err;
  EXPECT_EQ(count("pidfd_send_signal"), 1) << seen_;
  EXPECT_NE(seen_.find("SIGTERM"), std::string::npos) << seen_;
  for (const char* call : {"kill", "tkill", "tgkill", "rt_sigqueueinfo", "execveat"}) {
    EXPECT_EQ(count(call), 0) << call << "\n" << seen_;
  }
  EXPECT_EQ(count("execve"), 1) << seen_;  // strace's, of regtool
}

TEST_F(SystemCalls, OfAStopByAPidThatIsNoneAreNoSignal) {
  const std::string good = record("web", 4242, "1");
  for (const char* pid : {"0", "-1", "-2", "2147483648", "4294967295", "18446744073709551616",
                          "4242.0", "\"4242\"", "null", "1,\"pid\":4242"}) {
    std::string bytes = good;
    bytes.replace(bytes.find("4242"), 4, pid);
    put_record("web", bytes);
    for (const char* command : {"stop", "kill"}) {
      EXPECT_EQ(trace({command, "web"}).code(), 5) << pid;
      EXPECT_EQ(count("execve"), 1) << seen_;
      for (const char* call : {"kill", "tkill", "tgkill", "rt_sigqueueinfo", "pidfd_send_signal"}) {
        EXPECT_EQ(count(call), 0) << command << " " << pid << "\n" << seen_;
      }
    }
  }
}

}  // namespace
}  // namespace rollcall::regtool
