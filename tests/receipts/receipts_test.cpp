// Receipts in a home: registering, finding, resolving, forgetting, and what is proven of each.
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "receipts/receipts_fixture.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test

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
  const auto file = file_of(registered.endpoint);
  const std::string successor = test::with(slurp(file), "rt_1", "rt_9");
  probe->answer(4242, {absent(4242)});
  open(true, [&](FileStore::Options& options) {
    options.before_step = [&](std::string_view step) {
      if (step != "take aside") return;
      std::ofstream(live() / "foreign-writer", std::ios::binary) << successor;
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

TEST_F(ReceiptsTest, OddFilesAreReportedAndNothingOfThemIsRemoved) {
  const auto registered = add("rt_1");
  const std::string good = slurp(file_of(registered.endpoint));
  const auto name = [](char digit) { return std::string(32, digit) + ".json"; };
  plant(name('1'), "");
  plant(name('2'), std::string(4096, '\0'));
  plant(name('3'), good.substr(0, good.size() / 2));
  plant("notes.json", "{}");
  plant(name('8'), test::with(good, "127.0.0.1", "10.0.0.1"));
  std::filesystem::create_directory(live() / name('5'));
  open(true);
  const auto before = names_in(live());
  const auto list = receipts->list({});
  ASSERT_TRUE(list) << list.error().error.message;
  EXPECT_EQ(list->receipts.size(), 1U);
  EXPECT_EQ(list->broken.size(), 6U);
  EXPECT_EQ(names_in(live()), before);
  for (const BrokenReceipt& broken : list->broken) {
    EXPECT_EQ(broken.reason.find("Very-Secret"), std::string::npos) << broken.reason;
  }
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

TEST_F(ReceiptsTest, AHeldLockIsWaitedForOnceAndNotOnceForEachReceipt) {
  auto first = add("rt_1", 4242);
  auto second = add("rt_2", 4243);
  open(true, [](FileStore::Options& options) { options.lock_timeout_ms = 0; });
  for (const std::int64_t pid : {4242, 4243}) {
    // The third reading is the test's own, if the one before the removal was taken.
    probe->answer(pid, {absent(pid), absent(pid), present(pid, "77")});
  }
  std::optional lock(home.hold_lock());
  const auto list = receipts->list({});
  ASSERT_TRUE(list);
  EXPECT_EQ(list->receipts.size(), 2U);
  EXPECT_EQ(list->warnings.size(), 2U) << "each receipt that was left is told of";
  int tried = 0;
  for (const std::int64_t pid : {4242, 4243}) {
    const Ask ask{pid, 0};
    Observation read;
    ASSERT_TRUE(probe->observe({&ask, 1}, {&read, 1}, {}));
    tried += read.presence == Presence::kPresent ? 1 : 0;
  }
  EXPECT_EQ(tried, 1);
  lock.reset();
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
