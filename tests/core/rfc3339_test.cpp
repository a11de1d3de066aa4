#include <gtest/gtest.h>

#include <cstdint>
#include <string_view>

#include "core/rfc3339.hpp"

namespace rollcall::core {
namespace {

TEST(Rfc3339, FormatsInUtcWithMilliseconds) {
  EXPECT_EQ(format_rfc3339_utc(0), "1970-01-01T00:00:00.000Z");
  EXPECT_EQ(format_rfc3339_utc(1'789'509'297'123'999'999), "2026-09-15T21:54:57.123Z");
  EXPECT_EQ(format_rfc3339_utc(951'782'399'000'000'000), "2000-02-28T23:59:59.000Z");
  EXPECT_EQ(format_rfc3339_utc(951'782'400'000'000'000), "2000-02-29T00:00:00.000Z");
  EXPECT_EQ(format_rfc3339_utc(-1), "1969-12-31T23:59:59.999Z");
  EXPECT_EQ(format_rfc3339_utc(4'294'967'296'000'000'000), "2106-02-07T06:28:16.000Z");
}

TEST(Rfc3339, ReadsBackWhatItFormats) {
  // Steps of a prime number of milliseconds, over all that the parser takes.
  for (std::int64_t ns = -9'200'000'000'000'000'000; ns < 9'100'000'000'000'000'000;
       ns += 97'777'777'777'000'000) {
    const auto read = parse_rfc3339_utc(format_rfc3339_utc(ns));
    ASSERT_TRUE(read) << format_rfc3339_utc(ns);
    EXPECT_EQ(*read, ns);
  }
}

TEST(Rfc3339, ReadsFractionsAndZeroOffset) {
  EXPECT_EQ(parse_rfc3339_utc("1970-01-01T00:00:01Z"), 1'000'000'000);
  EXPECT_EQ(parse_rfc3339_utc("1970-01-01T00:00:01.5Z"), 1'500'000'000);
  EXPECT_EQ(parse_rfc3339_utc("1970-01-01T00:00:00.000000001Z"), 1);
  EXPECT_EQ(parse_rfc3339_utc("1970-01-01T00:00:01+00:00"), 1'000'000'000);
}

TEST(Rfc3339, RefusesEverythingElse) {
  for (const std::string_view text : {"",
                                      "Z",
                                      "2026-01-01",
                                      "2026-01-01T24:00:00Z",
                                      "2026-01-01T00:60:00Z",
                                      "2026-01-01T00:00:60Z",
                                      "2026-02-29T00:00:00Z",
                                      "2100-02-29T00:00:00Z",
                                      "2026-00-01T00:00:00Z",
                                      "2026-13-01T00:00:00Z",
                                      "2026-01-32T00:00:00Z",
                                      "2026-01-01t00:00:00Z",
                                      "2026-01-01T00:00:00z",
                                      "2026-01-01 00:00:00Z",
                                      "2026-01-01T00:00:00",
                                      "2026-01-01T00:00:00.Z",
                                      "2026-01-01T00:00:00.1234567890Z",
                                      "2026-01-01T00:00:00+09:00",
                                      "2026-01-01T00:00:00-00:00",
                                      "2026-01-01T00:00:00Z ",
                                      " 2026-01-01T00:00:00Z",
                                      "+026-01-01T00:00:00Z",
                                      "0001-01-01T00:00:00Z",
                                      "9999-12-31T23:59:59Z",
                                      "2026-1-01T00:00:00Z"}) {
    EXPECT_FALSE(parse_rfc3339_utc(text)) << text;
  }
}

}  // namespace
}  // namespace rollcall::core
