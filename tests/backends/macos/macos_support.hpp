// What the tests of the macOS backend share: asking it over the fake kernel.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "backends/macos/control.hpp"
#include "backends/macos/probe.hpp"
#include "fake_mac.hpp"
#include "rollcall/plugin.h"

namespace rollcall::testing {

inline constexpr std::uint32_t kToken = ROLLCALL_WANT_START_TOKEN;

// The backend's two tables, by way of the ABI: its source, or the dylib's machine code.
struct Backend {
  const rollcall_process_probe* probe = nullptr;
  void* probe_self = nullptr;
  const rollcall_process_control* control = nullptr;
  void* control_self = nullptr;
  const rollcall_watch* watch = nullptr;  // an instance is made by who needs one
};

// Which build of the backend is asked.
enum class Build : std::uint8_t {
  kSource,  // its source, compiled for Linux
  kDylib,   // the machine code of its x86-64 dylib
};

// The backend over this kernel. Its clock is the kernel's. Without a dylib the test is skipped, and
// the reason says what to build.
class MacTest : public ::testing::TestWithParam<Build> {
 protected:
  MacTest();
  void SetUp() override;

  FakeMac mac;
  Backend backend;

 private:
  std::string skip_;
};

// Where the cross build leaves the dylib; ROLLCALL_MACOS_DYLIB names another.
std::string dylib_path();

// Every test of a suite runs on both builds.
#define ROLLCALL_BOTH_BUILDS(suite)                                                     \
  INSTANTIATE_TEST_SUITE_P(Source, suite, ::testing::Values(Build::kSource),            \
                           [](const auto&) { return std::string("OnTheFakeKernel"); }); \
  INSTANTIATE_TEST_SUITE_P(Dylib, suite, ::testing::Values(Build::kDylib),              \
                           [](const auto&) { return std::string("OnTheFakeKernel"); })

// No bounds, bounds of `ms` from the fake's now, and bounds that are cancelled.
rollcall_call unbounded();
rollcall_call bounded(const FakeMac& mac, std::int64_t ms);
rollcall_call cancelled();

rollcall_observation observe(const Backend& backend, std::int64_t pid,
                             std::uint32_t wants = kToken);
std::string token_of(const rollcall_observation& seen);
std::string reason_of(const rollcall_observation& seen);

rollcall_whoami whoami(const Backend& backend);

// What a slot came to, with what it gave.
struct Answer {
  std::int32_t code = 0;
  std::string bytes;
  std::string message;
};
Answer read(const Backend& backend, std::int64_t pid, std::uint32_t what);

// "pid/parent" of every process, ascending; empty where `code` is not OK.
struct Listing {
  std::int32_t code = 0;
  std::vector<std::string> rows;
};
Listing list(const Backend& backend);

using JudgeFunction = std::function<std::uint32_t(const rollcall_observation&)>;

// A judge that goes by the start token.
JudgeFunction expects(const std::string& token);

struct Signalled {
  std::int32_t code = 0;
  std::uint32_t outcome = 0;
  std::int64_t os_code = 0;
  std::string reason;
};
Signalled signal(const Backend& backend, std::int64_t pid, std::uint32_t number,
                 const JudgeFunction& judge);

struct Awaited {
  std::int32_t code = 0;
  std::uint32_t outcome = 0;
  std::uint32_t flags = 0;
  std::string reason;
};
Awaited await_exit(const Backend& backend, std::int64_t pid, const JudgeFunction& judge,
                   const rollcall_call& call);

// The answer for one socket that should be `pid`'s.
rollcall_socket_answer owner(const Backend& backend, int socket, std::int64_t pid,
                             std::int64_t owner_uid = FakeMac::kOwnUid);
std::string reason_of(const rollcall_socket_answer& answer);
std::string peer_of(const rollcall_socket_answer& answer);

}  // namespace rollcall::testing
