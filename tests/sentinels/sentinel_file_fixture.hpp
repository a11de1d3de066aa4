// A sentinel file, and real processes for it to name.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>

#include "liveness/machine.hpp"
#include "registry/store_fixture.hpp"
#include "rollcall/sentinel.hpp"
#include "support/child.hpp"
#include "support/rig.hpp"

namespace rollcall::testing {

namespace fs = std::filesystem;

class SentinelFile : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(rig.problem, "");
    self = identify_self(*rig.probe, {}).value();
  }

  [[nodiscard]] ProcessIdentity identity_of(std::int64_t pid) const {
    return identify_process(*rig.probe, pid, {}).value();
  }
  [[nodiscard]] Status write(std::int64_t pid,
                             SentinelReplace how = SentinelReplace::kIfDead) const {
    return write_sentinel(file, identity_of(pid), how, *rig.probe, {});
  }
  [[nodiscard]] SentinelReport check() const { return check_sentinel(file, *rig.probe, {}); }
  void put(std::string_view bytes) const { dir.write("web.pid", bytes); }

  test::Rig rig;
  TempDir dir;
  std::string file = utf8(dir / "web.pid");
  ProcessIdentity self;  // of this test
};

}  // namespace rollcall::testing
