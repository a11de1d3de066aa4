#include "common/poll_loop.hpp"

#include <algorithm>
#include <deque>
#include <functional>
#include <limits>
#include <queue>
#include <utility>

namespace rollcall::doors {
namespace {

constexpr std::int64_t kNever = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t kMs = 1'000'000;
constexpr std::int64_t kRetryNs = 10 * kMs;       // a busy Unix listener, missing descriptors
constexpr std::int64_t kCancelPollNs = 50 * kMs;  // how stale `cancelled` may be
constexpr std::int64_t kAdmitDelayNs = 5 * kMs;   // at most, to collect sockets for one question
constexpr std::int64_t kLongestAdmitPauseNs = 50 * kMs;

constexpr const char* kNoResources =
    "the process has no free file descriptors, ports or socket memory; raise its limit (ulimit -n)";
constexpr const char* kHostTooSlow =
    "asking who holds their ports took longer than a probe may last";

enum class Phase : std::uint8_t {
  kQueued,
  kConnecting,
  kRetry,      // start_connect() is tried again at `timer`
  kConnected,  // waits for the host's leave
  kSpeaking,
  kDone
};

struct Flight {
  Visit visit;
  Phase phase = Phase::kQueued;
  Socket socket;
  std::size_t address = 0;
  std::int64_t started = 0;
  std::int64_t deadline = 0;          // the whole probe's
  std::int64_t connect_deadline = 0;  // this connection's, all addresses
  std::int64_t address_deadline = 0;  // this address's share of it
  std::int64_t timer = kNever;        // when this flight must be looked at
  bool starved = false;               // the last connect failed for want of something of ours
  std::string out;
  std::size_t sent = 0;
  std::size_t buffered = 0;
  HttpResponse response;
  plugin::DoorAnswer failure;  // what the addresses tried so far came to
  bool failed_before = false;
};

plugin::DoorAnswer connect_failure(const ConnectStep& step) {
  if (step.outcome == Connecting::kTimedOut) {
    return plugin::door_failed(ROLLCALL_DOOR_CONNECT_TIMEOUT, system_text(step.os_code));
  }
  if (step.outcome == Connecting::kUnsupported) {
    return plugin::door_failed(ROLLCALL_DOOR_NOT_SUPPORTED, "this system has no Unix sockets");
  }
  if (step.os_code == 0) {
    return plugin::door_failed(ROLLCALL_DOOR_REFUSED,
                               "nobody listens: the connection reached itself");
  }
  return plugin::door_failed(ROLLCALL_DOOR_REFUSED, system_text(step.os_code));
}

bool is_header_safe(std::string_view token) {
  return std::all_of(token.begin(), token.end(), [](char c) { return c > 0x20 && c < 0x7f; });
}

class Loop {
 public:
  Loop(std::vector<Visit> visits, const LoopLimits& limits, const plugin::DoorSink& sink,
       const plugin::Call& call, Poller poller)
      : limits_(limits), sink_(sink), call_(call), poller_(std::move(poller)), buffer_(64 * 1024) {
    flights_.resize(visits.size());
    for (std::size_t i = 0; i < visits.size(); ++i) {
      flights_[i].visit = std::move(visits[i]);
      queue_.push_back(i);
    }
  }
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;
  ~Loop() {
    for (auto& flight : flights_) wipe(flight.out);
  }

  plugin::Status run();

 private:
  struct Timer {
    std::int64_t when;
    std::size_t index;
    bool operator>(const Timer& other) const { return when > other.when; }
  };

  void start_queued(std::int64_t now);
  bool begin(std::size_t index, std::int64_t now);
  void begin_connection(Flight& flight, std::int64_t now);
  void try_address(std::size_t index, std::int64_t now);
  void on_connect_step(std::size_t index, const ConnectStep& step, std::int64_t now);
  void next_address(std::size_t index, plugin::DoorAnswer failure, std::int64_t now);
  void await_admission(std::size_t index);
  void admit_waiting(std::int64_t now);
  void on_admission(std::size_t index, const rollcall_admission& admission, std::int64_t now);
  void on_ready(const Readiness& ready, std::int64_t now);
  void speak(std::size_t index, std::int64_t now);
  void listen(std::size_t index, std::int64_t now);
  void take(std::size_t index, Step step, std::int64_t now);
  void on_response_state(std::size_t index, std::int64_t now);
  void expire(std::int64_t now);
  void on_timer(std::size_t index, std::int64_t now);
  void set_timer(std::size_t index, std::int64_t when);
  void stop_watching(const Flight& flight);
  void hang_up(Flight& flight);
  void answer(std::size_t index, plugin::DoorAnswer answer, std::int64_t now);
  void abandon(std::size_t index, const char* why);
  [[nodiscard]] std::int64_t wait_ns(std::int64_t now) const;
  [[nodiscard]] bool may_admit(std::int64_t now, bool quiet) const;

  const LoopLimits& limits_;
  const plugin::DoorSink& sink_;
  const plugin::Call& call_;
  Poller poller_;
  std::vector<Flight> flights_;
  std::deque<std::size_t> queue_;
  std::vector<std::size_t> waiting_;  // for the host's leave
  std::priority_queue<Timer, std::vector<Timer>, std::greater<>> timers_;
  std::vector<Readiness> ready_;
  std::vector<char> buffer_;
  std::size_t active_ = 0;
  std::size_t buffered_ = 0;
  std::int64_t waiting_since_ = 0;
  std::int64_t next_admit_ = 0;
  std::int64_t starved_since_ = kNever;  // nothing active and nothing could be started
  std::size_t abandoned_ = 0;
  const char* abandoned_why_ = kNoResources;
};

plugin::Status Loop::run() {
  while (active_ > 0 || !queue_.empty()) {
    if (auto status = call_.check(); !status.ok()) return status;
    start_queued(plugin::now_ns());
    if (active_ == 0 && queue_.empty()) break;
    std::int64_t now = plugin::now_ns();
    if (active_ == 0 && starved_since_ != kNever &&
        now - starved_since_ > limits_.total_timeout_ns) {
      abandoned_ += queue_.size();
      break;
    }
    poller_.wait(ready_, wait_ns(now));
    now = plugin::now_ns();
    for (const auto& ready : ready_) on_ready(ready, now);
    expire(now);
    if (may_admit(now, ready_.empty())) admit_waiting(now);
  }
  if (abandoned_ == 0) return {};
  return plugin::Status(ROLLCALL_E_IO, "cannot ask " + std::to_string(abandoned_) +
                                           " of the doors: " + abandoned_why_);
}

// Starts what can be started. Out of descriptors, the rest waits until others have finished.
void Loop::start_queued(std::int64_t now) {
  while (!queue_.empty()) {
    const std::size_t index = queue_.front();
    if (!begin(index, now)) {
      if (active_ == 0 && starved_since_ == kNever) starved_since_ = now;
      return;
    }
    starved_since_ = kNever;
    queue_.pop_front();
  }
}

// False: it could not be begun for want of descriptors; it stays queued, its time has not begun.
bool Loop::begin(std::size_t index, std::int64_t now) {
  Flight& flight = flights_[index];
  flight.started = now;
  if (flight.visit.conversation == nullptr || flight.visit.addresses.empty()) {
    ++active_;
    answer(index, std::move(flight.visit.answer), now);
    return true;
  }
  flight.deadline = now + limits_.total_timeout_ns;
  begin_connection(flight, now);
  // With nothing of ours in flight even the reserve is touched: better late than never.
  const auto step = start_connect(flight.visit.addresses[0],
                                  active_ == 0 ? 0 : limits_.reserved_descriptors, flight.socket);
  if (step.outcome == Connecting::kNoResources) return false;
  ++active_;
  on_connect_step(index, step, now);
  return true;
}

void Loop::begin_connection(Flight& flight, std::int64_t now) {
  flight.address = 0;
  flight.failed_before = false;
  flight.connect_deadline = std::min(flight.deadline, now + limits_.connect_timeout_ns);
  flight.address_deadline = flight.connect_deadline;
  if (flight.visit.addresses.size() > 1) {  // the others need a share
    flight.address_deadline = now + (flight.connect_deadline - now) * 3 / 5;
  }
}

void Loop::try_address(std::size_t index, std::int64_t now) {
  Flight& flight = flights_[index];
  hang_up(flight);
  const auto step = start_connect(flight.visit.addresses[flight.address], 0, flight.socket);
  on_connect_step(index, step, now);
}

void Loop::on_connect_step(std::size_t index, const ConnectStep& step, std::int64_t now) {
  Flight& flight = flights_[index];
  flight.starved = step.outcome == Connecting::kNoResources;
  switch (step.outcome) {
    case Connecting::kConnected:
      return await_admission(index);
    case Connecting::kPending:
      if (flight.phase == Phase::kConnecting) return;  // it woke us for nothing
      flight.phase = Phase::kConnecting;
      if (!poller_.watch(flight.socket, index, false, true)) return abandon(index, kNoResources);
      return set_timer(index, flight.address_deadline);
    case Connecting::kBusy:
    case Connecting::kNoResources:
      hang_up(flight);
      flight.phase = Phase::kRetry;
      return set_timer(index, std::min(now + kRetryNs, flight.address_deadline));
    case Connecting::kRefused:
    case Connecting::kTimedOut:
    case Connecting::kUnsupported:
      return next_address(index, connect_failure(step), now);
  }
}

void Loop::next_address(std::size_t index, plugin::DoorAnswer failure, std::int64_t now) {
  Flight& flight = flights_[index];
  hang_up(flight);
  // Of several failures the first is told, unless only a later one got as far as the host's gate
  // or hung: that one is where a listener is.
  const bool keep = flight.failed_before && (flight.failure.reason != ROLLCALL_DOOR_REFUSED ||
                                             failure.reason == ROLLCALL_DOOR_REFUSED);
  if (!keep) flight.failure = std::move(failure);
  flight.failed_before = true;
  if (flight.address + 1 == flight.visit.addresses.size() || now >= flight.connect_deadline) {
    return answer(index, std::move(flight.failure), now);
  }
  ++flight.address;
  flight.address_deadline = flight.connect_deadline;
  flight.phase = Phase::kRetry;
  try_address(index, now);
}

void Loop::await_admission(std::size_t index) {
  Flight& flight = flights_[index];
  stop_watching(flight);
  flight.phase = Phase::kConnected;
  set_timer(index, flight.deadline);
  if (waiting_.empty()) waiting_since_ = plugin::now_ns();
  waiting_.push_back(index);
}

// One question to the host about as many sockets as there are: it reads the system's tables each
// time. So it waits until no more are coming, a little at most, and no oftener than half the time.
bool Loop::may_admit(std::int64_t now, bool quiet) const {
  if (waiting_.empty() || now < next_admit_) return false;
  return quiet || now - waiting_since_ >= kAdmitDelayNs;
}

void Loop::admit_waiting(std::int64_t now) {
  std::vector<std::size_t> indices;
  std::vector<rollcall_connected> sockets;
  for (const std::size_t index : waiting_) {
    const Flight& flight = flights_[index];
    if (flight.phase != Phase::kConnected) continue;
    indices.push_back(index);
    sockets.push_back({index, flight.socket.handle()});
  }
  waiting_.clear();
  if (indices.empty()) return;
  std::vector<rollcall_admission> admissions(sockets.size());
  sink_.admit(sockets.data(), sockets.size(), admissions.data());
  const std::int64_t after = plugin::now_ns();
  next_admit_ = after + std::min(after - now, kLongestAdmitPauseNs);
  for (std::size_t i = 0; i < indices.size(); ++i) {
    on_admission(indices[i], admissions[i], after);
  }
}

void Loop::on_admission(std::size_t index, const rollcall_admission& admission, std::int64_t now) {
  Flight& flight = flights_[index];
  if (now >= flight.deadline) return abandon(index, kHostTooSlow);
  if (admission.admitted == 0) {
    return next_address(index, plugin::door_failed(ROLLCALL_DOOR_NOT_ADMITTED), now);
  }
  std::optional<std::string_view> token;
  if (admission.has_token != 0) token = plugin::view(admission.token);
  if (token && !is_header_safe(*token)) {
    return answer(index,
                  plugin::door_failed(ROLLCALL_DOOR_TOKEN_MISSING,
                                      "its token holds what no token may and was not sent"),
                  now);
  }
  take(index, flight.visit.conversation->on_admitted(token), now);
}

void Loop::take(std::size_t index, Step step, std::int64_t now) {
  Flight& flight = flights_[index];
  switch (step.what) {
    case Step::Do::kAnswer:
      return answer(index, std::move(step.answer), now);
    case Step::Do::kConnectAgain:
      hang_up(flight);
      begin_connection(flight, now);
      flight.phase = Phase::kRetry;
      return try_address(index, now);
    case Step::Do::kSend:
      flight.phase = Phase::kSpeaking;
      flight.out = std::move(step.bytes);
      flight.sent = 0;
      flight.response = HttpResponse(flight.visit.conversation->reads_error_bodies(), limits_.http);
      if (!poller_.watch(flight.socket, index, true, true)) return abandon(index, kNoResources);
      return speak(index, now);
  }
}

void Loop::on_ready(const Readiness& ready, std::int64_t now) {
  Flight& flight = flights_[ready.key];
  if (flight.phase == Phase::kConnecting) {
    return on_connect_step(ready.key, finish_connect(flight.socket), now);
  }
  if (flight.phase != Phase::kSpeaking) return;
  if (ready.writable && !flight.out.empty()) speak(ready.key, now);
  if (ready.readable && flight.phase == Phase::kSpeaking) listen(ready.key, now);
}

void Loop::speak(std::size_t index, std::int64_t) {
  Flight& flight = flights_[index];
  const auto step = transmit(flight.socket, std::string_view(flight.out).substr(flight.sent));
  if (step.outcome == Transfer::kAgain) return;
  flight.sent += step.bytes;
  // On a broken connection too: what the peer said before it broke is still to be read.
  if (step.outcome != Transfer::kBytes || flight.sent == flight.out.size()) {
    wipe(flight.out);
    poller_.change(flight.socket, index, true, false);
  }
}

void Loop::listen(std::size_t index, std::int64_t now) {
  Flight& flight = flights_[index];
  const auto step = receive(flight.socket, buffer_);
  switch (step.outcome) {
    case Transfer::kAgain:
      return;
    case Transfer::kBytes:
      flight.response.feed(std::string_view(buffer_.data(), step.bytes));
      break;
    case Transfer::kClosed:
      flight.response.finish(true);
      break;
    case Transfer::kBroken:
      flight.response.finish(false);
      break;
  }
  on_response_state(index, now);
}

void Loop::on_response_state(std::size_t index, std::int64_t now) {
  Flight& flight = flights_[index];
  const HttpResponse& response = flight.response;
  buffered_ += response.held_bytes() - flight.buffered;
  flight.buffered = response.held_bytes();
  if (response.state() == HttpState::kComplete) {
    return take(index, flight.visit.conversation->on_response(response), now);
  }
  if (response.state() == HttpState::kMore) {
    if (buffered_ <= limits_.buffered_bytes) return;
    return answer(
        index,
        plugin::door_failed(ROLLCALL_DOOR_TOO_LARGE, "the doors asked together answer too much"),
        now);
  }
  std::uint32_t reason = ROLLCALL_DOOR_BAD_HTTP;
  if (response.problem() == HttpProblem::kTooLarge) reason = ROLLCALL_DOOR_TOO_LARGE;
  if (response.problem() == HttpProblem::kClosedEarly) reason = ROLLCALL_DOOR_CLOSED_EARLY;
  auto failure = plugin::door_failed(reason, response.detail());
  failure.http_status = static_cast<std::uint32_t>(response.status());
  answer(index, std::move(failure), now);
}

void Loop::expire(std::int64_t now) {
  while (!timers_.empty() && timers_.top().when <= now) {
    const Timer timer = timers_.top();
    timers_.pop();
    const Flight& flight = flights_[timer.index];
    if (flight.phase != Phase::kDone && flight.timer == timer.when) on_timer(timer.index, now);
  }
}

void Loop::on_timer(std::size_t index, std::int64_t now) {
  Flight& flight = flights_[index];
  switch (flight.phase) {
    case Phase::kRetry:
      if (now < flight.address_deadline) return try_address(index, now);
      if (flight.starved) return abandon(index, kNoResources);
      [[fallthrough]];
    case Phase::kConnecting:
      return next_address(index, plugin::door_failed(ROLLCALL_DOOR_CONNECT_TIMEOUT, ""), now);
    case Phase::kConnected:
      return abandon(index, kHostTooSlow);
    case Phase::kSpeaking:
      return answer(index,
                    plugin::door_failed(ROLLCALL_DOOR_READ_TIMEOUT, "it took the connection"), now);
    case Phase::kQueued:
    case Phase::kDone:
      return;
  }
}

void Loop::set_timer(std::size_t index, std::int64_t when) {
  flights_[index].timer = when;
  timers_.push({when, index});
}

void Loop::stop_watching(const Flight& flight) {
  if (flight.phase == Phase::kConnecting || flight.phase == Phase::kSpeaking) {
    poller_.forget(flight.socket);
  }
}

void Loop::hang_up(Flight& flight) {
  stop_watching(flight);
  flight.socket.close();
  wipe(flight.out);
  buffered_ -= flight.buffered;
  flight.buffered = 0;
  flight.response = HttpResponse();
}

void Loop::answer(std::size_t index, plugin::DoorAnswer answer, std::int64_t now) {
  Flight& flight = flights_[index];
  hang_up(flight);
  flight.phase = Phase::kDone;
  --active_;
  answer.elapsed_ns = std::max<std::int64_t>(now - flight.started, 0);
  sink_.answer(index, answer);
  flight.visit.conversation.reset();
}

// No answer: something of ours failed, which is no evidence about the door.
void Loop::abandon(std::size_t index, const char* why) {
  Flight& flight = flights_[index];
  abandoned_why_ = why;
  hang_up(flight);
  flight.phase = Phase::kDone;
  --active_;
  ++abandoned_;
}

std::int64_t Loop::wait_ns(std::int64_t now) const {
  std::int64_t until = now + kCancelPollNs;
  if (!timers_.empty()) until = std::min(until, timers_.top().when);
  if (call_.deadline_ns() < until) until = call_.deadline_ns();
  if (!queue_.empty()) until = std::min(until, now + kRetryNs);
  if (!waiting_.empty()) until = std::min(until, next_admit_);
  return std::max<std::int64_t>(until - now, 0);
}

}  // namespace

plugin::Status visit_doors(std::vector<Visit> visits, const LoopLimits& limits,
                           const plugin::DoorSink& sink, const plugin::Call& call) {
  if (visits.empty()) return {};
  auto poller = Poller::open();
  if (!poller) {
    return plugin::Status(ROLLCALL_E_IO, std::string("cannot ask doors: ") + kNoResources);
  }
  return Loop(std::move(visits), limits, sink, call, std::move(*poller)).run();
}

}  // namespace rollcall::doors
