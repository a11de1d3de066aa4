#include <gtest/gtest.h>

#include <windows.h>
// After windows.h:
#include <aclapi.h>

#include <string>

#include "core/text_windows.hpp"
#include "regtool/config.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::regtool {
namespace {

class LoadConfig : public ::testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& bytes) {
    return testing::utf8(dir_.write(name, bytes));
  }
  testing::TempDir dir_;
};

TEST_F(LoadConfig, LaysTheHomesOverTheSystems) {
  const std::string system = put("system.json", R"({"gone":{"days":1},"quarantine":{"days":2}})");
  const std::string home = put("home.json", R"({"gone":{"days":5}})");
  const auto config = load_config(home, system);
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(config->gone_days, 5);
  EXPECT_EQ(config->quarantine_days, 2);
}

TEST_F(LoadConfig, TakesMissingFilesForNone) {
  EXPECT_TRUE(
      load_config(testing::utf8(dir_ / "none.json"), testing::utf8(dir_ / "nowhere/none.json")));
}

TEST_F(LoadConfig, RefusesADirectoryAndADevice) {
  EXPECT_FALSE(load_config(testing::utf8(dir_.path()), ""));
  EXPECT_FALSE(load_config("\\\\.\\NUL", ""));
}

TEST_F(LoadConfig, RefusesAHugeFile) {
  const auto config = load_config(put("c.json", std::string(70'000, ' ')), "");
  ASSERT_FALSE(config);
  EXPECT_NE(config.error().text.find("larger than"), std::string::npos);
}

TEST_F(LoadConfig, RefusesAFileThatOthersCanWrite) {
  const std::string path = put("c.json", "{}");
  auto wide = core::widen(path);
  wchar_t everyone[] = L"Everyone";
  EXPLICIT_ACCESSW grant{};
  grant.grfAccessPermissions = GENERIC_ALL;
  grant.grfAccessMode = SET_ACCESS;
  grant.Trustee.TrusteeForm = TRUSTEE_IS_NAME;
  grant.Trustee.ptstrName = everyone;
  PACL list = nullptr;
  ASSERT_EQ(::SetEntriesInAclW(1, &grant, nullptr, &list), static_cast<DWORD>(ERROR_SUCCESS));
  ASSERT_EQ(::SetNamedSecurityInfoW(wide->data(), SE_FILE_OBJECT, DACL_SECURITY_INFORMATION,
                                    nullptr, nullptr, list, nullptr),
            static_cast<DWORD>(ERROR_SUCCESS));
  ::LocalFree(list);
  const auto config = load_config(path, "");
  ASSERT_FALSE(config);
  EXPECT_EQ(config.error().code, "config");
  EXPECT_NE(config.error().text.find("is not trusted"), std::string::npos) << config.error().text;
}

}  // namespace
}  // namespace rollcall::regtool
