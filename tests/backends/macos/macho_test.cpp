// The loader refuses what it cannot load, and the dylib is what it should be.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <set>
#include <stdexcept>
#include <string>
#include <vector>

#include "macho_image.hpp"
#include "macos_imports.hpp"
#include "macos_support.hpp"
#include "support/paths.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::testing {
namespace {

// Why loading these bytes fails; empty: it does not.
std::string refusal(const std::string& bytes, MachoImage::Resolver resolver = &import_for_macos) {
  const TempDir folder;
  folder.write("x.dylib", bytes);
  try {
    const MachoImage image((folder.path() / "x.dylib").string(), resolver);
    return {};
  } catch (const std::runtime_error& error) {
    return error.what();
  }
}

TEST(Macho, AFileOfAnotherKindIsRefused) {
  EXPECT_NE(refusal(""), "");
  EXPECT_NE(refusal("\x7F"
                    "ELF and so on, and so on"),
            "");
  EXPECT_NE(refusal(std::string("\xCF\xFA\xED\xFE\x0C\x00\x00\x01", 8) + std::string(100, '\0')),
            "");  // arm64
}

class Dylib : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!std::filesystem::exists(dylib_path())) {
      GTEST_SKIP() << dylib_path() << " is not built (preset macos-x86_64)";
    }
    std::ifstream in(dylib_path(), std::ios::binary);
    bytes.assign(std::istreambuf_iterator<char>(in), {});
  }
  std::string bytes;
};

TEST_F(Dylib, ExportsTheEntryAlone) {
  const MachoImage image(dylib_path(), &import_for_macos);
  EXPECT_EQ(image.exported(), (std::vector<std::string>{"_rollcall_plugin_v1"}));
}

TEST_F(Dylib, ImportsWhatIsListedAndNothingElse) {
  std::ifstream in(std::string(test::kSourceDir) + "/tests/backends/macos/imports.txt");
  std::set<std::string> listed;
  for (std::string line; std::getline(in, line);) listed.insert(line);
  ASSERT_GT(listed.size(), 20U);
  const MachoImage image(dylib_path(), &import_for_macos);
  for (const auto& name : image.imported()) EXPECT_TRUE(listed.count(name) != 0) << name;
  for (const char* needed : {"_proc_pidinfo", "_kill", "_kevent", "_sysctl"}) {
    const auto imported = image.imported();
    EXPECT_NE(std::find(imported.begin(), imported.end(), needed), imported.end()) << needed;
  }
}

TEST_F(Dylib, IsRefusedWhereAnImportIsNotThere) {
  EXPECT_NE(refusal(bytes, [](std::string_view) -> void* { return nullptr; }).find("import"),
            std::string::npos);
}

TEST_F(Dylib, IsRefusedWhereTheFileIsCut) {
  for (std::size_t size = 0; size + 1 < bytes.size() / 2; size += bytes.size() / 40) {
    EXPECT_NE(refusal(bytes.substr(0, size)), "") << size;
  }
}

}  // namespace
}  // namespace rollcall::testing
