// A registry through the C API, in a home of the test's own.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "rollcall/rollcall.h"
#include "support/paths.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::test {

struct Seen {
  std::string id;
  std::string name;
  std::string reason_code;
  std::string reason;
  std::optional<std::string> url;
  std::int64_t pid = 0;
  std::uint32_t verdict = 0;
};

inline std::int32_t collect(void* context, const rollcall_session* session) {
  Seen seen;
  seen.id = session->session_id;
  seen.name = session->name;
  seen.reason_code = session->reason_code;
  seen.reason = session->reason;
  if (session->url != nullptr) seen.url = session->url;
  seen.pid = session->pid;
  seen.verdict = session->verdict;
  static_cast<std::vector<Seen>*>(context)->push_back(seen);
  return ROLLCALL_OK;
}

inline rollcall_error fresh_error() {
  rollcall_error error{};
  error.struct_size = sizeof(error);
  return error;
}

inline rollcall_new_session session_named(const char* id) {
  rollcall_new_session session{};
  session.struct_size = sizeof(session);
  session.session_id = id;
  session.name = "capi";
  session.version = "1";
  session.workdir = "/";
  return session;
}

class CApi : public ::testing::Test {
 protected:
  void SetUp() override {
    home_ = temp_ / "home";
    rollcall_error error = fresh_error();
    registry_ = open(error);
#if defined(_WIN32)
    if (std::string(error.message).find("is writable by") != std::string::npos) {
      GTEST_SKIP() << "the build tree stands where others may write: " << error.message;
    }
#endif
    ASSERT_NE(registry_, nullptr) << error.message;
  }
  void TearDown() override { rollcall_close(registry_); }

  rollcall_registry* open() {
    rollcall_error error = fresh_error();
    return open(error);
  }
  rollcall_registry* open(rollcall_error& error) {
    rollcall_open_options options{};
    options.struct_size = sizeof(options);
    options.flags = ROLLCALL_OPEN_NO_ENVIRONMENT;
    const std::string home = home_.string();
    options.home = home.c_str();
    options.plugin_dir = kPluginDir;
    rollcall_registry* registry = nullptr;
    (void)rollcall_open(&options, &registry, &error);
    return registry;
  }

  std::vector<Seen> list() {
    std::vector<Seen> seen;
    auto error = fresh_error();
    EXPECT_EQ(rollcall_list(registry_, 0, collect, &seen, nullptr, &error), ROLLCALL_OK)
        << error.message;
    return seen;
  }

  rollcall_registration* enrol(const rollcall_new_session& session) {
    rollcall_registration* registration = nullptr;
    auto error = fresh_error();
    EXPECT_EQ(rollcall_register(registry_, &session, &registration, nullptr, &error), ROLLCALL_OK)
        << error.message;
    return registration;
  }

  testing::TempDir temp_;
  std::filesystem::path home_;
  rollcall_registry* registry_ = nullptr;
};

}  // namespace rollcall::test
