#include "regtool/naming.hpp"

#include <gtest/gtest.h>

#include <string>

namespace rollcall::regtool {
namespace {

NameCandidates some() {
  return {.sessions = {{"ses_0198aaaa1111", false},
                       {"ses_0197bbbb2222", true},
                       {"web", true},
                       {"ses_0196ccccABCD", true}},
          .pruned = {{"ses_0195dddd9999", "no process holds pid 7"}},
          .unreadable = {"torn-record"}};
}

Outcome<std::string> resolve(std::string_view typed, const NameCandidates& candidates = some()) {
  const auto name = parse_session_name(typed);
  if (!name) return tl::unexpected(name.error());
  return resolve_session_name(*name, candidates);
}

TEST(ParseSessionName, RefusesWhatCannotNameASession) {
  const std::string kBad[] = {"",
                              ".",
                              "..",
                              "../x",
                              "/tmp/x",
                              "a/b",
                              "a\\b",
                              "-rf",
                              "--",
                              std::string(300, 'a'),
                              std::string(129, 'a'),
                              "s.json",
                              "s.JSON",
                              "s.control",
                              "s.tmp",
                              "127.0.0.1:80",
                              "localhost:80",
                              "[::1]:80",
                              "a b",
                              "a\n",
                              "\x1b[2J",
                              "s\xff",
                              std::string("s\0t", 3),
                              "@",
                              "@0",
                              "@01",
                              "@-1",
                              "@x",
                              "@1x",
                              "@9999999999",
                              "a@1"};
  for (const std::string& typed : kBad) {
    const auto name = parse_session_name(typed);
    ASSERT_FALSE(name) << typed;
    EXPECT_EQ(name.error().exit_code, kExitUsage) << typed;
    EXPECT_EQ(name.error().code, "usage") << typed;
  }
}

TEST(ParseSessionName, TakesIdsSuffixesAndRows) {
  EXPECT_TRUE(parse_session_name("ses_0197bbbb2222"));
  EXPECT_TRUE(parse_session_name("_22.2"));
  EXPECT_TRUE(parse_session_name(std::string(128, 'a')));
  EXPECT_EQ(parse_session_name("@12")->row, 12U);
}

TEST(ResolveSessionName, TakesAFullIdOfAnyLength) { EXPECT_EQ(resolve("web").value(), "web"); }

TEST(ResolveSessionName, PrefersAFullIdToASuffix) {
  NameCandidates candidates;
  candidates.sessions = {{"xx-abcd", true}, {"abcd", true}};
  EXPECT_EQ(resolve("abcd", candidates).value(), "abcd");
}

TEST(ResolveSessionName, TakesAUniqueSuffixWithoutRegardToCase) {
  EXPECT_EQ(resolve("2222").value(), "ses_0197bbbb2222");
  EXPECT_EQ(resolve("abcd").value(), "ses_0196ccccABCD");
  EXPECT_EQ(resolve("CABCD").value(), "ses_0196ccccABCD");
}

TEST(ResolveSessionName, TakesNoSuffixOfFewerThanFourCharacters) {
  const auto id = resolve("222");
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().exit_code, kExitNo);
  EXPECT_NE(id.error().text.find("at least 4"), std::string::npos);
}

TEST(ResolveSessionName, ListsTheMatchesOfAnAmbiguousSuffix) {
  NameCandidates candidates;
  candidates.sessions = {{"a-same", true}, {"b-same", false}};
  const auto id = resolve("same", candidates);
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().code, "ambiguous");
  EXPECT_EQ(id.error().exit_code, kExitUsage);
  EXPECT_NE(id.error().text.find("a-same b-same"), std::string::npos) << id.error().text;
}

TEST(ResolveSessionName, CountsPrunedSessionsAmongTheMatches) {
  NameCandidates candidates;
  candidates.sessions = {{"a-same", true}};
  candidates.pruned = {{"b-same", "gone"}};
  EXPECT_EQ(resolve("same", candidates).error().code, "ambiguous");
}

TEST(ResolveSessionName, AnswersAPrunedNameWithTheReason) {
  for (const char* typed : {"ses_0195dddd9999", "9999"}) {
    const auto id = resolve(typed);
    ASSERT_FALSE(id);
    EXPECT_EQ(id.error().exit_code, kExitNo);
    EXPECT_NE(id.error().text.find("no process holds pid 7"), std::string::npos);
  }
}

TEST(ResolveSessionName, DoesNotCallAnUnreadableRecordAbsent) {
  const auto id = resolve("torn-record");
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().code, "unreadable");
  EXPECT_EQ(id.error().exit_code, kExitIo);
}

TEST(ResolveSessionName, SaysNotFound) {
  const auto id = resolve("nothing-here");
  ASSERT_FALSE(id);
  EXPECT_EQ(id.error().code, "session_not_found");
  EXPECT_EQ(id.error().exit_code, kExitNo);
}

TEST(ResolveSessionName, SaysWhereItLooked) {
  const NameCandidates nothing{.place = "/home/ann/.rollcall"};
  for (const char* typed : {"web", "nothing-here"}) {
    const auto id = resolve(typed, nothing);
    ASSERT_FALSE(id);
    EXPECT_EQ(id.error().text.find(std::string("no session ") + typed + " in /home/ann/.rollcall"),
              0U)
        << id.error().text;
  }
}

TEST(ResolveSessionName, CountsOnlyRowsWhoseProcessIsAlive) {
  EXPECT_EQ(resolve("@1").value(), "ses_0197bbbb2222");
  EXPECT_EQ(resolve("@3").value(), "ses_0196ccccABCD");
  EXPECT_EQ(resolve("@4").error().exit_code, kExitNo);
}

TEST(RefuseRowName, NamesTheIdThatWasMeant) {
  const Failure failure = refuse_row_name(*parse_session_name("@2"), some());
  EXPECT_EQ(failure.exit_code, kExitRefused);
  EXPECT_NE(failure.text.find("web"), std::string::npos);
}

}  // namespace
}  // namespace rollcall::regtool
