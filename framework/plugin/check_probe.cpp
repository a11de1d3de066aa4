#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <set>
#include <vector>

#include "plugin/check_suite.hpp"
#include "plugin/watched.hpp"
#include "rollcall/identity.hpp"

namespace rollcall::loader {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;
constexpr std::uint32_t kEverything =
    ROLLCALL_WANT_START_TOKEN | ROLLCALL_WANT_EXACT_ID | ROLLCALL_WANT_STATE | ROLLCALL_WANT_AGE;
constexpr unsigned char kCanary = 0xA5;

// Asks through a table with strides and struct sizes of a later host, and watches the gaps.
class Batch {
 public:
  static constexpr std::size_t kGap = 64;
  explicit Batch(const std::vector<rollcall_ask>& asks)
      : count_(asks.size()),
        asks_(count_ * kAskStride, std::byte{kCanary}),
        readings_(count_ * kReadingStride, std::byte{kCanary}) {
    for (std::size_t i = 0; i < count_; ++i) {
      std::memcpy(asks_.data() + i * kAskStride, &asks[i], sizeof(asks[i]));
      std::memset(readings_.data() + i * kReadingStride, 0, sizeof(rollcall_observation));
    }
  }
  [[nodiscard]] rollcall_observe_batch raw() {
    return {.struct_size = sizeof(rollcall_observe_batch),
            .ask_stride = kAskStride,
            .observation_stride = kReadingStride,
            .count = count_,
            .asks = reinterpret_cast<const rollcall_ask*>(asks_.data()),
            .observations = reinterpret_cast<rollcall_observation*>(readings_.data())};
  }
  [[nodiscard]] rollcall_observation reading(std::size_t i) const {
    rollcall_observation reading{};
    std::memcpy(&reading, readings_.data() + i * kReadingStride, sizeof(reading));
    return reading;
  }
  [[nodiscard]] bool gaps_untouched() const {
    for (std::size_t i = 0; i < count_; ++i) {
      const std::byte* gap = readings_.data() + i * kReadingStride + sizeof(rollcall_observation);
      if (!std::all_of(gap, gap + kGap, [](std::byte b) { return b == std::byte{kCanary}; })) {
        return false;
      }
    }
    return true;
  }

 private:
  static constexpr std::size_t kAskStride = sizeof(rollcall_ask) + kGap;
  static constexpr std::size_t kReadingStride = sizeof(rollcall_observation) + kGap;
  std::size_t count_;
  std::vector<std::byte> asks_;
  std::vector<std::byte> readings_;
};

class ProbeSuite {
 public:
  ProbeSuite(const rollcall_process_probe& table, void* self, Steps& steps)
      : table_(table), self_(self), steps_(steps) {}

  void run() {
    observe_rules();
    bounds_rules();
    if (table_.whoami != nullptr) whoami_rules();
    if (table_.list != nullptr) list_rules();
    if (table_.read != nullptr) read_rules();
    if (table_.port_owner != nullptr) port_owner_rules();
  }

 private:
  std::int32_t observe(Batch& batch, const rollcall_call& call) {
    error_ = {};
    error_.struct_size = sizeof(error_);
    const rollcall_observe_batch raw = batch.raw();
    return table_.observe(self_, &raw, &call, &error_);
  }

  // One pid's reading; nullopt where the batch failed, which the rule is told.
  std::optional<rollcall_observation> read_one(std::string_view rule, std::int64_t pid,
                                               std::uint32_t wants) {
    Batch batch({{.pid = pid, .wants = wants}});
    const std::int32_t code = observe(batch, call_bounds(5 * kSecond));
    if (code == ROLLCALL_OK) return batch.reading(0);
    steps_.fail(rule, fmt::format("observe gave {}: {}", code, error_text(error_)));
    return std::nullopt;
  }

  void observe_rules() {
    own_pid_rule();
    range_rule();
    free_pid_rule();
    constexpr std::string_view kWants = "process-probe: observe takes no wants and unknown wants";
    steps_.begin(kWants);
    const auto none = read_one(kWants, own_pid(), 0);
    const auto unknown = read_one(kWants, own_pid(), 0x80000000U | kEverything);
    if (none && unknown) steps_.pass(kWants);
    constexpr std::string_view kEmpty = "process-probe: observe of nothing succeeds";
    steps_.begin(kEmpty);
    Batch empty({});
    steps_.expect(observe(empty, call_bounds(kSecond)) == ROLLCALL_OK, kEmpty, "it failed");
  }

  void own_pid_rule() {
    constexpr std::string_view kRule = "process-probe: a running process is never absent or exited";
    constexpr std::string_view kForm = "process-probe: readings have their documented form";
    constexpr std::string_view kSame = "process-probe: two readings of a process agree";
    steps_.begin(kRule);
    const auto first = read_one(kRule, own_pid(), kEverything);
    const auto second = read_one(kRule, own_pid(), kEverything);
    if (!first || !second) return;
    steps_.expect(first->presence <= ROLLCALL_PRESENCE_PRESENT, kRule,
                  fmt::format("presence {} for our own pid", first->presence));
    steps_.expect(fault_of(*first).empty(), kForm, fault_of(*first));
    const bool agree =
        first->start_token_size == second->start_token_size &&
        first->exact_id == second->exact_id &&
        std::memcmp(first->start_token, second->start_token, sizeof(first->start_token)) == 0;
    steps_.expect(agree, kSame, "start token or exact id changed");
  }

  static std::string fault_of(const rollcall_observation& reading) {
    if (reading.pid != own_pid()) return fmt::format("it names pid {}", reading.pid);
    if (reading.presence > ROLLCALL_PRESENCE_ABSENT) return "presence is none";
    if (reading.start_token_size > sizeof(reading.start_token)) return "start_token_size";
    if (reading.reason_size > sizeof(reading.reason)) return "reason_size";
    if ((reading.flags & ROLLCALL_OBS_AGE) != 0 && reading.age_ns < 0) return "a negative age";
    if ((reading.flags & ROLLCALL_OBS_START_TOKEN) == 0) return {};
    const std::string_view token(reading.start_token, reading.start_token_size);
    const bool fits = !token.empty() && std::all_of(token.begin(), token.end(),
                                                    [](char c) { return c > 0x20 && c < 0x7F; });
    return fits ? std::string() : "the start token is not visible ASCII";
  }

  void range_rule() {
    constexpr std::string_view kRule = "process-probe: a pid outside 1..2147483647 is absent";
    steps_.begin(kRule);
    const std::vector<std::int64_t> pids = {0, -1, std::numeric_limits<std::int64_t>::min(),
                                            kMaxPid + 1, std::numeric_limits<std::int64_t>::max()};
    std::vector<rollcall_ask> asks;
    for (const std::int64_t pid : pids) asks.push_back({.pid = pid, .wants = kEverything});
    Batch batch(asks);
    const std::int32_t code = observe(batch, call_bounds(5 * kSecond));
    if (code != ROLLCALL_OK) {
      steps_.fail(kRule, fmt::format("observe gave {}: {}", code, error_text(error_)));
      return;
    }
    for (std::size_t i = 0; i < pids.size(); ++i) {
      if (batch.reading(i).presence == ROLLCALL_PRESENCE_ABSENT) continue;
      steps_.fail(kRule, fmt::format("presence {} for pid {}", batch.reading(i).presence, pids[i]));
      return;
    }
    steps_.pass(kRule);
    constexpr std::string_view kStride = "process-probe: observe keeps to the host's strides";
    steps_.expect(batch.gaps_untouched(), kStride, "it wrote between two readings");
  }

  void free_pid_rule() {
    constexpr std::string_view kRule = "process-probe: a pid that nobody holds is not present";
    steps_.begin(kRule);
    const auto reading = read_one(kRule, kMaxPid, kEverything);
    if (!reading) return;
    steps_.expect(reading->presence == ROLLCALL_PRESENCE_ABSENT ||
                      reading->presence == ROLLCALL_PRESENCE_UNREADABLE,
                  kRule, fmt::format("presence {} for pid {}", reading->presence, kMaxPid));
  }

  void bounds_rules() {
    constexpr std::string_view kNull = "process-probe: a null error and a null call are taken";
    steps_.begin(kNull);
    Batch batch({{.pid = own_pid(), .wants = kEverything}});
    const rollcall_observe_batch raw = batch.raw();
    steps_.expect(is_status(table_.observe(self_, &raw, nullptr, nullptr)), kNull, "no status");
    constexpr std::string_view kCancel =
        "process-probe: a cancelled call and a past deadline return at once";
    steps_.begin(kCancel);
    const std::int64_t began = steady_now_ns();
    Batch cancelled({{.pid = own_pid(), .wants = kEverything}});
    const std::int32_t first = observe(cancelled, call_bounds(kSecond, true));
    Batch late({{.pid = own_pid(), .wants = kEverything}});
    const std::int32_t second = observe(late, call_bounds(-kSecond));
    steps_.expect(
        is_status(first) && is_status(second) && steady_now_ns() - began < 2 * kSecond, kCancel,
        fmt::format("it gave statuses {} and {}; expected are 0 or ROLLCALL_E_*, both within 2 s",
                    first, second));
  }

  void whoami_rules() {
    constexpr std::string_view kRule = "process-probe: whoami names the calling process";
    constexpr std::string_view kShort = "process-probe: whoami keeps to the caller's struct_size";
    steps_.begin(kRule);
    rollcall_whoami me{};
    me.struct_size = sizeof(me);
    const rollcall_call call = call_bounds(5 * kSecond);
    error_ = {};
    error_.struct_size = sizeof(error_);
    const std::int32_t code = table_.whoami(self_, &me, &call, &error_);
    steps_.expect(code == ROLLCALL_OK && me.pid == own_pid(), kRule,
                  fmt::format("it gave status {}, pid {}: {}; expected are status 0, pid {}", code,
                              me.pid, error_text(error_), own_pid()));
    steps_.begin(kShort);
    rollcall_whoami canary{};
    std::memset(&canary, kCanary, sizeof(canary));
    rollcall_whoami older = canary;
    older.struct_size = offsetof(rollcall_whoami, exact_id);
    const std::int32_t again = table_.whoami(self_, &older, &call, nullptr);
    const auto* bytes = reinterpret_cast<const char*>(&older);
    const bool untouched =
        std::memcmp(bytes + offsetof(rollcall_whoami, exact_id),
                    reinterpret_cast<const char*>(&canary) + offsetof(rollcall_whoami, exact_id),
                    sizeof(canary) - offsetof(rollcall_whoami, exact_id)) == 0;
    steps_.expect(is_status(again) && untouched, kShort, "it wrote behind the end");
  }

  struct Pids {
    std::set<std::int64_t> seen;
    std::int32_t answer = ROLLCALL_OK;
    int calls = 0;
    static std::int32_t take(void* context, std::int64_t pid, std::int64_t /*parent*/) noexcept {
      auto& pids = *static_cast<Pids*>(context);
      ++pids.calls;
      pids.seen.insert(pid);
      return pids.answer;
    }
  };

  void list_rules() {
    constexpr std::string_view kRule = "process-probe: list has the calling process";
    constexpr std::string_view kStop = "process-probe: list stops when the sink says so";
    steps_.begin(kRule);
    Pids pids;
    rollcall_pid_sink sink = {.struct_size = sizeof(sink), .context = &pids, .pid = &Pids::take};
    const rollcall_call call = call_bounds(5 * kSecond);
    const std::int32_t code = table_.list(self_, &sink, &call, nullptr);
    steps_.expect(
        code == ROLLCALL_OK && pids.seen.count(own_pid()) == 1, kRule,
        fmt::format(
            "it gave status {} and {} pids; expected are status 0 and pid {} among them once", code,
            pids.seen.size(), own_pid()));
    steps_.begin(kStop);
    Pids stopping;
    stopping.answer = ROLLCALL_E_TOO_LARGE;
    sink.context = &stopping;
    const std::int32_t stopped = table_.list(self_, &sink, &call, nullptr);
    steps_.expect(
        stopped == ROLLCALL_E_TOO_LARGE && stopping.calls == 1, kStop,
        fmt::format("it gave status {} after {} pids; expected is the sink's own status {} after 1",
                    stopped, stopping.calls, ROLLCALL_E_TOO_LARGE));
  }

  std::int32_t read(std::int64_t pid, std::uint32_t what) {
    const rollcall_sink sink = {
        .struct_size = sizeof(sink),
        .write = [](void*, const void*, std::uint64_t) -> std::int32_t { return ROLLCALL_OK; }};
    const rollcall_call call = call_bounds(5 * kSecond);
    return table_.read(self_, pid, what, &sink, &call, nullptr);
  }

  void read_rules() {
    constexpr std::string_view kGone = "process-probe: read of a pid that nobody holds fails";
    constexpr std::string_view kWhat = "process-probe: read of an unknown thing fails";
    steps_.begin(kGone);
    const std::int32_t gone = read(kMaxPid, ROLLCALL_READ_NAME);
    steps_.expect(gone != ROLLCALL_OK && is_status(gone), kGone,
                  fmt::format("it gave status {}; expected is a ROLLCALL_E_*", gone));
    steps_.begin(kWhat);
    const std::int32_t what = read(own_pid(), 0xFFFFU);
    steps_.expect(what != ROLLCALL_OK && is_status(what), kWhat,
                  fmt::format("it gave status {}; expected is a ROLLCALL_E_*", what));
  }

  void port_owner_rules() {
    constexpr std::string_view kRule = "process-probe: port_owner vouches for no bad socket";
    steps_.begin(kRule);
    const rollcall_socket_ask ask = {.socket = -1, .pid = own_pid(), .owner_uid = -1};
    rollcall_socket_answer answer{};
    const rollcall_socket_batch batch = {.struct_size = sizeof(batch),
                                         .ask_stride = sizeof(ask),
                                         .answer_stride = sizeof(answer),
                                         .count = 1,
                                         .asks = &ask,
                                         .answers = &answer};
    const rollcall_call call = call_bounds(5 * kSecond);
    const std::int32_t code = table_.port_owner(self_, &batch, &call, nullptr);
    const bool vouched = code == ROLLCALL_OK && (answer.owner == ROLLCALL_OWNER_PROCESS ||
                                                 answer.owner == ROLLCALL_OWNER_UID_ONLY ||
                                                 (answer.flags & ROLLCALL_SOCKET_LOOPBACK) != 0);
    steps_.expect(
        is_status(code) && !vouched, kRule,
        fmt::format("it gave status {}, owner {}, flags {}; expected is that it vouches for nobody",
                    code, answer.owner, answer.flags));
  }

  const rollcall_process_probe& table_;
  void* self_;
  Steps& steps_;
  rollcall_error error_{};
};

}  // namespace

void check_probe(const rollcall_process_probe& table, const CheckOptions& options, Steps& steps) {
  constexpr std::string_view kRule = "process-probe: instances are made side by side";
  steps.begin(kRule);
  Settings more = options.settings;
  more.emplace_back("rollcall.check.unknown", "1");
  const RawInstance first(slots_of(table), options.settings);
  const RawInstance second(slots_of(table), more);
  if (!first.made() || !second.made()) {
    steps.fail(kRule, first.made() ? second.problem() : first.problem());
    return;
  }
  steps.pass(kRule);
  ProbeSuite(table, first.self(), steps).run();
}

}  // namespace rollcall::loader
