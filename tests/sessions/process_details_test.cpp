#include "rollcall/process_details.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>

namespace rollcall {
namespace {

using ::testing::ElementsAre;
using namespace std::string_literals;

std::vector<std::string> shown(const Environment& environment) {
  std::vector<std::string> out;
  for (const Variable& variable : environment.variables) {
    out.push_back(variable.name + "|" + variable.value);
  }
  return out;
}

TEST(ParseEnvironment, KeepsValuesWhateverTheyHold) {
  EXPECT_THAT(shown(parse_environment("A=1\0B=x=y\nz\0C=\xff\x1b[2J\0D=\0"s)),
              ElementsAre("A|1", "B|x=y\nz", "C|\xff\x1b[2J", "D|"));
}

TEST(ParseEnvironment, TakesTheFirstOfVariablesWithOneName) {
  const auto environment = parse_environment("A=first\0A=second\0a=other\0A=third\0"s);
  EXPECT_THAT(shown(environment), ElementsAre("A|first", "a|other"));
  EXPECT_EQ(environment.repeated, 2U);
}

TEST(ParseEnvironment, LeavesOutWhatHasNoNameAndSaysHowMany) {
  const auto environment = parse_environment("=x\0novalue\0\0A=1\0="s);
  EXPECT_THAT(shown(environment), ElementsAre("A|1"));
  EXPECT_EQ(environment.nameless, 4U);
}

TEST(ParseEnvironment, KnowsTheNamesOfWindowsThatBeginWithEquals) {
  EXPECT_THAT(shown(parse_environment("=C:=C:\\work\0"s)), ElementsAre("=C:|C:\\work"));
}

TEST(ParseEnvironment, ReadsALastEntryWithoutItsEnd) {
  EXPECT_THAT(shown(parse_environment("A=1\0B=2"s)), ElementsAre("A|1", "B|2"));
  EXPECT_TRUE(parse_environment("").variables.empty());
}

TEST(ParseEnvironment, TakesMegabytesOfEntries) {
  std::string bytes;
  for (int i = 0; i < 100'000; ++i)
    bytes += "V" + std::to_string(i) + "=" + std::string(24, 'x') + '\0';
  const auto environment = parse_environment(bytes);
  ASSERT_EQ(environment.variables.size(), 100'000U);
  EXPECT_EQ(environment.variables.back().name, "V99999");
}

TEST(ParseCommand, KeepsEmptyArgumentsAndAnyBytes) {
  EXPECT_THAT(parse_command("sh\0\0-c\0a\nb\0\xff\0"s),
              ElementsAre("sh", "", "-c", "a\nb", "\xff"));
  EXPECT_TRUE(parse_command("").empty());
}

TEST(LooksSecret, GoesByTheNameOrByAUrlWithUserInformation) {
  EXPECT_TRUE(looks_secret({"GITHUB_TOKEN", "x"}));
  EXPECT_TRUE(looks_secret({"db_password", ""}));
  EXPECT_TRUE(looks_secret({"DATABASE_URL", "postgres://me:pw@localhost/db"}));
  EXPECT_FALSE(looks_secret({"DATABASE_URL", "postgres://localhost/db?to=a@b"}));
  EXPECT_FALSE(looks_secret({"PATH", "/usr/bin"}));
  for (const char* name : {"OPENAI_KEY", "Mysql_Pwd", "SMTP_PASS", "X_COOKIE"}) {
    EXPECT_TRUE(looks_secret({name, "x"})) << name;
  }
  for (const char* name : {"PWD", "OLDPWD", "MONKEY", "KEY_FILE_MODE"}) {
    EXPECT_FALSE(looks_secret({name, "x"})) << name;
  }
}

TEST(RedactedCommand, HidesTheValuesOfSecretOptions) {
  EXPECT_THAT(redacted_command({"agent", "--token", "abc", "--api-key=def", "--port", "80"}),
              ElementsAre("agent", "--token", "(hidden)", "--api-key=(hidden)", "--port", "80"));
  EXPECT_THAT(redacted_command({"env", "MY_SECRET=1", "A=1", "run"}),
              ElementsAre("env", "MY_SECRET=(hidden)", "A=1", "run"));
}

TEST(LooksSecret, GoesByASecretInTheValue) {
  EXPECT_TRUE(looks_secret({"DSN", "user:pw@host"}));
  EXPECT_TRUE(looks_secret({"CONN", "Server=a;Password=b"}));
  EXPECT_TRUE(looks_secret({"OPTS", "-H 'Authorization: Bearer zzz'"}));
  EXPECT_FALSE(looks_secret({"REPO", "git@example.org:a/b"}));
}

TEST(RedactedCommand, HidesHeadersAndWhatABearerHas) {
  EXPECT_THAT(
      redacted_command({"curl", "-H", "Authorization: Bearer zzz", "-HX-Api-Key: k", "u"}),
      ElementsAre("curl", "-H", "Authorization: (hidden)", "-HX-Api-Key: (hidden)", "(hidden)"));
  EXPECT_THAT(
      redacted_command({"x", "--pass", "qq", "Authorization:", "Bearer", "zzz", "end"}),
      ElementsAre("x", "--pass", "(hidden)", "Authorization:", "(hidden)", "(hidden)", "end"));
  EXPECT_THAT(redacted_command({"sh", "-c", "PGPASS=x psql a:b@c"}),
              ElementsAre("sh", "-c", "PGPASS=(hidden)"));
}

TEST(RedactedCommand, HidesEverySecretOfAnArgument) {
  EXPECT_THAT(redacted_command({"x", "a:b@c d:e@f token=g"}),
              ElementsAre("x", "(hidden)@c (hidden)@f token=(hidden)"));
  std::string many;
  for (int i = 0; i < 100; ++i) many += "a:b@c ";
  const std::string shown = redacted_command({many + "last"}).front();
  EXPECT_EQ(shown.find("a:b"), std::string::npos) << shown;
}

TEST(RedactedCommand, TakesNoOptionForASecret) {
  EXPECT_THAT(redacted_command({"agent", "--no-token", "--verbose", "token", "file"}),
              ElementsAre("agent", "--no-token", "--verbose", "token", "file"));
}

TEST(RedactedCommand, HidesTheUserInformationOfAUrl) {
  EXPECT_THAT(redacted_command({"curl", "https://me:pw@example.org/x@y"}),
              ElementsAre("curl", "https://(hidden)@example.org/x@y"));
}

}  // namespace
}  // namespace rollcall
