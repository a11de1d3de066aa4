// The process table, and what a process was started with, on a fake Windows.
#include <gtest/gtest.h>

#include <cstring>

#include "fake_system.hpp"

namespace rollcall::testing {
namespace {

using windows_backend::Probe;
using namespace std::string_literals;

class Details : public ::testing::Test {
 protected:
  FakeWindows windows;
  Probe probe{windows.table()};
};

TEST_F(Details, GiveCommandEnvironmentAndDirectory) {
  windows.start(4240, {});
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_COMMAND).bytes, "sleep.exe\0"s + "600\0"s);
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_ENVIRONMENT).bytes, "A=1\0B=2\0"s);
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_CWD).bytes, "C:\\work");
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_NAME).bytes, "sleep.exe");
}

TEST_F(Details, AreReadOfA32BitProcessToo) {
  windows.start(4240, {.command = u"old.exe x", .narrow = true});
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_COMMAND).bytes, "old.exe\0"s + "x\0"s);
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_ENVIRONMENT).bytes, "A=1\0B=2\0"s);
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_CWD).bytes, "C:\\work");
}

TEST_F(Details, CountArgumentsAndNeverTakeThemForTheEnvironment) {
  windows.start(4240, {.command = u"a.exe HYOUI_SESSION_ID=evil \"a b\" \u00E9"});
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_COMMAND).bytes,
            "a.exe\0HYOUI_SESSION_ID=evil\0a b\0\xC3\xA9\0"s);
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_ENVIRONMENT).bytes, "A=1\0B=2\0"s);
}

TEST_F(Details, TellEmptyFromRefusedFromGone) {
  windows.start(4240, {.environment = std::u16string(1, u'\0')});
  const auto empty = read(probe, 4240, ROLLCALL_READ_ENVIRONMENT);
  EXPECT_EQ(empty.code, ROLLCALL_OK);
  EXPECT_EQ(empty.bytes, "");
  windows.processes[4240].read_error = windows_backend::kAccessDenied;
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_ENVIRONMENT).code, ROLLCALL_E_DENIED);
  windows.processes.erase(4240);
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_ENVIRONMENT).code, ROLLCALL_E_NOT_FOUND);
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_NAME).code, ROLLCALL_E_NOT_FOUND);
}

TEST_F(Details, OfAnExitedProcessAreGone) {
  windows.start(4240, {});
  windows.processes[4240].exited = true;
  windows.fails["read_memory"] = windows_backend::kPartialCopy;
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_COMMAND).code, ROLLCALL_E_NOT_FOUND);
}

TEST_F(Details, ThatCannotBeReadAreAnError) {
  windows.start(4240, {});
  for (const auto& [call, code] : {std::pair{"peb", 31U}, {"read_memory", 299U}}) {
    windows.fails = {{call, code}};
    EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_COMMAND).code, ROLLCALL_E_IO) << call;
    EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_ENVIRONMENT).code, ROLLCALL_E_IO) << call;
  }
}

TEST_F(Details, OfTheKernelsOwnProcessesThereAreNone) {
  windows.processes[4240] = {};  // no PEB
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_COMMAND).code, ROLLCALL_E_UNSUPPORTED);
}

TEST_F(Details, DoNotFollowAPointerThatLeadsNowhere) {
  windows.start(4240, {});
  windows.processes[4240].memory.erase(0x20000);  // the parameters
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_COMMAND).code, ROLLCALL_E_IO);
  windows.start(4240, {});
  windows.processes[4240].memory[0x50000].resize(4);  // less environment than its size says
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_ENVIRONMENT).code, ROLLCALL_E_IO);
}

TEST_F(Details, RefuseAnEnvironmentThatIsCutOrHuge) {
  windows.start(4240, {.environment = u"A=1"});
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_ENVIRONMENT).code, ROLLCALL_E_CORRUPT);
  windows.start(4240, {});
  const std::uint64_t huge = UINT64_MAX;
  const auto at = windows_backend::parameter_layout(false).environment_size;
  std::memcpy(windows.processes[4240].memory[0x20000].data() + at, &huge, sizeof huge);
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_ENVIRONMENT).code, ROLLCALL_E_TOO_LARGE);
}

// The process makes its environment anew while it is read: the second reading counts.
TEST_F(Details, ReadAnEnvironmentAgainThatChanges) {
  windows.start(4240, {});
  int readings = 0;
  windows.before_read = [&] {
    if (++readings == 3) {
      windows.start(4240, {.environment = std::u16string(u"NEW=3\0\0", 7)});
    }
  };
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_ENVIRONMENT).bytes, "NEW=3\0"s);
}

TEST_F(Details, GiveUpOnAnEnvironmentThatNeverRests) {
  windows.start(4240, {});
  int readings = 0;
  windows.before_read = [&] {
    std::u16string environment(static_cast<std::size_t>(++readings), u'A');
    environment += std::u16string(2, u'\0');
    windows.start(4240, {.environment = environment});
  };
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_ENVIRONMENT).code, ROLLCALL_E_IO);
}

TEST_F(Details, AreNotReadThroughAnotherProcess) {
  windows.start(4240, {});
  EXPECT_EQ(read(probe, 4243, ROLLCALL_READ_COMMAND).code, ROLLCALL_E_NOT_FOUND);
}

TEST_F(Details, OfAnImpossiblePidAreNotFoundWithoutACall) {
  for (const std::int64_t pid : {INT64_C(0), INT64_C(-4), INT64_MAX}) {
    EXPECT_EQ(read(probe, pid, ROLLCALL_READ_COMMAND).code, ROLLCALL_E_NOT_FOUND);
  }
  EXPECT_TRUE(windows.counts.empty());
}

TEST_F(Details, ThatNobodyKnowsAreInvalid) {
  windows.start(4240, {});
  EXPECT_EQ(read(probe, 4240, 99).code, ROLLCALL_E_INVALID);
}

TEST_F(Details, NameTheParentThatIsOlder) {
  windows.processes[4000] = {.created = 100};
  windows.processes[4240] = {.created = 200, .parent = 4000};
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_PARENT).bytes, "4000");
}

// The parent has gone, and its number is another's by now.
TEST_F(Details, NameNoParentThatIsYoungerThanItsChild) {
  windows.processes[4000] = {.created = 300};
  windows.processes[4240] = {.created = 200, .parent = 4000};
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_PARENT).code, ROLLCALL_E_NOT_FOUND);
  EXPECT_EQ(list(probe)[4240], -1);
}

TEST_F(Details, NameNoParentThatHasGone) {
  windows.processes[4240] = {.parent = 4000};
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_PARENT).code, ROLLCALL_E_NOT_FOUND);
}

TEST_F(Details, NameNoParentWhoseStartCannotBeRead) {
  windows.processes[4000] = {.open_error = windows_backend::kAccessDenied};
  windows.processes[4240] = {.parent = 4000};
  EXPECT_EQ(read(probe, 4240, ROLLCALL_READ_PARENT).code, ROLLCALL_E_DENIED);
  EXPECT_EQ(list(probe)[4240], -1);
}

TEST_F(Details, ListAThousandProcessesWithTheirParents) {
  for (std::uint32_t i = 1; i <= 1000; ++i) {
    windows.processes[i * 4] = {.created = 1000 + i, .parent = i == 1 ? 0U : 4U};
  }
  const auto all = list(probe);
  EXPECT_EQ(all.size(), 1001U);  // and ourselves; the idle process 0 is none
  EXPECT_EQ(all.count(0), 0U);
  EXPECT_EQ(all.at(4), -1);
  EXPECT_EQ(all.at(4000), 4);
}

TEST_F(Details, ListIsAnErrorWhereTheSnapshotFails) {
  windows.fails["processes"] = 8;
  const rollcall_pid_sink sink = {sizeof sink, 0, nullptr,
                                  [](void*, std::int64_t, std::int64_t) { return 0; }};
  const auto status = probe.list(plugin::PidSink(&sink), unbounded());
  EXPECT_EQ(status.code(), ROLLCALL_E_IO);
  EXPECT_EQ(status.os_code(), 8);
}

TEST_F(Details, ListEndsWhereTheHostWantsNoMore) {
  for (std::uint32_t i = 1; i <= 10; ++i) windows.processes[i * 4] = {};
  int calls = 0;
  const rollcall_pid_sink sink = {sizeof sink, 0, &calls,
                                  [](void* context, std::int64_t, std::int64_t) -> std::int32_t {
                                    ++*static_cast<int*>(context);
                                    return ROLLCALL_E_TOO_LARGE;
                                  }};
  EXPECT_EQ(probe.list(plugin::PidSink(&sink), unbounded()).code(), ROLLCALL_E_TOO_LARGE);
  EXPECT_EQ(calls, 1);
}

}  // namespace
}  // namespace rollcall::testing
