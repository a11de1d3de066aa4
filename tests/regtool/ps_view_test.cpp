#include "regtool/ps_view.hpp"

#include <gtest/gtest.h>

#include <string>
#include <vector>

namespace rollcall::regtool {
namespace {

SessionRow row(const std::string& id, const std::string& status, std::int64_t pid) {
  SessionRow made;
  made.session_id = id;
  made.name = "n" + id;
  made.status = status;
  made.pid = pid;
  return made;
}

TEST(Passes, JoinsFiltersOnOneKeyByOrAndOthersByAnd) {
  const SessionRow live = row("a", "live", 1);
  EXPECT_TRUE(passes(live, {}));
  EXPECT_TRUE(passes(live, {{"status", "gone"}, {"status", "live"}}));
  EXPECT_FALSE(passes(live, {{"status", "live"}, {"name", "other"}}));
  EXPECT_TRUE(passes(live, {{"status", "live"}, {"name", "na"}, {"pid", "1"}}));
}

TEST(Passes, WantsEveryLabel) {
  SessionRow labelled = row("a", "live", 1);
  labelled.labels = {{"team", "db"}, {"tier", "1=x"}};
  EXPECT_TRUE(passes(labelled, {{"label", "team"}, {"label", "tier=1=x"}}));
  EXPECT_FALSE(passes(labelled, {{"label", "team=db"}, {"label", "none"}}));
  EXPECT_FALSE(passes(labelled, {{"label", "team=d"}}));
}

TEST(SortRows, KeepsTheOrderOfEqualRows) {
  std::vector<SessionRow> rows = {row("c", "live", 10), row("b", "gone", 9), row("a", "live", 10)};
  sort_rows(rows, "pid");
  EXPECT_EQ(rows[0].session_id + rows[1].session_id + rows[2].session_id, "bca");
  sort_rows(rows, "-pid");
  EXPECT_EQ(rows[0].session_id + rows[1].session_id + rows[2].session_id, "cab");
}

TEST(FillTemplate, EscapesValuesButNotItsOwnText) {
  SessionRow hostile = row("a", "live", 7);
  hostile.name = "x\x1b]0;t\x07";
  hostile.labels = {{"k", "v\n"}};
  EXPECT_EQ(
      fill_template("{session}\\t{name}|{label.k}|{label.none}{{}}", hostile, text::Charset::kUtf8),
      "a\tx\\x1b]0;t\\x07|v\\x0a|{}\n");
}

TEST(TableOf, HasTheColumnsInTheirOrder) {
  const TableText table = table_of({row("a", "live", 7)}, kPsColumns);
  EXPECT_EQ(table.header, (std::vector<std::string>{"SESSION", "NAME", "STATUS", "DETACHED",
                                                    "UPTIME", "PID", "DOOR"}));
  ASSERT_EQ(table.rows.size(), 1U);
  EXPECT_EQ(table.rows[0][4].text, "-");
  EXPECT_EQ(table.rows[0][3].text, "no");
}

}  // namespace
}  // namespace rollcall::regtool
