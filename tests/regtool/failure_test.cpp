#include "regtool/failure.hpp"

#include <gtest/gtest.h>

namespace rollcall::regtool {
namespace {

TEST(Failure, OfNoKindOfErrorIsSessionNotFoundByItself) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    const Failure failure = to_failure({static_cast<ErrorCode>(code), "x"});
    EXPECT_NE(failure.code, "session_not_found") << code;
    EXPECT_NE(failure.exit_code, kExitNo) << code;
  }
}

TEST(Failure, OfALookUpInTheRecordsIsSessionNotFound) {
  const Failure failure = to_session_failure({ErrorCode::kNotFound, "no record"}, "web");
  EXPECT_EQ(failure.exit_code, kExitNo);
  EXPECT_EQ(failure.code, "session_not_found");
  EXPECT_EQ(failure.object, "web");
  EXPECT_EQ(to_session_failure({ErrorCode::kIo, "x"}, "web").code, "io");
}

TEST(Failure, OfAMissingCapabilityIsExit5WhateverTheError) {
  for (int code = 0; code <= static_cast<int>(ErrorCode::kInternal); ++code) {
    const Failure failure = to_capability_failure({static_cast<ErrorCode>(code), "x"});
    EXPECT_EQ(failure.exit_code, kExitIo) << code;
  }
  EXPECT_EQ(to_capability_failure({ErrorCode::kNotFound, "x"}).code, "capability_unavailable");
  EXPECT_EQ(to_capability_failure({ErrorCode::kRefused, "x"}).code, "capability_unavailable");
}

}  // namespace
}  // namespace rollcall::regtool
