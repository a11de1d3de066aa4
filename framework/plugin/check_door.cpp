#include <Poco/Exception.h>
#include <Poco/Net/Net.h>
#include <Poco/Net/ServerSocket.h>
#include <Poco/Net/SocketAddress.h>
#include <Poco/Net/StreamSocket.h>
#include <Poco/Timespan.h>
#include <fmt/format.h>

#include <mutex>
#include <optional>
#include <vector>

#include "plugin/check_suite.hpp"
#include "plugin/watched.hpp"

namespace rollcall::loader {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

rollcall_str str(std::string_view text) { return {text.data(), text.size()}; }

// The host's half, with one ruling for all.
struct Gate {
  bool admits = false;
  std::mutex mutex;
  std::vector<int> answers;  // an item each
  std::vector<std::uint32_t> outcomes;
  std::size_t asked = 0;

  explicit Gate(std::size_t items, bool admits_all)
      : admits(admits_all), answers(items), outcomes(items) {}
  static void admit(void* context, const rollcall_connected* /*sockets*/, std::uint64_t count,
                    rollcall_admission* admissions) noexcept {
    auto& gate = *static_cast<Gate*>(context);
    const std::lock_guard lock(gate.mutex);
    gate.asked += static_cast<std::size_t>(count);
    for (std::uint64_t i = 0; i < count; ++i) {
      admissions[i] = {.admitted = gate.admits ? 1U : 0U};
    }
  }
  static void answer(void* context, std::uint64_t item,
                     const rollcall_door_answer* answer) noexcept {
    auto& gate = *static_cast<Gate*>(context);
    const std::lock_guard lock(gate.mutex);
    if (item >= gate.answers.size() || answer == nullptr) return;
    ++gate.answers[static_cast<std::size_t>(item)];
    gate.outcomes[static_cast<std::size_t>(item)] = answer->outcome;
  }
  [[nodiscard]] int all_answers() const {
    int all = 0;
    for (const int count : answers) all += count;
    return all;
  }
  [[nodiscard]] bool each_answered_once() const {
    for (const int count : answers) {
      if (count != 1) return false;
    }
    return true;
  }
};

// A loopback port, listened on and never answered.
class SilentDoor {
 public:
  SilentDoor() : socket_(any_port()) {}
  [[nodiscard]] std::uint16_t port() const { return socket_.address().port(); }
  // What arrived on the connections that were made; nullopt: none was made.
  [[nodiscard]] std::optional<std::size_t> received() {
    std::optional<std::size_t> total;
    while (socket_.poll(Poco::Timespan(0, 0), Poco::Net::Socket::SELECT_READ)) {
      Poco::Net::StreamSocket peer = socket_.acceptConnection();
      total = total.value_or(0) + drain(peer);
    }
    return total;
  }

 private:
  static Poco::Net::SocketAddress any_port() {
    Poco::Net::initializeNetwork();  // needed on Windows, once in a process or oftener
    return {"127.0.0.1", 0};
  }
  static std::size_t drain(Poco::Net::StreamSocket& peer) {
    std::size_t total = 0;
    char buffer[1024];
    while (peer.poll(Poco::Timespan(0, 100'000), Poco::Net::Socket::SELECT_READ)) {
      int got = 0;
      try {
        got = peer.receiveBytes(buffer, sizeof(buffer));
      } catch (const Poco::Exception&) {
        break;  // reset by the peer: nothing more comes
      }
      if (got <= 0) break;
      total += static_cast<std::size_t>(got);
    }
    return total;
  }
  Poco::Net::ServerSocket socket_;
};

class DoorSuite {
 public:
  DoorSuite(const rollcall_door_prober& table, void* self, std::string kind, Steps& steps)
      : table_(table), self_(self), kind_(std::move(kind)), steps_(steps) {}

  void run() {
    bare_rule();
    stranger_rule();
    silent_rule();
    cancelled_rule();
  }

 private:
  [[nodiscard]] std::string rule(std::string_view text) const {
    return fmt::format("door-prober {}: {}", kind_, text);
  }

  // `count` items for one port; without a port they have no address at all.
  std::int32_t probe(Gate& gate, std::size_t count, std::optional<std::uint16_t> port,
                     std::int64_t total_ns, const rollcall_call& call) {
    const std::string authority = port ? fmt::format("127.0.0.1:{}", *port) : std::string();
    const rollcall_endpoint endpoint = {.host = str("127.0.0.1"), .port = port.value_or(0)};
    const rollcall_door_item item = {.session_id = str("rollcall-check"),
                                     .kind = str(kind_),
                                     .authority = str(authority),
                                     .endpoints = port ? &endpoint : nullptr,
                                     .endpoint_count = port ? 1U : 0U};
    const std::vector<rollcall_door_item> items(count, item);
    const rollcall_door_batch batch = {.struct_size = sizeof(batch),
                                       .item_stride = sizeof(rollcall_door_item),
                                       .count = count,
                                       .items = items.data(),
                                       .connect_timeout_ns = total_ns,
                                       .total_timeout_ns = total_ns};
    const rollcall_door_sink sink = {.struct_size = sizeof(sink),
                                     .context = &gate,
                                     .admit = &Gate::admit,
                                     .answer = &Gate::answer};
    return table_.probe(self_, &batch, &sink, &call, nullptr);
  }

  void bare_rule() {
    const std::string text = rule("a door without an address is answered, each item once");
    steps_.begin(text);
    Gate gate(3, false);
    const std::int32_t code = probe(gate, 3, std::nullopt, kSecond, call_bounds(5 * kSecond));
    steps_.expect(
        code == ROLLCALL_OK && gate.each_answered_once() &&
            gate.outcomes.front() == ROLLCALL_DOOR_FAILED,
        text,
        fmt::format("it gave status {}, outcome {}, {} answers; expected are status 0 and, "
                    "for each of 3 items, one answer with outcome {} (failed)",
                    code, gate.outcomes.front(), gate.all_answers(), ROLLCALL_DOOR_FAILED));
  }

  void stranger_rule() {
    const std::string text = rule("nothing is sent on a socket that the host does not admit");
    steps_.begin(text);
    SilentDoor door;
    Gate gate(1, false);
    const std::int32_t code = probe(gate, 1, door.port(), kSecond, call_bounds(5 * kSecond));
    const auto received = door.received();
    if (!received) {
      steps_.skip(text, "it did not connect to the address: its doors are elsewhere");
      return;
    }
    steps_.expect(
        code == ROLLCALL_OK && *received == 0 && gate.asked > 0 && gate.each_answered_once() &&
            gate.outcomes[0] == ROLLCALL_DOOR_FAILED,
        text,
        fmt::format("it gave status {}, outcome {}, sent {} bytes and asked the host {} times; "
                    "expected are status 0, outcome {} (failed), 0 bytes, and that it asks",
                    code, gate.outcomes[0], *received, gate.asked, ROLLCALL_DOOR_FAILED));
  }

  void silent_rule() {
    const std::string text = rule("silent doors are given up side by side at the time-out");
    steps_.begin(text);
    SilentDoor door;
    Gate gate(8, true);
    const std::int64_t began = steady_now_ns();
    const std::int32_t code = probe(gate, 8, door.port(), kSecond / 2, call_bounds(5 * kSecond));
    const std::int64_t took = steady_now_ns() - began;
    steps_.expect(
        code == ROLLCALL_OK && gate.each_answered_once() && took < 2 * kSecond, text,
        fmt::format("it gave status {} after {} ms; expected are status 0 and each of 8 doors "
                    "answered once within 2000 ms",
                    code, took / 1'000'000));
  }

  void cancelled_rule() {
    const std::string text = rule("a cancelled call returns");
    steps_.begin(text);
    SilentDoor door;
    Gate gate(1, true);
    const std::int64_t began = steady_now_ns();
    const std::int32_t code =
        probe(gate, 1, door.port(), 10 * kSecond, call_bounds(10 * kSecond, true));
    const std::int64_t took = steady_now_ns() - began;
    steps_.expect(
        is_status(code) && took < 3 * kSecond, text,
        fmt::format("it gave status {} after {} ms; expected is status 0 or ROLLCALL_E_* within "
                    "3000 ms",
                    code, took / 1'000'000));
  }

  const rollcall_door_prober& table_;
  void* self_;
  std::string kind_;
  Steps& steps_;
};

}  // namespace

void check_door(const rollcall_door_prober& table, const std::vector<std::string>& kinds,
                const CheckOptions& options, Steps& steps) {
  constexpr std::string_view kRule = "door-prober: an instance is made";
  steps.begin(kRule);
  const RawInstance instance(slots_of(table), options.settings);
  if (!instance.made()) {
    steps.fail(kRule, instance.problem());
    return;
  }
  steps.pass(kRule);
  for (const std::string& kind : kinds) {
    try {
      DoorSuite(table, instance.self(), kind, steps).run();
    } catch (const Poco::Exception& failed) {
      steps.skip(fmt::format("door-prober {}: on loopback", kind),
                 "no loopback socket could be had here: " + failed.displayText());
    }
  }
}

}  // namespace rollcall::loader
