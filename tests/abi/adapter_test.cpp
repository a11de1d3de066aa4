// The adapter as the host sees it: through the raw tables.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstring>
#include <stdexcept>
#include <vector>

#include "rollcall/plugin.hpp"

namespace rollcall::testing {
namespace {

namespace rp = rollcall::plugin;
using ::testing::HasSubstr;

class Probe final : public rp::ProcessProbe {
 public:
  static constexpr bool kConcurrent = true;
  explicit Probe(const rp::Settings& settings) {
    if (settings.find("throw")) throw std::runtime_error("the constructor threw");
  }
  ~Probe() override { throw std::runtime_error("the destructor threw"); }
  rp::Status observe(const rp::ObserveBatch& batch, const rp::Call& call) override {
    if (const rp::Status status = call.check(); !status.ok()) return status;
    for (std::size_t i = 0; i < batch.size(); ++i) {
      if (batch.ask(i).pid == -7) throw 7;
      if (batch.ask(i).pid == -8) throw rp::Error(ROLLCALL_E_DENIED, "no", 13);
      if (batch.ask(i).pid == -9) throw std::bad_alloc();
      batch.observation(i).pid = batch.ask(i).pid;
    }
    return {};
  }
  rp::Status whoami(rollcall_whoami& out, const rp::Call&) override {
    out.pid = 42;
    out.uid = 43;
    rp::set_text(out.nodename, out.nodename_size, "node");
    return {};
  }
};

class Store final : public rp::RecordStore {
 public:
  rp::Status list(const rp::StoreSink& sink, const rp::Call&) override {
    return sink.entry({"a", "1", "x", {}, -1});
  }
  rp::Status read(std::string_view, const rp::StoreSink&, const rp::Call&) override { return {}; }
};

using Both = rp::Plugin<Probe, Store>;

const rollcall_process_probe& probe_table() {
  return *static_cast<const rollcall_process_probe*>(
      Both::get_interface(ROLLCALL_PROCESS_PROBE_ID));
}
const rollcall_record_store& store_table() {
  return *static_cast<const rollcall_record_store*>(Both::get_interface(ROLLCALL_RECORD_STORE_ID));
}

rollcall_error fresh_error() {
  rollcall_error error{};
  error.struct_size = sizeof(error);
  return error;
}

class Instance {
 public:
  Instance() {
    rollcall_error error = fresh_error();
    EXPECT_EQ(probe_table().create(nullptr, 0, &self_, &error), ROLLCALL_OK) << error.message;
  }
  ~Instance() { probe_table().destroy(self_); }  // its destructor throws
  [[nodiscard]] void* self() const { return self_; }

 private:
  void* self_ = nullptr;
};

std::int32_t observe(std::int64_t pid, rollcall_error* error, const rollcall_call* call = nullptr) {
  const Instance instance;
  rollcall_ask ask{};
  ask.pid = pid;
  rollcall_observation out{};
  rollcall_observe_batch batch{};
  batch.struct_size = sizeof(batch);
  batch.ask_stride = sizeof(ask);
  batch.observation_stride = sizeof(out);
  batch.count = 1;
  batch.asks = &ask;
  batch.observations = &out;
  return probe_table().observe(instance.self(), &batch, call, error);
}

TEST(Adapter, OffersTheInterfacesOfItsClassesAndNoOther) {
  EXPECT_NE(Both::get_interface(ROLLCALL_PROCESS_PROBE_ID), nullptr);
  EXPECT_NE(Both::get_interface(ROLLCALL_RECORD_STORE_ID), nullptr);
  EXPECT_EQ(Both::get_interface(ROLLCALL_DOOR_PROBER_ID), nullptr);
  EXPECT_EQ(Both::get_interface("rollcall.process-probe/2"), nullptr);
  EXPECT_EQ(Both::get_interface(nullptr), nullptr);
}

TEST(Adapter, LeavesASlotNullWhoseMethodIsNotOverridden) {
  EXPECT_NE(probe_table().whoami, nullptr);
  EXPECT_EQ(probe_table().list, nullptr);
  EXPECT_EQ(probe_table().read, nullptr);
  EXPECT_EQ(probe_table().port_owner, nullptr);
  EXPECT_EQ(store_table().remove_if, nullptr);
}

TEST(Adapter, SaysWhichClassesAreConcurrent) {
  EXPECT_EQ(probe_table().flags, ROLLCALL_TABLE_CONCURRENT);
  EXPECT_EQ(store_table().flags, 0U);
}

TEST(Adapter, CatchesWhatAConstructorThrows) {
  rollcall_error error = fresh_error();
  const rollcall_setting setting{rp::str("throw"), rp::str("1")};
  void* self = nullptr;
  EXPECT_EQ(probe_table().create(&setting, 1, &self, &error), ROLLCALL_E_INTERNAL);
  EXPECT_STREQ(error.message, "the constructor threw");
  EXPECT_EQ(self, nullptr);
}

TEST(Adapter, CatchesWhatADestructorThrows) { const Instance instance; }

TEST(Adapter, CatchesWhateverASlotThrows) {
  rollcall_error error = fresh_error();
  EXPECT_EQ(observe(-7, &error), ROLLCALL_E_INTERNAL);
  EXPECT_THAT(error.message, HasSubstr("no std::exception"));
  EXPECT_EQ(observe(-8, &error), ROLLCALL_E_DENIED);
  EXPECT_STREQ(error.message, "no");
  EXPECT_EQ(error.os_code, 13);
  EXPECT_EQ(observe(-9, &error), ROLLCALL_E_NO_MEMORY);
  EXPECT_EQ(observe(-8, nullptr), ROLLCALL_E_DENIED);
}

TEST(Adapter, AsksTheHostWhetherToGoOn) {
  rollcall_call call{};
  call.struct_size = sizeof(call);
  call.deadline_ns = INT64_MAX;
  EXPECT_EQ(observe(1, nullptr, &call), ROLLCALL_OK);
  call.deadline_ns = 1;
  EXPECT_EQ(observe(1, nullptr, &call), ROLLCALL_E_TIMEOUT);
  call.cancelled = [](void*) -> std::uint32_t { return 1; };
  EXPECT_EQ(observe(1, nullptr, &call), ROLLCALL_E_CANCELLED);
}

TEST(Adapter, TakesAShorterCallForOneWithoutCancellation) {
  rollcall_call call{};
  call.struct_size = offsetof(rollcall_call, context);
  call.deadline_ns = INT64_MAX;
  call.cancelled = [](void*) -> std::uint32_t { return 1; };  // behind the end
  EXPECT_EQ(observe(1, nullptr, &call), ROLLCALL_OK);
}

TEST(Adapter, RefusesStridesThatAreTooShortAndArraysThatAreNull) {
  const Instance instance;
  rollcall_ask ask{};
  rollcall_observation out{};
  rollcall_observe_batch batch{};
  batch.struct_size = sizeof(batch);
  batch.ask_stride = sizeof(ask) - 1;
  batch.observation_stride = sizeof(out);
  batch.count = 1;
  batch.asks = &ask;
  batch.observations = &out;
  const auto code = [&] {
    return probe_table().observe(instance.self(), &batch, nullptr, nullptr);
  };
  EXPECT_EQ(code(), ROLLCALL_E_INVALID);
  batch.ask_stride = sizeof(ask);
  batch.observation_stride = 8;
  EXPECT_EQ(code(), ROLLCALL_E_INVALID);
  batch.observation_stride = sizeof(out);
  batch.observations = nullptr;
  EXPECT_EQ(code(), ROLLCALL_E_INVALID);
  batch.count = 0;
  EXPECT_EQ(code(), ROLLCALL_OK);
  EXPECT_EQ(probe_table().observe(instance.self(), nullptr, nullptr, nullptr), ROLLCALL_E_INVALID);
  EXPECT_EQ(probe_table().observe(nullptr, &batch, nullptr, nullptr), ROLLCALL_E_INVALID);
}

TEST(Adapter, WritesNoMoreThanTheCallersStructHolds) {
  const Instance instance;
  rollcall_whoami out;
  std::memset(&out, 0x5A, sizeof(out));
  out.struct_size = offsetof(rollcall_whoami, exact_id);
  ASSERT_EQ(probe_table().whoami(instance.self(), &out, nullptr, nullptr), ROLLCALL_OK);
  EXPECT_EQ(out.pid, 42);
  EXPECT_EQ(out.uid, 0x5A5A5A5A5A5A5A5AU);
  EXPECT_EQ(out.struct_size, offsetof(rollcall_whoami, exact_id));
}

TEST(Adapter, PassesOnThatASinkWantsNoMore) {
  void* self = nullptr;
  ASSERT_EQ(store_table().create(nullptr, 0, &self, nullptr), ROLLCALL_OK);
  rollcall_store_sink sink{};
  sink.struct_size = sizeof(sink);
  EXPECT_EQ(store_table().list(self, &sink, nullptr, nullptr), ROLLCALL_E_INVALID);
  sink.entry = [](void*, const rollcall_store_entry*) -> std::int32_t {
    return ROLLCALL_E_TOO_LARGE;
  };
  EXPECT_EQ(store_table().list(self, &sink, nullptr, nullptr), ROLLCALL_E_TOO_LARGE);
  store_table().destroy(self);
}

TEST(Adapter, KeepsTheHostsClock) {
  rollcall_host host{};
  host.struct_size = sizeof(host);
  host.monotonic_now_ns = [](void*) -> std::int64_t { return 77; };
  ASSERT_EQ(Both::init(&host, nullptr), ROLLCALL_OK);
  EXPECT_EQ(rp::now_ns(), 77);
  rp::log(ROLLCALL_LOG_INFO, "there is no log, and that is fine");
  host.monotonic_now_ns = nullptr;
  ASSERT_EQ(Both::init(&host, nullptr), ROLLCALL_OK);
  EXPECT_NE(rp::now_ns(), 77);
  EXPECT_EQ(Both::init(nullptr, nullptr), ROLLCALL_E_INVALID);
}

TEST(Message, IsCutBetweenTwoCharacters) {
  EXPECT_EQ(rp::cut_utf8("abc", 3), "abc");
  EXPECT_EQ(rp::cut_utf8("abc", 2), "ab");
  EXPECT_EQ(rp::cut_utf8("a\xc3\xa9z", 3), "a\xc3\xa9");
  EXPECT_EQ(rp::cut_utf8("a\xc3\xa9z", 2), "a");
  EXPECT_EQ(rp::cut_utf8("\xf0\x9f\x99\x82", 3), "");
}

TEST(Message, EndsInNulWhateverItsLength) {
  rollcall_error error;
  std::memset(&error, 0x5A, sizeof(error));
  error.struct_size = sizeof(error);
  const std::string text(sizeof(error.message) - 2, 'x');
  rp::fill_error(&error, ROLLCALL_E_IO, text + "\xc3\xa9", 5);
  EXPECT_EQ(std::string(error.message), text);
  EXPECT_EQ(error.code, ROLLCALL_E_IO);
  EXPECT_EQ(error.os_code, 5);
}

TEST(Message, FitsAnErrorOfAnOlderHost) {
  rollcall_error error;
  std::memset(&error, 0x5A, sizeof(error));
  error.struct_size = offsetof(rollcall_error, message) + 8;
  rp::fill_error(&error, ROLLCALL_E_IO, "longer than eight");
  EXPECT_STREQ(error.message, "longer ");
  EXPECT_EQ(error.message[8], 0x5A);
  error.struct_size = 4;
  error.code = 99;
  EXPECT_EQ(rp::fill_error(&error, ROLLCALL_E_IO, "x"), ROLLCALL_E_IO);
  EXPECT_EQ(error.code, 99);
}

TEST(Token, IsVisibleAsciiOrNone) {
  rollcall_observation out{};
  EXPECT_FALSE(rp::set_start_token(out, ""));
  EXPECT_FALSE(rp::set_start_token(out, "a b"));
  EXPECT_FALSE(rp::set_start_token(out, std::string(65, 'x')));
  EXPECT_EQ(out.flags, 0U);
  EXPECT_TRUE(rp::set_start_token(out, std::string(64, 'x')));
  EXPECT_EQ(out.start_token_size, 64U);
  EXPECT_EQ(out.flags, ROLLCALL_OBS_START_TOKEN);
}

TEST(Settings, AreFoundByKeyTheFirstOfEach) {
  const rollcall_setting raw[] = {{rp::str("a"), rp::str("1")},
                                  {rp::str("b"), rollcall_str{nullptr, 0}},
                                  {rp::str("a"), rp::str("2")}};
  const rp::Settings settings(raw, 3);
  EXPECT_EQ(settings.find("a"), "1");
  EXPECT_EQ(settings.find("b"), "");
  EXPECT_EQ(settings.find("c"), std::nullopt);
  EXPECT_EQ(settings.get("c", "else"), "else");
  EXPECT_EQ(rp::Settings(nullptr, 3).size(), 0U);
}

}  // namespace
}  // namespace rollcall::testing
