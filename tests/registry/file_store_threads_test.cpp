// One store, many threads.
#include <gtest/gtest.h>

#include <atomic>
#include <string>
#include <thread>
#include <vector>

#include "registry/store_fixture.hpp"

namespace rollcall {
namespace {

using namespace testing;  // NOLINT: a test

// Creates, replaces, prunes, undoes and removes one id. Returns how many steps failed.
int change_one(FileStore& store, const std::string& id) {
  int failures = 0;
  CHILD_CHECK(failures, store.create_if_absent(id, record_bytes(id), {}));
  auto stored = store.read(id, {});
  CHILD_CHECK(failures, stored && store.replace_if(id, stored->version, record_bytes(id, "b"), {}));
  stored = store.read(id, {});
  CHILD_CHECK(failures, stored && store.archive_gone(*stored, sample_record(id), {}, {}));
  CHILD_CHECK(failures, store.undo_gone(id, {}));
  stored = store.read(id, {});
  CHILD_CHECK(failures, stored && store.remove_if(id, stored->version, {}));
  return failures;
}

TEST(FileStoreThreads, ShareOneStore) {
  const Home home;
  const auto store = home.open();
  ASSERT_TRUE(store->create_if_absent("kept", record_bytes("kept"), {}));
  std::atomic<int> failures{0};
  std::atomic<bool> stop{false};
  std::thread reader([&] {
    while (!stop.load()) {
      const auto records = store->list({});
      if (!records || !store->read("kept", {})) failures.fetch_add(1);
      if (!store->list_gone({}) || !store->list_orphan_controls({})) failures.fetch_add(1);
    }
  });
  std::vector<std::thread> writers;
  for (int writer = 0; writer < 4; ++writer) {
    writers.emplace_back([&, writer] {
      store->set_writer({.pid = 1 + writer, .start_token = "1"});
      for (int round = 0; round < 5; ++round) {
        failures.fetch_add(change_one(*store, "w" + std::to_string(writer)));
      }
    });
  }
  for (std::thread& writer : writers) writer.join();
  stop.store(true);
  reader.join();
  EXPECT_EQ(failures.load(), 0);
  EXPECT_EQ(names_in(home.running()), std::vector<std::string>{"kept.json"});
}

}  // namespace
}  // namespace rollcall
