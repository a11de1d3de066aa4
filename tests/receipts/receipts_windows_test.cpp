// What receipts are to Windows: one folder has many spellings.
#include <gtest/gtest.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <string>

#include "receipts/receipts_fixture.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test

TEST_F(ReceiptsTest, AWorkspaceIsTheSameInLettersOfAnyCaseAndWithAnySeparator) {
  const auto folder = home.dir() / "Ws";
  std::filesystem::create_directory(folder);
  const std::string named = utf8(folder);
  NewReceipt receipt = wanted("rt_1");
  receipt.source.workspace = named;
  const auto registered = receipts->register_receipt(std::move(receipt), {});
  ASSERT_TRUE(registered);
  const auto as_given = receipts->resolve(registered->endpoint, {"acp", "s1", named}, {});
  ASSERT_TRUE(as_given);
  std::string lower = named;
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](unsigned char c) { return static_cast<char>(std::tolower(c)); });
  std::string slashes = named;
  std::replace(slashes.begin(), slashes.end(), '\\', '/');
  ASSERT_NE(lower, named);
  for (const std::string& other : {lower, slashes, named + "\\.", named + "\\x\\.."}) {
    const auto resolved = receipts->resolve(registered->endpoint, {"acp", "s1", other}, {});
    ASSERT_TRUE(resolved) << other;
    EXPECT_EQ(resolved->source.workspace, as_given->source.workspace);
  }
}

TEST_F(ReceiptsTest, AWorkspaceThatIsNoFolderStandsAsItIsGiven) {
  NewReceipt receipt = wanted("rt_1");
  receipt.source.workspace = "CON";
  const auto registered = receipts->register_receipt(std::move(receipt), {});
  ASSERT_TRUE(registered);
  const auto resolved = receipts->resolve(registered->endpoint, {"acp", "s1", "CON"}, {});
  ASSERT_TRUE(resolved);
  EXPECT_EQ(resolved->source.workspace, "CON");
}

}  // namespace
}  // namespace rollcall
