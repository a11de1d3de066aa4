// Receipts in a home of the test's own, of processes that a fake probe tells of.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <memory>
#include <string>
#include <utility>

#include "receipts/receipt_samples.hpp"
#include "registry/store_fixture.hpp"
#include "support/fakes.hpp"

namespace rollcall::testing {

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

}  // namespace rollcall::testing
