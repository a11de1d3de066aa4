#include <gtest/gtest.h>

#include <windows.h>

#include <string>

#include "core/native_windows.hpp"
#include "core/paths.hpp"

namespace rollcall::core {
namespace {

TEST(IsAbsolutePath, WantsADriveOrAShareBeforeTheFirstSeparator) {
  for (const char* path :
       {"C:\\", "c:/x", "C:\\x\\y", "\\\\server\\share", "//server/share/x", "\\\\?\\C:\\x"}) {
    EXPECT_TRUE(is_absolute_path(path)) << path;
  }
  for (const char* path : {"", "x", "\\x", "/x", "C:", "C:x", "1:\\x", "\\\\", "\\\\server",
                           "\\\\server\\", "\\\\.\\pipe\\x", "\\\\?\\pipe", "\\??\\C:\\x"}) {
    EXPECT_FALSE(is_absolute_path(path)) << path;
  }
}

TEST(IsRootPath, TellsADiskFromWhatIsOnIt) {
  for (const char* path : {"C:\\", "c:/", "\\\\server\\share", "\\\\?\\C:\\"}) {
    EXPECT_TRUE(is_root_path(path)) << path;
  }
  for (const char* path : {"C:\\x", "\\\\server\\share\\x", "x"}) {
    EXPECT_FALSE(is_root_path(path)) << path;
  }
}

TEST(CleanPath, DropsWhatStandsForTheSameAtTheEnd) {
  EXPECT_EQ(clean_path("C:/a/b/"), "C:\\a\\b");
  EXPECT_EQ(clean_path("C:\\a\\b\\.\\"), "C:\\a\\b");
  EXPECT_EQ(clean_path("C:\\a.\\b"), "C:\\a.\\b");
  EXPECT_EQ(clean_path("C:\\"), "C:\\");
  EXPECT_EQ(clean_path("C:\\."), "C:\\");
  EXPECT_EQ(clean_path("\\\\server\\share\\"), "\\\\server\\share");
}

TEST(JoinPath, PutsOneSeparatorBetween) {
  EXPECT_EQ(join_path("C:\\a", "b"), "C:\\a\\b");
  EXPECT_EQ(join_path("C:\\", "b"), "C:\\b");
}

TEST(LongPath, LiftsTheLimitAndResolvesDots) {
  EXPECT_EQ(*native::long_path("C:/a/./b/../c"), L"\\\\?\\C:\\a\\c");
  EXPECT_EQ(*native::long_path("\\\\server\\share\\x"), L"\\\\?\\UNC\\server\\share\\x");
  const std::string name(200, 'n');
  const auto path = native::long_path("C:\\" + name + "\\" + name);
  ASSERT_TRUE(path) << path.error().message;
  EXPECT_EQ(path->size(), 4U + 3 + 401);
}

TEST(LongPath, RefusesDevicesAndWhatIsNoPath) {
  for (const std::string& path : {std::string("\\\\.\\C:"), std::string("x"),
                                  std::string("C:\\\xFF"), std::string("C:\\a\0b", 6)}) {
    const auto refused = native::long_path(path);
    ASSERT_FALSE(refused) << path;
    EXPECT_EQ(refused.error().code, ErrorCode::kInvalid);
  }
}

}  // namespace
}  // namespace rollcall::core
