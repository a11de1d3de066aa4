#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <random>
#include <vector>

#include "plugin/negotiate.hpp"

namespace rollcall::testing {
namespace {

using loader::AbiVersion;
using loader::HostAbi;
using loader::meet;
using loader::negotiate_entry;
using ::testing::HasSubstr;

const void* no_tables(const char*) { return nullptr; }

rollcall_entry good_entry() {
  return {.magic = ROLLCALL_PLUGIN_MAGIC,
          .struct_size = sizeof(rollcall_entry),
          .abi_major = 1,
          .abi_minor = 0,
          .id = "com.example.x",
          .version = "1",
          .vendor = "v",
          .get_interface = &no_tables};
}

std::span<const std::byte> bytes_of(const rollcall_entry& entry) {
  return std::as_bytes(std::span(&entry, 1));
}

TEST(Negotiation, TakesAnEntryOfOurOwnVersion) {
  const rollcall_entry entry = good_entry();
  const auto result = negotiate_entry(bytes_of(entry));
  ASSERT_TRUE(result) << result.error().message;
  EXPECT_EQ(result->minor, 0U);
  EXPECT_EQ(result->entry.get_interface, &no_tables);
}

TEST(Negotiation, SpeaksTheSmallerMinorOfBoth) {
  rollcall_entry entry = good_entry();
  entry.abi_minor = 9;
  EXPECT_EQ(negotiate_entry(bytes_of(entry), {.version = {1, 4}})->minor, 4U);
  entry.abi_minor = 3;
  EXPECT_EQ(negotiate_entry(bytes_of(entry), {.version = {1, 4}})->minor, 3U);
}

TEST(Negotiation, ReadsALongerEntryOfALaterMinor) {
  struct Later {
    rollcall_entry entry = good_entry();
    std::uint64_t more = 7;
  } later;
  later.entry.struct_size = sizeof(Later);
  later.entry.abi_minor = 1;
  const auto bytes = std::as_bytes(std::span(&later, 1));
  ASSERT_TRUE(negotiate_entry(bytes));
}

TEST(Negotiation, SaysWhichOfTheTwoToUpgrade) {
  const auto says = [](AbiVersion plugin, std::uint32_t required, const HostAbi& host) {
    const Status status = meet(plugin, required, host);
    return status ? std::string("met") : status.error().message;
  };
  EXPECT_EQ(says({2, 3}, 0, {.version = {2, 1}}), "met");
  EXPECT_THAT(says({3, 0}, 0, {.version = {2, 1}}),
              HasSubstr("3.0 and this Rollcall speaks 2.1: upgrade Rollcall"));
  EXPECT_THAT(says({1, 9}, 0, {.version = {2, 1}}),
              HasSubstr("1.9 and this Rollcall speaks 2.1: upgrade the plugin"));
  EXPECT_THAT(says({2, 5}, 4, {.version = {2, 1}}),
              HasSubstr("requires plugin ABI 2.4 and this Rollcall speaks 2.1: upgrade Rollcall"));
  EXPECT_THAT(says({2, 1}, 0, {.version = {2, 6}, .minor_floor = 3}),
              HasSubstr("2.1 and this Rollcall takes 2.3 and later: upgrade the plugin"));
  EXPECT_THAT(says({2, 1}, 2, {.version = {2, 6}}),
              HasSubstr("speaks plugin ABI 2.1 and yet requires 2.2"));
}

TEST(Negotiation, LooksAtVersionsBeforeAnythingThatAnotherMajorMayHaveMoved) {
  rollcall_entry entry = good_entry();
  entry.abi_major = 7;
  entry.struct_size = 3;
  entry.id = nullptr;
  const auto result = negotiate_entry(bytes_of(entry));
  ASSERT_FALSE(result);
  EXPECT_EQ(result.error().code, ErrorCode::kIncompatible);
}

TEST(Negotiation, RefusesFlagsThatOurMinorDoesNotHave) {
  rollcall_entry entry = good_entry();
  entry.flags = 1;
  EXPECT_FALSE(negotiate_entry(bytes_of(entry)));
  entry.abi_minor = 1;  // a later minor may have given it a meaning that can be ignored
  EXPECT_TRUE(negotiate_entry(bytes_of(entry)));
}

TEST(Negotiation, SurvivesAnyBytes) {
  std::mt19937 random(20260101);  // NOLINT: the same bytes each time
  std::vector<std::byte> bytes;
  for (int round = 0; round < 20000; ++round) {
    bytes.assign(random() % 128, std::byte{0});
    if (round % 2 == 0) {  // near a right one: one byte is off
      const rollcall_entry entry = good_entry();
      bytes.resize(std::max<std::size_t>(bytes.size(), 1));
      std::memcpy(bytes.data(), &entry, std::min(bytes.size(), sizeof(entry)));
      bytes[random() % bytes.size()] = static_cast<std::byte>(random());
    } else {
      for (std::byte& byte : bytes) byte = static_cast<std::byte>(random());
    }
    const auto result = negotiate_entry(bytes);
    if (result) {
      EXPECT_EQ(result->entry.magic, ROLLCALL_PLUGIN_MAGIC);
      EXPECT_NE(result->entry.get_interface, nullptr);
    } else {
      EXPECT_FALSE(result.error().message.empty());
    }
  }
}

template <class Table, class Read>
void survives_any_bytes(Read read) {
  std::mt19937 random(7);  // NOLINT: the same bytes each time
  for (int round = 0; round < 5000; ++round) {
    std::vector<std::byte> bytes(random() % (2 * sizeof(Table)));
    for (std::byte& byte : bytes) byte = static_cast<std::byte>(random() % 3 == 0 ? 0 : random());
    if (bytes.size() >= 4 && round % 2 == 0) {
      const auto size = static_cast<std::uint32_t>(bytes.size());
      std::memcpy(bytes.data(), &size, sizeof(size));
    }
    const auto table = read(bytes);
    if (table) {
      EXPECT_NE(table->create, nullptr);
      EXPECT_NE(table->destroy, nullptr);
    }
  }
}

TEST(Tables, SurviveAnyBytes) {
  survives_any_bytes<rollcall_process_probe>(&loader::read_probe_table);
  survives_any_bytes<rollcall_process_control>(&loader::read_control_table);
  survives_any_bytes<rollcall_record_store>(&loader::read_store_table);
  survives_any_bytes<rollcall_door_prober>(&loader::read_door_table);
}

// A table whose every slot is there; slots are never called here.
template <class Table>
Table full_table() {
  Table table;
  std::memset(&table, 0x5A, sizeof(table));
  table.struct_size = sizeof(table);
  return table;
}

TEST(Tables, NameTheRequiredSlotThatIsNull) {
  auto probe = full_table<rollcall_process_probe>();
  probe.observe = nullptr;
  const auto result = loader::read_probe_table(std::as_bytes(std::span(&probe, 1)));
  ASSERT_FALSE(result);
  EXPECT_THAT(result.error().message, HasSubstr("process-probe table lacks `observe`"));
  auto store = full_table<rollcall_record_store>();
  store.list = nullptr;
  EXPECT_THAT(loader::read_store_table(std::as_bytes(std::span(&store, 1))).error().message,
              HasSubstr("record-store table lacks `list`"));
  auto door = full_table<rollcall_door_prober>();
  door.probe = nullptr;
  EXPECT_THAT(loader::read_door_table(std::as_bytes(std::span(&door, 1))).error().message,
              HasSubstr("door-prober table lacks `probe`"));
  auto control = full_table<rollcall_process_control>();
  control.await_exit = nullptr;
  EXPECT_THAT(loader::read_control_table(std::as_bytes(std::span(&control, 1))).error().message,
              HasSubstr("process-control table lacks `await_exit`"));
}

TEST(Tables, TakeASlotBehindTheEndForOneThatIsNotThere) {
  auto probe = full_table<rollcall_process_probe>();
  probe.struct_size = offsetof(rollcall_process_probe, whoami);
  const auto shorter =
      loader::read_probe_table(std::as_bytes(std::span(&probe, 1)).first(probe.struct_size));
  ASSERT_TRUE(shorter);
  EXPECT_EQ(shorter->whoami, nullptr);
  EXPECT_EQ(shorter->port_owner, nullptr);
  probe.struct_size = offsetof(rollcall_process_probe, observe);
  EXPECT_FALSE(loader::read_probe_table(std::as_bytes(std::span(&probe, 1))));
}

}  // namespace
}  // namespace rollcall::testing
