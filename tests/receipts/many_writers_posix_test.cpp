// Many processes that register at once, on the platform's own backend.
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "receipts/receipt_samples.hpp"
#include "support/process.hpp"
#include "support/rig.hpp"

namespace rollcall {
namespace {

using testing::Child;

constexpr int kWriters = 50;

std::unique_ptr<Receipts> receipts_of(const test::Rig& rig) {
  FileStore::Options options;
  options.home = rig.home_path;
  options.clock = system_clock();
  options.folder = std::string(kReceiptsFolder);
  options.lock_timeout_ms = 60'000;  // a busy machine is no fault
  auto files = FileStore::open(std::move(options));
  return Receipts::open({.files = *files, .probe = rig.probe, .clock = system_clock()}).value();
}

TEST(ManyReceipts, OfOneRuntimeAreAllKeptAndAmbiguous) {
  const test::Rig rig;
  ASSERT_EQ(rig.problem, "");
  std::array<int, 2> ready{};
  std::array<int, 2> done{};
  ASSERT_EQ(::pipe(ready.data()), 0);
  ASSERT_EQ(::pipe(done.data()), 0);
  std::vector<Child> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.push_back(Child::run([&] {
      ::close(done[1]);
      const auto receipts = receipts_of(rig);
      NewReceipt receipt;
      receipt.runtime_session_id = "rt_same";
      receipt.source = {"acp", "s1", "/"};
      receipt.base_url = "http://127.0.0.1:4096";
      receipt.token = "t";
      const auto registered = receipts->register_receipt(std::move(receipt), {});
      const char said = registered ? 'y' : 'n';
      if (::write(ready[1], &said, 1) != 1) return 1;
      char word = 0;
      (void)!::read(done[0], &word, 1);  // until the test closes its end
      return registered ? 0 : 2;
    }));
  }
  ::close(done[0]);
  for (int i = 0; i < kWriters; ++i) {
    char said = 0;
    ASSERT_EQ(::read(ready[0], &said, 1), 1);
    EXPECT_EQ(said, 'y');
  }
  const auto receipts = receipts_of(rig);
  const auto list = receipts->list({});
  ASSERT_TRUE(list) << list.error().error.message;
  EXPECT_EQ(list->receipts.size(), std::size_t{kWriters});
  std::set<std::int64_t> pids;
  for (const ReceiptView& view : list->receipts) {
    EXPECT_EQ(view.state, ProcessState::kAlive) << view.reason;
    pids.insert(view.pid);
  }
  EXPECT_EQ(pids.size(), std::size_t{kWriters});
  const auto found = receipts->find("rt_same", {});
  ASSERT_FALSE(found);
  EXPECT_EQ(found.error().problem, ReceiptProblem::kAmbiguous);
  ::close(done[1]);
  for (Child& writer : writers) EXPECT_EQ(writer.wait(), 0);
  const auto left = receipts->list({});
  ASSERT_TRUE(left);
  EXPECT_TRUE(left->receipts.empty()) << "their guards removed them";
  ::close(ready[0]);
  ::close(ready[1]);
}

TEST(ManySessions, OfOneIdHaveOneWinner) {
  const test::Rig rig;
  ASSERT_EQ(rig.problem, "");
  std::array<int, 2> said{};
  std::array<int, 2> done{};
  ASSERT_EQ(::pipe(said.data()), 0);
  ASSERT_EQ(::pipe(done.data()), 0);
  std::vector<Child> writers;
  for (int i = 0; i < kWriters; ++i) {
    writers.push_back(Child::run([&] {
      ::close(done[1]);
      FileStore::Options store;
      store.home = rig.home_path;
      store.clock = system_clock();
      store.lock_timeout_ms = 60'000;
      Registry::Options options;
      options.files = FileStore::open(std::move(store)).value();
      options.store = options.files;
      options.probe = rig.probe;
      options.clock = system_clock();
      const auto registry = Registry::open(std::move(options)).value();
      Record record;
      record.session_id = "same";
      record.workdir = "/";
      auto registered = registry->register_session(record, {}, {});
      const bool lost = !registered && registered.error().code == ErrorCode::kExists;
      const char word = registered ? 'w' : lost ? 'l' : 'e';
      if (::write(said[1], &word, 1) != 1) return 1;
      char end = 0;
      (void)!::read(done[0], &end, 1);
      return registered || lost ? 0 : 2;
    }));
  }
  ::close(done[0]);
  std::string words;
  for (int i = 0; i < kWriters; ++i) {
    char word = 0;
    ASSERT_EQ(::read(said[0], &word, 1), 1);
    words += word;
  }
  EXPECT_EQ(std::count(words.begin(), words.end(), 'w'), 1) << words;
  EXPECT_EQ(std::count(words.begin(), words.end(), 'l'), kWriters - 1) << words;
  const auto view = rig.registry->verify("same", false, {});
  ASSERT_TRUE(view) << view.error().message;
  EXPECT_EQ(view->process.state, ProcessState::kAlive);
  ::close(done[1]);
  for (Child& writer : writers) EXPECT_EQ(writer.wait(), 0);
  EXPECT_FALSE(rig.has_record("same"));
  ::close(said[0]);
  ::close(said[1]);
}

}  // namespace
}  // namespace rollcall
