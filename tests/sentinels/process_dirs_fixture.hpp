// Folders of processes, some of which run.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "liveness/machine.hpp"
#include "registry/store_fixture.hpp"
#include "rollcall/process_dirs.hpp"
#include "support/child.hpp"
#include "support/rig.hpp"

namespace rollcall::testing {

namespace fs = std::filesystem;

class ProcessDirs : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(rig.problem, "");
    here = identify_self(*rig.probe, {}).value();
  }
  std::string make(const std::string& name) const {
    dir.write("work/" + name + "/inner/file", "x");
    return name;
  }
  [[nodiscard]] DirSweep sweep(bool dry_run = false) const {
    return sweep_process_dirs(work, {.dry_run = dry_run}, *rig.probe, {}).value();
  }
  static std::vector<std::string> names(const std::vector<SweptDir>& dirs) {
    std::vector<std::string> all;
    for (const auto& entry : dirs) all.push_back(entry.name);
    return all;
  }
  [[nodiscard]] bool has(const std::string& name) const { return fs::exists(work + "/" + name); }
  // As on a file system that other hosts see: nothing can be proven gone.
  [[nodiscard]] bool is_shared() const { return rig.files->home_kind() != HomeKind::kLocal; }

  test::Rig rig;
  TempDir dir;
  std::string work = utf8(dir / "work");
  ProcessIdentity here;
};

}  // namespace rollcall::testing
