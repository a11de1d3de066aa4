// Every behaviour on this program's stage, and what the document says of it.
#include <gtest/gtest.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "behaviours.hpp"
#include "documented.hpp"
#include "support/paths.hpp"

namespace rollcall::conformance {
namespace {

std::vector<DocumentedRow> document() {
  std::ifstream in(std::string(test::kSourceDir) + "/docs/platforms.md");
  return documented_rows(std::string(std::istreambuf_iterator<char>(in), {}));
}

class BackendBehaviour : public ::testing::TestWithParam<Behaviour> {};

TEST_P(BackendBehaviour, IsAsDocumented) {
  const auto stage = make_stage();
  const Outcome outcome = GetParam().attempt(*stage);
  if (outcome.kind == Outcome::Kind::kUntried) GTEST_SKIP() << outcome.why;
  ASSERT_NE(outcome.kind, Outcome::Kind::kBroken) << outcome.why;
  const auto rows = document();
  const auto row = std::find_if(rows.begin(), rows.end(), [](const DocumentedRow& one) {
    return one.sentence == GetParam().sentence;
  });
  ASSERT_NE(row, rows.end()) << "docs/platforms.md has no row: " << GetParam().sentence;
  const std::string seen = outcome.kind == Outcome::Kind::kHolds ? "yes" : "no";
  EXPECT_EQ(row->cells.at(stage->platform()), seen)
      << "docs/platforms.md, " << row->sentence << ": " << outcome.why;
}

INSTANTIATE_TEST_SUITE_P(All, BackendBehaviour, ::testing::ValuesIn(behaviours()),
                         [](const auto& one) { return std::string(one.param.name); });

TEST(Document, HasARowForEveryBehaviourAndNoOther) {
  const auto rows = document();
  std::vector<std::string> documented;
  for (const auto& row : rows) documented.push_back(row.sentence);
  std::vector<std::string> tried;
  for (const auto& behaviour : behaviours()) tried.emplace_back(behaviour.sentence);
  EXPECT_EQ(documented, tried);
}

TEST(Document, SaysYesOrNoOfEveryPlatform) {
  for (const auto& row : document()) {
    for (const char* platform : {"Linux", "Windows", "macOS"}) {
      const auto cell = row.cells.find(platform);
      ASSERT_NE(cell, row.cells.end()) << row.sentence;
      EXPECT_TRUE(cell->second == "yes" || cell->second == "no")
          << row.sentence << ": " << cell->second;
    }
  }
}

TEST(DocumentedRows, AreThoseOfTheTableOfBehaviours) {
  const auto rows = documented_rows(
      "| Other | Linux |\n| --- | --- |\n| x | yes |\n\n"
      "| Behaviour | Linux | macOS |\n| --- | --- | --- |\n| One | yes: 6.9 | no |\n"
      "| Two | nope | maybe |\n\ntext\n");
  ASSERT_EQ(rows.size(), 2U);
  EXPECT_EQ(rows[0].sentence, "One");
  EXPECT_EQ(rows[0].cells.at("Linux"), "yes");
  EXPECT_EQ(rows[0].cells.at("macOS"), "no");
  EXPECT_EQ(rows[1].cells.at("Linux"), "nope");
}

}  // namespace
}  // namespace rollcall::conformance
