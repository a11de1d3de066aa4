#include <gtest/gtest.h>

#include <string>

#include "rollcall/identity.hpp"
#include "rollcall/process_control.hpp"

namespace rollcall {
namespace {

TEST(ParseSignal, TakesTheDocumentedSetOnly) {
  for (const char* const name :
       {"TERM", "INT", "HUP", "QUIT", "KILL", "USR1", "USR2", "CONT", "STOP"}) {
    const auto signal = parse_signal(name);
    ASSERT_TRUE(signal) << name;
    EXPECT_EQ(to_text(*signal), std::string("SIG") + name);
  }
  for (const char* const name :
       {"", "0", "9", "-9", "65", "term", "SIGTERM", "SIGTERM ", "TERM ", "SIGFOO", "SEGV"}) {
    EXPECT_FALSE(parse_signal(name)) << name;
  }
}

TEST(Sentinel, IsReadBackAsWritten) {
  ProcessIdentity identity;
  identity.pid = 7;
  identity.boot_id = "boot";
  identity.start_token = "12:34";
  const auto text = format_sentinel(identity);
  ASSERT_TRUE(text);
  EXPECT_EQ(*text, "7:boot:12:34");
  const auto read = parse_sentinel("\xEF\xBB\xBF  " + *text + "\r\n");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_EQ(*read, identity);
}

TEST(Sentinel, IsNotMadeFromPartsThatAreMissing) {
  ProcessIdentity identity;
  identity.pid = 7;
  identity.start_token = "1";
  EXPECT_EQ(format_sentinel(identity).error().code, ErrorCode::kUnreadable);
  identity.boot_id = "boot";
  identity.start_token.clear();
  EXPECT_EQ(format_sentinel(identity).error().code, ErrorCode::kUnreadable);
  identity.pid = 0;
  EXPECT_EQ(format_sentinel(identity).error().code, ErrorCode::kInvalid);
}

TEST(Sentinel, RefusesWhatIsNotOne) {
  for (const char* const text :
       {"", "7", "7:boot", "7::1", "7:boot:", ":boot:1", "0:boot:1", "-1:boot:1", "+7:boot:1",
        "07:boot:1", "2147483648:boot:1", "7x:boot:1", " 7 :boot:1", "7:bo ot:1", "7:boot:1 2"}) {
    EXPECT_FALSE(parse_sentinel(text)) << text;
  }
}

}  // namespace
}  // namespace rollcall
