#include <gtest/gtest.h>

#include <cerrno>
#include <cstring>
#include <string>

#include "macos_support.hpp"

namespace rollcall::testing {
namespace {

class MacDetails : public MacTest {
 protected:
  MacDetails() {
    mac.add(77, 1'700'000'100, 42, 50).arguments =
        argument_area(2, {"/bin/agent", "HYOUI_SESSION_ID=evil"}, {"A=first", "A=second"});
  }
};

TEST_P(MacDetails, TheCommandIsTheArgumentsEachEndedByNul) {
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_COMMAND).bytes,
            std::string("/bin/agent\0HYOUI_SESSION_ID=evil\0", 33));
}

TEST_P(MacDetails, TheEnvironmentHoldsNoArgument) {
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_ENVIRONMENT).bytes,
            std::string("A=first\0A=second\0", 17));
}

TEST_P(MacDetails, AWithheldEnvironmentIsDeniedAndNotEmpty) {
  auto& area = mac.at(77).arguments;
  area.resize(area.find("evil") + 5);
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_ENVIRONMENT).code, ROLLCALL_E_DENIED);
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_COMMAND).code, ROLLCALL_OK);
}

TEST_P(MacDetails, ATruncatedAreaIsCorrupt) {
  mac.cut["sysctl"] = static_cast<int>(mac.at(77).arguments.size()) - 12;
  const auto answer = read(backend, 77, ROLLCALL_READ_COMMAND);
  EXPECT_EQ(answer.code, ROLLCALL_E_CORRUPT);
  EXPECT_EQ(answer.bytes, "");
}

TEST_P(MacDetails, GoneRefusedAndEmptyAreThreeAnswers) {
  EXPECT_EQ(read(backend, 90, ROLLCALL_READ_ENVIRONMENT).code, ROLLCALL_E_NOT_FOUND);
  mac.at(77).info.pbi_uid = 0;
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_ENVIRONMENT).code, ROLLCALL_E_DENIED);
  mac.at(77).info.pbi_uid = FakeMac::kOwnUid;
  mac.at(77).arguments = argument_area(1, {"agent"}, {});
  const auto empty = read(backend, 77, ROLLCALL_READ_ENVIRONMENT);
  EXPECT_EQ(empty.code, ROLLCALL_OK);
  EXPECT_EQ(empty.bytes, "");
  mac.exit(77);
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_ENVIRONMENT).code, ROLLCALL_E_NOT_FOUND);
}

TEST_P(MacDetails, AProcessThatMayNotBeReadIsDenied) {
  mac.at(77).refused = EPERM;
  for (const std::uint32_t what :
       {ROLLCALL_READ_COMMAND, ROLLCALL_READ_CWD, ROLLCALL_READ_PARENT}) {
    EXPECT_EQ(read(backend, 77, what).code, ROLLCALL_E_DENIED) << what;
  }
}

// A success would mean that it has no parent.
TEST_P(MacDetails, AReadingThatFailedOnceIsNoEmptyAnswer) {
  mac.refuse_nth["proc_pidinfo"] = {1, EIO};
  const auto answer = read(backend, 77, ROLLCALL_READ_PARENT);
  EXPECT_EQ(answer.code, ROLLCALL_OK);
  EXPECT_EQ(answer.bytes, "50");
}

TEST_P(MacDetails, ABoundThatMakesNoSenseIsAnError) {
  mac.argument_limit = 0;
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_COMMAND).code, ROLLCALL_E_CORRUPT);
  mac.cut["argmax"] = 2;
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_COMMAND).code, ROLLCALL_E_CORRUPT);
}

TEST_P(MacDetails, TheDirectoryIsAPath) {
  mac.at(77).directory = "/Users/x/a b";
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_CWD).bytes, "/Users/x/a b");
  mac.cut["proc_pidinfo"] = 4;
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_CWD).code, ROLLCALL_E_CORRUPT);
}

TEST_P(MacDetails, AZombieHasNoDirectoryButAParent) {
  mac.exit(77);
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_CWD).code, ROLLCALL_E_NOT_FOUND);
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_PARENT).bytes, "50");
}

TEST_P(MacDetails, TheUsersAreTheRealTheEffectiveAndTheSavedOne) {
  mac.at(77).info.pbi_ruid = 7;
  mac.at(77).info.pbi_uid = 8;
  mac.at(77).info.pbi_svuid = 4294967294;
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_USERS).bytes, "7 8 4294967294");
}

TEST_P(MacDetails, TheNameMayHoldAnyBytes) {
  std::memcpy(mac.at(77).info.pbi_name, "a) \xFF\n", 6);
  EXPECT_EQ(read(backend, 77, ROLLCALL_READ_NAME).bytes, "a) \xFF\n");
}

TEST_P(MacDetails, AnUnknownReadingAndAnImpossiblePidAreRefused) {
  EXPECT_EQ(read(backend, 77, 99).code, ROLLCALL_E_INVALID);
  EXPECT_EQ(read(backend, -1, ROLLCALL_READ_NAME).code, ROLLCALL_E_NOT_FOUND);
  EXPECT_EQ(read(backend, 0, ROLLCALL_READ_NAME).code, ROLLCALL_E_NOT_FOUND);
}

ROLLCALL_BOTH_BUILDS(MacDetails);

}  // namespace
}  // namespace rollcall::testing
