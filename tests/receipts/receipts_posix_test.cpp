// What receipts are to a POSIX system: modes, links, and files that are none.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <string>

#include "receipts/receipts_fixture.hpp"
#include "registry/posix_fixture.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test

TEST_F(ReceiptsTest, TheGuardRemovesItAndOnlyInTheProcessThatMadeIt) {
  std::string endpoint;
  {
    auto registered = add("rt_1");
    endpoint = registered.endpoint;
    auto child = Child::run([&] {
      { const Registration dropped(std::move(registered.guard)); }
      return std::filesystem::exists(file_of(endpoint)) ? 0 : 1;
    });
    EXPECT_EQ(child.wait(), 0);
    EXPECT_TRUE(std::filesystem::exists(file_of(endpoint)));
  }
  EXPECT_FALSE(std::filesystem::exists(file_of(endpoint)));
}

TEST_F(ReceiptsTest, FilesAndFoldersArePrivateUnderAnyUmask) {
  for (const mode_t mask : {mode_t{0}, mode_t{0777}}) {
    const mode_t before = ::umask(mask);
    const auto registered = add("rt_" + std::to_string(mask));
    ::umask(before);
    EXPECT_EQ(mode_of(home.path()), 0700U);
    EXPECT_EQ(mode_of(live()), 0700U);
    EXPECT_EQ(mode_of(file_of(registered.endpoint)), 0600U);
  }
}

TEST_F(ReceiptsTest, WorkspacesAreComparedCanonicalised) {
  const auto folder = home.dir() / "ws";
  const auto link = home.dir() / "link";
  std::filesystem::create_directory(folder);
  std::filesystem::create_directory_symlink(folder, link);
  NewReceipt receipt = wanted("rt_1");
  receipt.source.workspace = link.string() + "/.";
  const auto registered = receipts->register_receipt(std::move(receipt), {});
  ASSERT_TRUE(registered);
  const std::string real = std::filesystem::canonical(folder).string();
  for (const std::string& named : {link.string(), folder.string() + "/", real}) {
    const auto resolved = receipts->resolve(registered->endpoint, {"acp", "s1", named}, {});
    ASSERT_TRUE(resolved) << named;
    EXPECT_EQ(resolved->source.workspace, real);
  }
}

TEST_F(ReceiptsTest, PipesDevicesAndHugeFilesAreReportedAndNeverWaitedFor) {
  const auto registered = add("rt_1");
  const auto name = [](char digit) { return std::string(32, digit) + ".json"; };
  ASSERT_EQ(::mkfifo((live() / name('4')).c_str(), 0600), 0);
  plant(name('6'), "");
  std::filesystem::resize_file(live() / name('6'), std::uintmax_t{10} << 30);
  std::filesystem::create_symlink("/dev/zero", live() / name('7'));
  open(true);
  const auto before = names_in(live());
  const auto begun = std::chrono::steady_clock::now();
  const auto list = receipts->list({});
  EXPECT_LT(std::chrono::steady_clock::now() - begun, 10s);
  ASSERT_TRUE(list) << list.error().error.message;
  EXPECT_EQ(list->receipts.size(), 1U);
  EXPECT_EQ(list->broken.size(), 3U);
  EXPECT_EQ(names_in(live()), before);
}

TEST_F(ReceiptsTest, ALinkIsNeitherReadNorFollowed) {
  const auto registered = add("rt_1");
  const std::string other = "ff112233445566778899aabbccddeeff";
  home.dir().write("elsewhere.json",
                   test::with(slurp(file_of(registered.endpoint)),
                              registered.endpoint.substr(kEndpointPrefix.size()), other));
  std::filesystem::create_symlink(home.dir() / "elsewhere.json", live() / (other + ".json"));
  EXPECT_EQ(problem_of_resolve(format_endpoint(other), source), ReceiptProblem::kIo);
}

TEST_F(ReceiptsTest, ForgettingWhatCannotBeReadIsAFailureOfTheFile) {
  const auto registered = add("rt_1");
  const std::string id(32, '4');
  ASSERT_EQ(::mkfifo((live() / (id + ".json")).c_str(), 0600), 0);
  const auto forgotten = receipts->forget(format_endpoint(id), {});
  ASSERT_FALSE(forgotten);
  EXPECT_EQ(forgotten.error().problem, ReceiptProblem::kIo);
}

TEST_F(ReceiptsTest, AFolderThatIsALinkIsRefused) {
  std::filesystem::create_directories(home.path());
  std::filesystem::create_directory(home.dir() / "victim");
  std::filesystem::create_directory_symlink(home.dir() / "victim", live());
  const auto registered = receipts->register_receipt(wanted("rt_1"), {});
  ASSERT_FALSE(registered);
  EXPECT_EQ(registered.error().problem, ReceiptProblem::kIo);
  EXPECT_EQ(registered.error().error.code, ErrorCode::kDenied);
  EXPECT_FALSE(receipts->list({}));
  EXPECT_TRUE(std::filesystem::is_empty(home.dir() / "victim"));
}

TEST_F(ReceiptsTest, AFullDiskIsAnErrorAndLeavesNothing) {
  const auto kept = add("rt_1");
  auto child = Child::run([&] {
    ::signal(SIGXFSZ, SIG_IGN);
    const rlimit none{0, 0};
    ::setrlimit(RLIMIT_FSIZE, &none);
    const auto registered = receipts->register_receipt(wanted("rt_2"), {});
    return !registered && registered.error().problem == ReceiptProblem::kIo ? 0 : 1;
  });
  EXPECT_EQ(child.wait(), 0);
  EXPECT_EQ(names_in(live()).size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(file_of(kept.endpoint)));
}

}  // namespace
}  // namespace rollcall
