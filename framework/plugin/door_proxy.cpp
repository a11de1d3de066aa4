#include <fmt/format.h>

#include <algorithm>
#include <deque>
#include <limits>
#include <mutex>
#include <vector>

#include "plugin/proxies.hpp"
#include "plugin/watched.hpp"

namespace rollcall::loader {
namespace {

constexpr std::size_t kMaxNamedBytes = 1024;
constexpr std::size_t kMaxDetailBytes = 1024;
constexpr std::size_t kAdapterThreads = 64;  // side by side at most, by the adapter's own prober

Reason reason_of(std::uint32_t reason) {
  switch (reason) {
    case ROLLCALL_DOOR_REFUSED:
      return Reason::kRefused;
    case ROLLCALL_DOOR_CONNECT_TIMEOUT:
      return Reason::kConnectTimeout;
    case ROLLCALL_DOOR_READ_TIMEOUT:
      return Reason::kReadTimeout;
    case ROLLCALL_DOOR_CLOSED_EARLY:
      return Reason::kClosedEarly;
    case ROLLCALL_DOOR_BAD_HTTP:
      return Reason::kBadHttp;
    case ROLLCALL_DOOR_HTTP_STATUS:
      return Reason::kHttpStatus;
    case ROLLCALL_DOOR_RPC_ERROR:
      return Reason::kRpcError;
    case ROLLCALL_DOOR_NOT_JSON:
      return Reason::kNotJson;
    case ROLLCALL_DOOR_NO_SESSION:
      return Reason::kNoSession;
    case ROLLCALL_DOOR_TOKEN_REFUSED:
      return Reason::kTokenRefused;
    case ROLLCALL_DOOR_TOO_LARGE:
      return Reason::kTooLarge;
    case ROLLCALL_DOOR_NOT_LOOPBACK:
      return Reason::kNotLoopback;
    case ROLLCALL_DOOR_BAD_URL:
      return Reason::kBadUrl;
    case ROLLCALL_DOOR_TOKEN_MISSING:
      return Reason::kTokenMissing;
    case ROLLCALL_DOOR_NOT_ADMITTED:
      return Reason::kOwnerUnknown;  // who ruled it out knows better, and says so in its place
    default:
      return Reason::kNotSupported;
  }
}

std::string copy(const rollcall_str& text, std::size_t limit) {
  if (text.data == nullptr) return {};
  return std::string(text.data,
                     static_cast<std::size_t>(std::min<std::uint64_t>(text.size, limit)));
}

// A plugin's answer as the framework takes it.
DoorReading take_answer(const rollcall_door_answer& from) {
  DoorReading into;
  into.elapsed_ns = std::max<std::int64_t>(from.elapsed_ns, 0);
  into.http_status = from.http_status <= 999 ? static_cast<int>(from.http_status) : 0;
  into.detail = copy(from.detail, kMaxDetailBytes);
  if (from.outcome == ROLLCALL_DOOR_HELD) {
    into.answered = true;
  } else if (from.outcome == ROLLCALL_DOOR_NAMED) {
    into.session = copy(from.named, kMaxNamedBytes);
    const bool whole = from.named.size == into.session.size();
    into.answered = into.named = whole && !into.session.empty();
    if (!into.named) {
      into.session.clear();
      into.reason = Reason::kNoSession;
    }
  } else if (from.outcome == ROLLCALL_DOOR_FAILED) {
    into.reason = reason_of(from.reason);
    if (from.reason < ROLLCALL_DOOR_REFUSED || from.reason > ROLLCALL_DOOR_NOT_ADMITTED) {
      into.detail = fmt::format("the plugin gave reason {}, which is none", from.reason);
    }
  } else {
    into.reason = Reason::kNotSupported;
    into.detail = fmt::format("the plugin gave outcome {}, which is none", from.outcome);
  }
  return into;
}

// Overwrites a secret before its memory goes back.
void wipe(std::string& secret) {
  volatile char* bytes = secret.data();
  for (std::size_t i = 0; i < secret.size(); ++i) bytes[i] = 0;
}

// One probe: the batch in the plugin's form and the host's half. A third party's threads may still
// call in when nobody waits any more, so it owns what they see, and is closed then.
class ProbeJob {
 public:
  ProbeJob(std::span<const DoorAsk> asks, const DoorLimits& limits, std::string plugin,
           bool may_have_token, const DoorProber::Admit& admit, const DoorProber::Answer& answer)
      : asks_(asks.begin(), asks.end()),
        plugin_(std::move(plugin)),
        may_have_token_(may_have_token),
        admit_(&admit),
        answer_(&answer),
        answered_(asks.size(), false) {
    lay_out();
    batch_ = {.struct_size = sizeof(rollcall_door_batch),
              .item_stride = sizeof(rollcall_door_item),
              .count = items_.size(),
              .items = items_.data(),
              .connect_timeout_ns = limits.connect_timeout_ns,
              .total_timeout_ns = limits.total_timeout_ns};
    sink_ = {.struct_size = sizeof(rollcall_door_sink),
             .context = this,
             .admit = &ProbeJob::on_admit,
             .answer = &ProbeJob::on_answer};
  }
  ~ProbeJob() {
    for (std::string& token : tokens_) wipe(token);
  }
  ProbeJob(const ProbeJob&) = delete;
  ProbeJob& operator=(const ProbeJob&) = delete;

  [[nodiscard]] const rollcall_door_batch& batch() const { return batch_; }
  [[nodiscard]] const rollcall_door_sink& sink() const { return sink_; }

  // From here on nothing reaches the caller. Answers for those that the plugin left out, and says
  // how many answers were too many.
  std::size_t close(const std::string& why) {
    const std::lock_guard lock(mutex_);
    closed_ = true;
    for (std::size_t i = 0; i < answered_.size(); ++i) {
      if (answered_[i]) continue;
      answered_[i] = true;
      DoorReading reading;
      reading.reason = Reason::kUnverified;  // the plugin failed: no evidence about the door
      reading.detail = why;
      reading.plugin = plugin_;
      (*answer_)(i, std::move(reading));
    }
    return surplus_;
  }

 private:
  static rollcall_str str(const std::string& text) { return {text.data(), text.size()}; }

  void lay_out() {
    for (const DoorAsk& ask : asks_) {
      for (const Endpoint& endpoint : ask.endpoints) {
        endpoints_.push_back({.host = str(endpoint.host), .port = endpoint.port});
      }
      for (const auto& [key, value] : ask.settings) {
        settings_.push_back({.key = str(key), .value = str(value)});
      }
    }
    const rollcall_endpoint* endpoint = endpoints_.data();
    const rollcall_setting* setting = settings_.data();
    for (const DoorAsk& ask : asks_) {
      items_.push_back({.session_id = str(ask.session_id),
                        .kind = str(ask.kind),
                        .authority = str(ask.authority),
                        .endpoints = endpoint,
                        .endpoint_count = ask.endpoints.size(),
                        .settings = setting,
                        .setting_count = ask.settings.size()});
      endpoint += ask.endpoints.size();
      setting += ask.settings.size();
    }
  }

  static void on_admit(void* context, const rollcall_connected* sockets, std::uint64_t count,
                       rollcall_admission* admissions) noexcept {
    if (admissions == nullptr || sockets == nullptr) return;
    for (std::uint64_t i = 0; i < count; ++i) admissions[i] = {};
    try {
      static_cast<ProbeJob*>(context)->rule(sockets, static_cast<std::size_t>(count), admissions);
    } catch (...) {
      for (std::uint64_t i = 0; i < count; ++i) admissions[i] = {};
    }
  }

  void rule(const rollcall_connected* sockets, std::size_t count, rollcall_admission* admissions) {
    const std::lock_guard lock(mutex_);
    if (closed_) return;
    std::vector<ConnectedSocket> connected;
    std::vector<std::size_t> places;
    for (std::size_t i = 0; i < count; ++i) {
      if (sockets[i].item >= asks_.size()) continue;
      connected.push_back(
          {.item = static_cast<std::size_t>(sockets[i].item), .socket = sockets[i].socket});
      places.push_back(i);
    }
    std::vector<Admission> rulings(connected.size());
    (*admit_)(connected, rulings);
    for (std::size_t i = 0; i < rulings.size(); ++i) {
      if (!rulings[i].admitted) continue;
      rollcall_admission& admission = admissions[places[i]];
      admission.admitted = 1;
      if (!rulings[i].token || !may_have_token_) continue;
      tokens_.push_back(std::move(*rulings[i].token));
      admission.has_token = 1;
      admission.token = str(tokens_.back());
    }
  }

  static void on_answer(void* context, std::uint64_t item,
                        const rollcall_door_answer* answer) noexcept {
    if (answer == nullptr || answer->struct_size < sizeof(rollcall_door_answer)) return;
    try {
      static_cast<ProbeJob*>(context)->deliver(item, *answer);
    } catch (...) {  // NOLINT(bugprone-empty-catch): it will be answered for at the end
    }
  }

  void deliver(std::uint64_t item, const rollcall_door_answer& answer) {
    DoorReading reading = take_answer(answer);
    reading.plugin = plugin_;
    const std::lock_guard lock(mutex_);
    if (closed_ || item >= answered_.size() || answered_[item]) {
      ++surplus_;
      return;
    }
    answered_[item] = true;
    (*answer_)(static_cast<std::size_t>(item), std::move(reading));
  }

  std::vector<DoorAsk> asks_;
  std::string plugin_;
  bool may_have_token_;  // the caller rules by it too; a secret is worth asking twice
  std::vector<rollcall_endpoint> endpoints_;
  std::vector<rollcall_setting> settings_;
  std::vector<rollcall_door_item> items_;
  rollcall_door_batch batch_{};
  rollcall_door_sink sink_{};

  std::mutex mutex_;
  bool closed_ = false;
  const DoorProber::Admit* admit_;    // the caller's; not touched once closed
  const DoorProber::Answer* answer_;  // the caller's; not touched once closed
  std::vector<bool> answered_;
  std::deque<std::string> tokens_;  // addresses are lent to the plugin
  std::size_t surplus_ = 0;
};

class DoorProxy final : public DoorProber {
 public:
  DoorProxy(std::shared_ptr<Instance> instance, const rollcall_door_prober& table,
            bool may_have_token)
      : instance_(std::move(instance)), table_(table), may_have_token_(may_have_token) {}

  [[nodiscard]] std::string id() const override { return instance_->id(); }
  [[nodiscard]] bool may_have_token() const override { return may_have_token_; }

  [[nodiscard]] Status probe(std::span<const DoorAsk> asks, const DoorLimits& limits,
                             const Admit& admit, const Answer& answer, const Call& call) override {
    return converse("probe", asks, limits, admit, answer, call,
                    [slot = table_.probe](ProbeJob& job, void* self, const rollcall_call* bounds,
                                          rollcall_error* error) {
                      return slot(self, &job.batch(), &job.sink(), bounds, error);
                    });
  }

  [[nodiscard]] Status stop(std::span<const DoorAsk> asks, const std::string& reason,
                            const DoorLimits& limits, const Admit& admit, const Answer& answer,
                            const Call& call) override {
    if (table_.stop == nullptr) return instance_->not_offered("stop");
    return converse(
        "stop", asks, limits, admit, answer, call,
        [slot = table_.stop, reason](ProbeJob& job, void* self, const rollcall_call* bounds,
                                     rollcall_error* error) {
          return slot(self, &job.batch(), {reason.data(), reason.size()}, &job.sink(), bounds,
                      error);
        });
  }

 private:
  template <class Body>
  [[nodiscard]] Status converse(const char* what, std::span<const DoorAsk> asks,
                                const DoorLimits& limits, const Admit& admit, const Answer& answer,
                                const Call& call, Body body) {
    if (asks.empty()) return {};
    if (!admit || !answer) {
      return fail(ErrorCode::kInvalid, fmt::format("{}: admit or answer is missing", what));
    }
    auto job = std::make_shared<ProbeJob>(asks, limits, id(), may_have_token_, admit, answer);
    const Status done = instance_->run(
        what,
        [job, body](void* self, const rollcall_call* bounds, rollcall_error* error) {
          return body(*job, self, bounds, error);
        },
        call, third_party_limit(asks.size(), limits));
    const std::size_t surplus = job->close(
        done ? fmt::format("plugin {} gave no answer for this door", id()) : done.error().message);
    if (surplus > 0) {
      instance_->code().log(ROLLCALL_LOG_WARNING,
                            fmt::format("plugin {} gave {} answers too many", id(), surplus));
    }
    return {};
  }

  // A third party's doors are asked in rounds of the adapter's threads.
  static std::int64_t third_party_limit(std::size_t count, const DoorLimits& limits) {
    const auto rounds = static_cast<std::int64_t>((count + kAdapterThreads - 1) / kAdapterThreads);
    const std::int64_t each = std::max<std::int64_t>(limits.total_timeout_ns, 0);
    if (each > std::numeric_limits<std::int64_t>::max() / (rounds + 1)) return kThirdPartyLimitNs;
    return each * rounds;
  }

  std::shared_ptr<Instance> instance_;
  rollcall_door_prober table_;
  bool may_have_token_;
};

}  // namespace

Result<std::shared_ptr<DoorProber>> make_door_prober(const PluginContext& context,
                                                     const Settings& settings,
                                                     bool may_have_token) {
  const auto& table = context.code->door();
  if (!table) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("plugin {} offers no door prober", context.code->id()));
  }
  auto instance = Instance::make(context, slots_of(*table), settings);
  if (!instance) return tl::unexpected<Error>(std::move(instance.error()));
  return std::make_shared<DoorProxy>(std::move(*instance), *table, may_have_token);
}

}  // namespace rollcall::loader
