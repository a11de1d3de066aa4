// The rules of docs/architecture.md that a compiler does not check: which folder may include which,
// and where libraries and the platform may be met.
#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "support/paths.hpp"

namespace {

namespace fs = std::filesystem;
using Folders = std::set<std::string, std::less<>>;

const fs::path kSource = rollcall::test::kSourceDir;

// Each folder of the framework, and the folders that it may include besides itself. The public
// headers, rollcall/..., are open to all.
const std::map<std::string, Folders, std::less<>> kMayInclude = {
    {"core", {}},
    {"liveness", {"core"}},
    {"plugin", {"core", "liveness"}},
    {"doors", {"core", "liveness"}},
    {"registry", {"core", "liveness", "plugin", "doors"}},
    {"sessions", {"core", "liveness"}},
    {"receipts", {"core", "liveness", "registry"}},
    {"sentinels", {"core", "liveness"}},
    {"pairs", {"core", "liveness", "registry"}},
    {"stores", {"core", "liveness", "registry", "pairs"}},
    {"watch", {"core", "liveness", "registry"}},
    {"capi", {"core", "liveness", "plugin", "doors", "registry"}},
    {"regtool",
     {"core", "liveness", "plugin", "doors", "registry", "sessions", "receipts", "sentinels",
      "pairs", "stores", "watch"}},
};

struct Include {
  std::string target;  // what stands between the quotes or brackets
  bool quoted = false;
};

// What one line includes; an empty target where it includes nothing.
Include parse_include(std::string_view line) {
  const auto start = line.find_first_not_of(" \t");
  if (start == std::string_view::npos || line[start] != '#') return {};
  line.remove_prefix(start + 1);
  line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
  if (!line.starts_with("include")) return {};
  const auto open = line.find_first_of("<\"");
  if (open == std::string_view::npos) return {};
  const auto close = line.find(line[open] == '<' ? '>' : '"', open + 1);
  if (close == std::string_view::npos) return {};
  return {std::string(line.substr(open + 1, close - open - 1)), line[open] == '"'};
}

std::vector<Include> includes_of(const fs::path& file) {
  std::ifstream in(file);
  std::vector<Include> all;
  for (std::string line; std::getline(in, line);) {
    auto include = parse_include(line);
    if (!include.target.empty()) all.push_back(std::move(include));
  }
  return all;
}

bool is_header(const fs::path& file) {
  return file.extension() == ".hpp" || file.extension() == ".h";
}

bool is_code(const fs::path& file) {
  return is_header(file) || file.extension() == ".cpp" || file.extension() == ".c";
}

std::vector<fs::path> code_below(const fs::path& folder) {
  std::vector<fs::path> all;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    if (entry.is_regular_file() && is_code(entry.path())) all.push_back(entry.path());
  }
  return all;
}

std::string shown(const fs::path& file) { return fs::relative(file, kSource).string(); }

std::string first_folder(std::string_view path) {
  return std::string(path.substr(0, path.find('/')));
}

bool is_platform_header(const std::string& target) {
  static const std::set<std::string, std::less<>> kNames = {
      "unistd.h", "fcntl.h",    "dlfcn.h",   "poll.h",  "pwd.h",      "dirent.h",
      "signal.h", "csignal",    "windows.h", "netdb.h", "termios.h",  "pthread.h",
      "sched.h",  "winsock2.h", "libproc.h", "spawn.h", "langinfo.h", "syslog.h"};
  return kNames.count(target) > 0 || target.starts_with("sys/") || target.starts_with("linux/") ||
         target.starts_with("netinet/") || target.starts_with("arpa/") ||
         target.starts_with("mach/");
}

bool is_platform_file(const fs::path& file) {
  const auto stem = file.stem().string();
  return stem.ends_with("_posix") || stem.ends_with("_linux") || stem.ends_with("_macos") ||
         stem.ends_with("_windows");
}

TEST(Layout, EveryFrameworkFolderHasItsRule) {
  for (const auto& entry : fs::directory_iterator(kSource / "framework")) {
    if (!entry.is_directory()) continue;
    const auto name = entry.path().filename().string();
    if (name == "abi" || name == "include") continue;
    EXPECT_TRUE(kMayInclude.contains(name)) << "framework/" << name << " has no rule";
  }
}

TEST(Layout, FoldersIncludeOnlyWhatLiesBelowThem) {
  std::size_t seen = 0;
  for (const auto& [folder, allowed] : kMayInclude) {
    const auto path = kSource / "framework" / folder;
    if (!fs::exists(path)) continue;
    for (const auto& file : code_below(path)) {
      for (const auto& include : includes_of(file)) {
        if (!include.quoted) continue;
        ++seen;
        const auto target = first_folder(include.target);
        if (target == folder || target == "rollcall" || target == include.target) continue;
        EXPECT_TRUE(allowed.contains(target))
            << shown(file) << " includes " << include.target << ", which is not below it";
      }
    }
  }
  EXPECT_GT(seen, 10u) << "hardly an include was found: does this test look in the right place?";
}

TEST(Layout, PublicHeadersIncludeNothingOfTheInside) {
  for (const auto& file : code_below(kSource / "framework/include")) {
    for (const auto& include : includes_of(file)) {
      if (include.quoted) {
        EXPECT_EQ(first_folder(include.target), "rollcall") << shown(file);
      } else if (include.target.find('/') != std::string::npos) {
        EXPECT_EQ(include.target, "tl/expected.hpp") << shown(file);
      }
    }
  }
}

bool holds_library(const fs::path& file) {
  const auto all = includes_of(file);
  return std::any_of(all.begin(), all.end(), [](const Include& include) {
    const auto library = first_folder(include.target);
    return library == "Poco" || library == "rapidjson";
  });
}

TEST(Layout, PublicHeadersHoldNeitherPocoNorRapidJson) {
  for (const auto* folder : {"framework/include", "framework/abi"}) {
    for (const auto& file : code_below(kSource / folder)) {
      EXPECT_FALSE(holds_library(file)) << shown(file);
    }
  }
}

// So that these libraries are compiled where they are used, and nowhere else.
TEST(Layout, AHeaderWithPocoOrRapidJsonIsIncludedBySourceFilesOnly) {
  std::set<std::string> heavy;
  std::vector<fs::path> headers;
  for (const auto* folder : {"framework", "backends", "plugins"}) {
    for (const auto& file : code_below(kSource / folder)) {
      if (!is_header(file)) continue;
      headers.push_back(file);
      if (holds_library(file)) heavy.insert(file.filename().string());
    }
  }
  for (const auto& header : headers) {
    for (const auto& include : includes_of(header)) {
      EXPECT_FALSE(include.quoted && heavy.count(fs::path(include.target).filename().string()) > 0)
          << shown(header) << " includes " << include.target;
    }
  }
}

TEST(Layout, TheFrameworkMeetsThePlatformOnlyInFilesNamedForIt) {
  for (const auto& file : code_below(kSource / "framework")) {
    if (is_platform_file(file)) continue;
    for (const auto& include : includes_of(file)) {
      EXPECT_FALSE(is_platform_header(include.target))
          << shown(file) << " includes " << include.target
          << "; a file that calls a platform is named *_posix.cpp, *_linux.cpp, ...";
    }
  }
}

TEST(Layout, IncludeLinesAreRecognised) {
  EXPECT_EQ(parse_include("#include <sys/stat.h>").target, "sys/stat.h");
  EXPECT_EQ(parse_include("  #  include \"core/text.hpp\"  // why").target, "core/text.hpp");
  EXPECT_TRUE(parse_include("#include \"core/text.hpp\"").quoted);
  EXPECT_FALSE(parse_include("#include <vector>").quoted);
  EXPECT_TRUE(parse_include("// #include <vector>").target.empty());
  EXPECT_TRUE(parse_include("#define X \"y\"").target.empty());
}

}  // namespace
