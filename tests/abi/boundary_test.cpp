// Backends and plugins know of the framework what framework/abi says, and nothing else.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <regex>
#include <string>
#include <vector>

namespace rollcall::testing {
namespace {

namespace fs = std::filesystem;
const fs::path kSource = ROLLCALL_TEST_SOURCE_DIR;

std::vector<fs::path> code_of(const char* folder) {
  std::vector<fs::path> files;
  for (const auto& entry : fs::recursive_directory_iterator(kSource / folder)) {
    const auto extension = entry.path().extension();
    if (extension == ".cpp" || extension == ".hpp" || extension == ".c" || extension == ".h") {
      files.push_back(entry.path());
    }
  }
  return files;
}

// What a file may include in quotes: the ABI's headers and files of its own folder tree.
bool allowed(const std::string& target, const fs::path& file) {
  if (target == "rollcall/plugin.h" || target == "rollcall/plugin.hpp") return true;
  for (const fs::path& base : {file.parent_path(), kSource / "plugins", kSource / "backends"}) {
    const fs::path found = fs::weakly_canonical(base / target);
    const std::string below = fs::relative(found, kSource).string();
    const bool own = below.rfind("plugins/", 0) == 0 || below.rfind("backends/", 0) == 0;
    if (own && fs::exists(found)) return true;
  }
  return false;
}

void check_includes(const char* folder) {
  const std::regex quoted(R"(^\s*#\s*include\s*"([^"]+)\".*)");
  const std::regex angled(R"(^\s*#\s*include\s*<((rollcall|framework)/[^>]+)>.*)");
  std::size_t seen = 0;
  for (const fs::path& file : code_of(folder)) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      std::smatch match;
      if (std::regex_match(line, match, quoted)) {
        ++seen;
        EXPECT_TRUE(allowed(match[1], file)) << file << " includes " << match[1];
      }
      EXPECT_FALSE(std::regex_match(line, angled)) << file << ": " << line;
    }
  }
  EXPECT_GT(seen, 0U);
}

TEST(Boundary, BackendsIncludeOfTheFrameworkItsAbiOnly) { check_includes("backends"); }

TEST(Boundary, PluginsIncludeOfTheFrameworkItsAbiOnly) { check_includes("plugins"); }

TEST(Boundary, TheAbisHeadersIncludeTheStandardLibraryOnly) {
  const std::regex include(R"(^\s*#\s*include\s*[<"]([^>"]+)[>"].*)");
  for (const fs::path& file : code_of("framework/abi")) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      std::smatch match;
      if (!std::regex_match(line, match, include)) continue;
      const std::string target = match[1];
      const bool standard =
          target.find('/') == target.npos &&
          (target.find('.') == target.npos || target == "stddef.h" || target == "stdint.h");
      EXPECT_TRUE(standard || target == "rollcall/plugin.h") << file << " includes " << target;
    }
  }
}

}  // namespace
}  // namespace rollcall::testing
