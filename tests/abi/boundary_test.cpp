// Backends and plugins know of the framework what framework/abi says, and nothing else.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "support/paths.hpp"

namespace rollcall::testing {
namespace {

namespace fs = std::filesystem;
const fs::path kSource = test::kSourceDir;

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

// A header below framework/abi: rollcall/plugin.h and what stands beside it.
bool of_the_abi(const std::string& target) {
  const fs::path found = fs::weakly_canonical(kSource / "framework/abi" / target);
  return fs::exists(found) &&
         fs::relative(found, kSource).generic_string().rfind("framework/abi/", 0) == 0;
}

// What a file may include in quotes: the ABI's headers and files of its own folder tree.
bool allowed(const std::string& target, const fs::path& file) {
  if (of_the_abi(target)) return true;
  for (const fs::path& base : {file.parent_path(), kSource / "plugins", kSource / "backends"}) {
    const fs::path found = fs::weakly_canonical(base / target);
    const std::string below = fs::relative(found, kSource).generic_string();
    const bool own = below.rfind("plugins/", 0) == 0 || below.rfind("backends/", 0) == 0;
    if (own && fs::exists(found)) return true;
  }
  return false;
}

// What a line includes, with its first delimiter before it: "<vector" or "\"own.hpp"; or nothing.
std::string included(const std::string& line) {
  std::size_t at = line.find_first_not_of(" \t");
  if (at == line.npos || line[at] != '#') return {};
  at = line.find_first_not_of(" \t", at + 1);
  if (at == line.npos || line.compare(at, 7, "include") != 0) return {};
  const std::size_t open = line.find_first_of("<\"", at);
  if (open == line.npos) return {};
  const std::size_t close = line.find_first_of(">\"", open + 1);
  return line.substr(open, close - open);
}

void check_includes(const char* folder) {
  std::size_t seen = 0;
  for (const fs::path& file : code_of(folder)) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      const std::string target = included(line);
      if (target.empty()) continue;
      ++seen;
      if (target.front() == '"') {
        EXPECT_TRUE(allowed(target.substr(1), file)) << file << ": " << line;
      } else {
        EXPECT_NE(target.rfind("<rollcall/", 0), 0U) << file << ": " << line;
      }
    }
  }
  EXPECT_GT(seen, 0U);
}

TEST(Boundary, BackendsIncludeOfTheFrameworkItsAbiOnly) { check_includes("backends"); }

TEST(Boundary, PluginsIncludeOfTheFrameworkItsAbiOnly) { check_includes("plugins"); }

TEST(Boundary, TheAbisHeadersIncludeTheStandardLibraryOnly) {
  for (const fs::path& file : code_of("framework/abi")) {
    std::ifstream in(file);
    for (std::string line; std::getline(in, line);) {
      const std::string found = included(line);
      if (found.empty()) continue;
      const std::string target = found.substr(1);
      const bool standard =
          target.find('/') == target.npos &&
          (target.find('.') == target.npos || target == "stddef.h" || target == "stdint.h");
      EXPECT_TRUE(standard || of_the_abi(target)) << file << " includes " << target;
    }
  }
}

}  // namespace
}  // namespace rollcall::testing
