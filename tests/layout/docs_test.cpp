// What documents say and a program can check.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/verdict.hpp"
#include "support/paths.hpp"

namespace {

namespace fs = std::filesystem;

const fs::path kSource = rollcall::test::kSourceDir;

std::string text_of(const fs::path& file) {
  std::ifstream in(file);
  return {std::istreambuf_iterator<char>(in), std::istreambuf_iterator<char>()};
}

std::vector<fs::path> documents() {
  std::vector<fs::path> all;
  for (const auto& entry : fs::directory_iterator(kSource)) {
    if (entry.path().extension() == ".md") all.push_back(entry.path());
  }
  for (const auto* folder : {"docs", "bench", "framework", "plugins", "tests", "examples"}) {
    for (const auto& entry : fs::recursive_directory_iterator(kSource / folder)) {
      if (entry.path().extension() == ".md") all.push_back(entry.path());
    }
  }
  return all;
}

// The targets of "[text](target)" that are paths.
std::vector<std::string> relative_links(const std::string& text) {
  std::vector<std::string> all;
  for (std::size_t at = text.find("]("); at != std::string::npos; at = text.find("](", at + 1)) {
    const auto end = text.find_first_of(") \n", at + 2);
    if (end == std::string::npos) break;
    auto target = text.substr(at + 2, end - at - 2);
    target = target.substr(0, target.find('#'));
    if (!target.empty() && target.find("://") == std::string::npos) all.push_back(target);
  }
  return all;
}

TEST(Documents, RelativeLinksLeadSomewhere) {
  std::size_t seen = 0;
  for (const auto& document : documents()) {
    for (const auto& target : relative_links(text_of(document))) {
      EXPECT_TRUE(fs::exists(document.parent_path() / target))
          << fs::relative(document, kSource) << " links to " << target;
      ++seen;
    }
  }
  EXPECT_GT(seen, 5u) << "hardly a link was found: does this test look in the right place?";
}

TEST(Documents, EveryReasonOfAVerdictIsExplained) {
  const auto verdicts = text_of(kSource / "docs/verdicts.md");
  const auto json = text_of(kSource / "docs/json.md");
  for (auto reason = rollcall::Reason::kNoProcess; reason <= rollcall::Reason::kUnverified;
       reason = static_cast<rollcall::Reason>(static_cast<int>(reason) + 1)) {
    const auto quoted = "`" + std::string(to_text(reason)) + "`";
    EXPECT_NE(verdicts.find(quoted), std::string::npos) << "docs/verdicts.md lacks " << quoted;
    EXPECT_NE(json.find(quoted), std::string::npos) << "docs/json.md lacks " << quoted;
  }
}

}  // namespace
