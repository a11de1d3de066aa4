// Receipts in a home: registering, finding, resolving, forgetting, and what is proven of each.
#include <gtest/gtest.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/wait.h>

#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>

#include "receipts/receipt_samples.hpp"
#include "registry/posix_fixture.hpp"
#include "support/fakes.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test
using test::absent;
using test::FakeProbe;
using test::kReceiptToken;
using test::present;
using test::unreadable;

class ReceiptsTest : public ::testing::Test {
 protected:
  ReceiptsTest() { open(); }

  void open(bool prune = false, const Home::Tweak& tweak = {}) {
    files = home.open([&](FileStore::Options& options) {
      options.folder = std::string(kReceiptsFolder);
      if (tweak) tweak(options);
    });
    auto opened =
        Receipts::open({.files = files, .probe = probe, .clock = home.clock, .prune = prune});
    ASSERT_TRUE(opened) << opened.error().message;
    receipts = std::move(*opened);
  }

  // Of a process that runs, unless it is told otherwise.
  NewReceipt wanted(const std::string& runtime, std::int64_t pid = 4242) {
    probe->answer(pid, {present(pid, "77")});
    NewReceipt receipt;
    receipt.runtime_session_id = runtime;
    receipt.source = {"acp", "s1", "/no/such/workspace"};
    receipt.base_url = "http://127.0.0.1:4096";
    receipt.token = std::string(kReceiptToken);
    receipt.process = {
        .pid = pid, .start_token = "77", .boot_id = "boot-a", .host_id = "hash-host"};
    return receipt;
  }
  RegisteredReceipt add(const std::string& runtime, std::int64_t pid = 4242) {
    auto registered = receipts->register_receipt(wanted(runtime, pid), {});
    EXPECT_TRUE(registered) << registered.error().error.message;
    return std::move(*registered);
  }
  [[nodiscard]] std::filesystem::path live() const { return home.path() / "live"; }
  [[nodiscard]] std::filesystem::path file_of(const std::string& endpoint) const {
    return live() / (endpoint.substr(kEndpointPrefix.size()) + ".json");
  }
  // Writes a file as a foreign program would.
  void plant(const std::string& name, const std::string& bytes) const {
    home.dir().write("home/live/" + name, bytes);
    std::filesystem::permissions(home.path(), std::filesystem::perms::owner_all);
    std::filesystem::permissions(live(), std::filesystem::perms::owner_all);
  }
  ReceiptProblem problem_of_resolve(const std::string& endpoint, const ReceiptSource& named) {
    const auto resolved = receipts->resolve(endpoint, named, {});
    if (resolved) return static_cast<ReceiptProblem>(99);
    EXPECT_EQ(resolved.error().error.message.find("Very-Secret"), std::string::npos);
    return resolved.error().problem;
  }

  Home home;
  std::shared_ptr<FakeProbe> probe = std::make_shared<FakeProbe>();
  std::shared_ptr<FileStore> files;
  std::unique_ptr<Receipts> receipts;
  ReceiptSource source{"acp", "s1", "/no/such/workspace"};
};

TEST_F(ReceiptsTest, ARegisteredOneIsFoundDiscoveredAndResolved) {
  const auto registered = add("rt_1");
  const auto found = receipts->find("rt_1", {});
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->endpoint, registered.endpoint);
  EXPECT_EQ((*found)->state, ProcessState::kAlive);
  EXPECT_EQ((*found)->metadata.endpoint_capabilities, (std::vector<std::string>{"http", "acp"}));
  const auto discovered = receipts->discover(source, {});
  ASSERT_TRUE(discovered && *discovered);
  EXPECT_EQ((*discovered)->endpoint, registered.endpoint);
  const auto resolved = receipts->resolve(registered.endpoint, source, {});
  ASSERT_TRUE(resolved) << resolved.error().error.message;
  EXPECT_EQ(resolved->token, kReceiptToken);
  EXPECT_EQ(resolved->base_url, "http://127.0.0.1:4096");
  EXPECT_EQ(resolved->pid, 4242);
}

TEST_F(ReceiptsTest, GivenMetadataWithoutCapabilitiesMeansNone) {
  NewReceipt receipt = wanted("rt_1");
  receipt.metadata = ReceiptMetadata{.profile = "p"};
  const auto registered = receipts->register_receipt(std::move(receipt), {});
  ASSERT_TRUE(registered);
  const auto found = receipts->find("rt_1", {});
  ASSERT_TRUE(found && *found);
  EXPECT_TRUE((*found)->metadata.endpoint_capabilities.empty());
}

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

TEST_F(ReceiptsTest, WhatIsNoReceiptIsRefusedAndNothingIsWritten) {
  const auto refused = [&](auto change) {
    NewReceipt receipt = wanted("rt_1");
    change(receipt);
    const auto registered = receipts->register_receipt(std::move(receipt), {});
    return !registered && registered.error().problem == ReceiptProblem::kInvalidReceipt &&
           registered.error().error.message.find("Very-Secret") == std::string::npos;
  };
  EXPECT_TRUE(refused([](NewReceipt& r) { r.runtime_session_id = "  "; }));
  EXPECT_TRUE(refused([](NewReceipt& r) { r.source.harness = ""; }));
  EXPECT_TRUE(refused([](NewReceipt& r) { r.token = ""; }));
  EXPECT_TRUE(refused([](NewReceipt& r) { r.base_url = "http://localhost:80@evil.example/"; }));
  EXPECT_TRUE(refused([](NewReceipt& r) { r.base_url = "https://127.0.0.1:1"; }));
  EXPECT_FALSE(std::filesystem::exists(home.path()));
}

TEST_F(ReceiptsTest, AWriterThatCannotReadWhoItIsWritesNothing) {
  probe->me.self.boot_id.reset();
  const auto registered = receipts->register_receipt(wanted("rt_1"), {});
  ASSERT_FALSE(registered);
  EXPECT_EQ(registered.error().problem, ReceiptProblem::kUnverified);
  EXPECT_FALSE(std::filesystem::exists(home.path()));
}

TEST_F(ReceiptsTest, FilesAndFoldersArePrivateUnderAnyUmask) {
  for (const mode_t mask : {0000, 0777}) {
    const mode_t before = ::umask(mask);
    const auto registered = add("rt_" + std::to_string(mask));
    ::umask(before);
    EXPECT_EQ(mode_of(home.path()), 0700U);
    EXPECT_EQ(mode_of(live()), 0700U);
    EXPECT_EQ(mode_of(file_of(registered.endpoint)), 0600U);
  }
}

TEST_F(ReceiptsTest, AreListedNewestFirstThenById) {
  home.clock->shift_ns = 0;
  const auto first = add("rt_1");
  home.clock->shift_ns = 3 * kSecond;
  const auto second = add("rt_2");
  const auto list = receipts->list({});
  ASSERT_TRUE(list);
  ASSERT_EQ(list->receipts.size(), 2U);
  EXPECT_EQ(list->receipts[0].runtime_session_id, "rt_2");
  EXPECT_EQ(list->receipts[1].runtime_session_id, "rt_1");
}

TEST_F(ReceiptsTest, SeveralOfOneRuntimeAreAmbiguous) {
  const auto one = add("rt_1", 4242);
  const auto two = add("rt_1", 4243);
  const auto found = receipts->find("rt_1", {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().problem, ReceiptProblem::kAmbiguous);
  probe->answer(4243, {absent(4243)});
  const auto again = receipts->find("rt_1", {});
  ASSERT_TRUE(again && *again);
  EXPECT_EQ((*again)->pid, 4242);
}

TEST_F(ReceiptsTest, OneThatCannotBeToldCountsAndYieldsNothing) {
  const auto registered = add("rt_1");
  probe->answer(4242, {unreadable(4242, "no permission")});
  const auto found = receipts->find("rt_1", {});
  ASSERT_TRUE(found && *found);
  EXPECT_EQ((*found)->state, ProcessState::kUnverified);
  EXPECT_EQ(problem_of_resolve(registered.endpoint, source), ReceiptProblem::kUnverified);
  open(true);
  ASSERT_TRUE(receipts->list({}));
  EXPECT_TRUE(std::filesystem::exists(file_of(registered.endpoint)));
}

TEST_F(ReceiptsTest, OneWhoseProcessIsGoneIsNotLiveAndPrunedWhereAskedFor) {
  const auto registered = add("rt_1");
  probe->answer(4242, {absent(4242)});
  EXPECT_EQ(problem_of_resolve(registered.endpoint, source), ReceiptProblem::kNotLive);
  const auto found = receipts->find("rt_1", {});
  ASSERT_TRUE(found);
  EXPECT_FALSE(*found);
  EXPECT_TRUE(std::filesystem::exists(file_of(registered.endpoint)));
  open(true);
  const auto list = receipts->list({});
  ASSERT_TRUE(list);
  ASSERT_EQ(list->pruned.size(), 1U);
  EXPECT_EQ(list->pruned[0].reason, "no process holds pid 4242");
  EXPECT_TRUE(list->receipts.empty());
  EXPECT_FALSE(std::filesystem::exists(file_of(registered.endpoint)));
}

TEST_F(ReceiptsTest, AnotherProcessOnThePidIsNotLive) {
  const auto registered = add("rt_1");
  probe->answer(4242, {present(4242, "78")});
  EXPECT_EQ(problem_of_resolve(registered.endpoint, source), ReceiptProblem::kNotLive);
}

TEST_F(ReceiptsTest, OneThatIsGoneOnTheFirstReadingAloneStays) {
  const auto registered = add("rt_1");
  probe->answer(4242, {absent(4242), present(4242, "77")});
  open(true);
  const auto list = receipts->list({});
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->pruned.empty());
  ASSERT_EQ(list->receipts.size(), 1U);
  EXPECT_EQ(list->receipts[0].state, ProcessState::kAlive);
  EXPECT_TRUE(std::filesystem::exists(file_of(registered.endpoint)));
}

TEST_F(ReceiptsTest, APruneRemovesNoSuccessor) {
  const auto registered = add("rt_1");
  const std::string file = file_of(registered.endpoint);
  const std::string successor = test::with(slurp(file), "rt_1", "rt_9");
  probe->answer(4242, {absent(4242)});
  open(true, [&](FileStore::Options& options) {
    options.before_step = [&](std::string_view step) {
      if (step != "take aside") return;
      std::ofstream(live() / "foreign-writer") << successor;
      std::filesystem::rename(live() / "foreign-writer", file);
    };
  });
  const auto list = receipts->list({});
  ASSERT_TRUE(list);
  EXPECT_TRUE(list->pruned.empty());
  EXPECT_EQ(slurp(file), successor);
}

TEST_F(ReceiptsTest, AnotherSourceIsAMismatch) {
  const auto registered = add("rt_1");
  for (const ReceiptSource& other :
       {ReceiptSource{"acp", "s2", source.workspace}, ReceiptSource{"abc", "s1", source.workspace},
        ReceiptSource{"acp", "s1", "/elsewhere"}, ReceiptSource{"ACP", "s1", source.workspace}}) {
    EXPECT_EQ(problem_of_resolve(registered.endpoint, other), ReceiptProblem::kIdentityMismatch);
    const auto discovered = receipts->discover(other, {});
    ASSERT_TRUE(discovered);
    EXPECT_FALSE(*discovered);
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

TEST_F(ReceiptsTest, AnEndpointOfNoReceiptIsNotLiveAndABadOneIsInvalid) {
  EXPECT_EQ(problem_of_resolve(format_endpoint(test::kReceiptId), source),
            ReceiptProblem::kNotLive);
  EXPECT_EQ(problem_of_resolve("rollcall-live://../x", source), ReceiptProblem::kInvalidEndpoint);
  EXPECT_FALSE(std::filesystem::exists(home.path()));
}

TEST_F(ReceiptsTest, TheInnerIdMustBeTheFilesName) {
  const auto registered = add("rt_1");
  const std::string other = "ff112233445566778899aabbccddeeff";
  plant(other + ".json", slurp(file_of(registered.endpoint)));
  EXPECT_EQ(problem_of_resolve(format_endpoint(other), source), ReceiptProblem::kIdentityMismatch);
}

TEST_F(ReceiptsTest, ForgettingIsIdempotentAndRemovesTheReceiptOnly) {
  auto registered = add("rt_1");
  const auto kept = add("rt_2");
  EXPECT_TRUE(receipts->forget(registered.endpoint, {}).value());
  EXPECT_FALSE(receipts->forget(registered.endpoint, {}).value());
  EXPECT_FALSE(receipts->forget("nonsense", {}));
  EXPECT_TRUE(std::filesystem::exists(file_of(kept.endpoint)));
}

TEST_F(ReceiptsTest, ForgettingWhatCannotBeReadIsAFailureOfTheFile) {
  const auto registered = add("rt_1");
  const std::string id(32, '4');
  ASSERT_EQ(::mkfifo((live() / (id + ".json")).c_str(), 0600), 0);
  const auto forgotten = receipts->forget(format_endpoint(id), {});
  ASSERT_FALSE(forgotten);
  EXPECT_EQ(forgotten.error().problem, ReceiptProblem::kIo);
}

TEST_F(ReceiptsTest, OddFilesAreReportedAndNothingOfThemIsRemoved) {
  const auto registered = add("rt_1");
  const std::string good = slurp(file_of(registered.endpoint));
  const auto name = [](char digit) { return std::string(32, digit) + ".json"; };
  plant(name('1'), "");
  plant(name('2'), std::string(4096, '\0'));
  plant(name('3'), good.substr(0, good.size() / 2));
  plant("notes.json", "{}");
  plant(name('8'), test::with(good, "127.0.0.1", "10.0.0.1"));
  ASSERT_EQ(::mkfifo((live() / name('4')).c_str(), 0600), 0);
  std::filesystem::create_directory(live() / name('5'));
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
  EXPECT_EQ(list->broken.size(), 9U);
  EXPECT_EQ(names_in(live()), before);
  for (const BrokenReceipt& broken : list->broken) {
    EXPECT_EQ(broken.reason.find("Very-Secret"), std::string::npos) << broken.reason;
  }
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

TEST_F(ReceiptsTest, CleaningUpMovesAsideWhatIsNoReceiptAndOldAndSaysSoBefore) {
  const auto registered = add("rt_1");
  const std::string name = std::string(32, '1') + ".json";
  plant(name, "{}");
  plant(std::string(32, '2') + ".json",
        test::with(slurp(file_of(registered.endpoint)), "receipt/1", "receipt/2"));
  plant(".w~0011223344556677.tmp", "half");
  EXPECT_TRUE(receipts->clean_up(false, {}).value().quarantined.empty()) << "it is young";
  home.clock->shift_ns = 2 * kMinute;
  const auto told = receipts->clean_up(true, {});
  ASSERT_TRUE(told);
  EXPECT_EQ(told->quarantined, std::vector<std::string>{name});
  EXPECT_TRUE(std::filesystem::exists(live() / name));
  ASSERT_TRUE(receipts->clean_up(false, {}));
  EXPECT_FALSE(std::filesystem::exists(live() / name));
  EXPECT_FALSE(std::filesystem::exists(live() / ".w~0011223344556677.tmp"));
  EXPECT_EQ(names_in(home.path() / "quarantine").size(), 1U);
  EXPECT_TRUE(std::filesystem::exists(live() / (std::string(32, '2') + ".json")));
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

TEST_F(ReceiptsTest, AReadOnlyHomeIsReadAndNotPruned) {
  auto registered = add("rt_1");
  probe->answer(4242, {absent(4242)});
  open(true, [](FileStore::Options& options) { options.read_only = true; });
  const auto list = receipts->list({});
  ASSERT_TRUE(list);
  ASSERT_EQ(list->receipts.size(), 1U);
  EXPECT_EQ(list->receipts[0].state, ProcessState::kGone);
  EXPECT_TRUE(std::filesystem::exists(file_of(registered.endpoint)));
}

TEST_F(ReceiptsTest, AStoreOfRecordsIsNoneOfReceipts) {
  EXPECT_FALSE(
      Receipts::open({.files = home.open(), .probe = probe, .clock = home.clock}).has_value());
}

}  // namespace
}  // namespace rollcall
