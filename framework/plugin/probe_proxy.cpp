#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <vector>

#include "plugin/proxies.hpp"

namespace rollcall::loader {
namespace {

// Rollcall's own probes are asked in rounds of this many, which stay in the processor's cache.
constexpr std::size_t kRound = 64;
constexpr std::size_t kMaxReadBytes = 16U * 1024 * 1024;
constexpr std::size_t kMaxProcesses = 8U * 1024 * 1024;

static_assert(kWantStartToken == ROLLCALL_WANT_START_TOKEN);
static_assert(kWantExactId == ROLLCALL_WANT_EXACT_ID);
static_assert(kWantState == ROLLCALL_WANT_STATE);
static_assert(kWantAge == ROLLCALL_WANT_AGE);
static_assert(kWantExactSuffices == ROLLCALL_WANT_EXACT_SUFFICES);
static_assert(static_cast<int>(ReadWhat::kCommand) == ROLLCALL_READ_COMMAND);
static_assert(static_cast<int>(ReadWhat::kEnvironment) == ROLLCALL_READ_ENVIRONMENT);
static_assert(static_cast<int>(ReadWhat::kCwd) == ROLLCALL_READ_CWD);
static_assert(static_cast<int>(ReadWhat::kParent) == ROLLCALL_READ_PARENT);
static_assert(static_cast<int>(ReadWhat::kName) == ROLLCALL_READ_NAME);
static_assert(static_cast<int>(ReadWhat::kUsers) == ROLLCALL_READ_USERS);

rollcall_observe_batch batch_of(const rollcall_ask* asks, rollcall_observation* readings,
                                std::size_t count) {
  return {.struct_size = sizeof(rollcall_observe_batch),
          .ask_stride = sizeof(rollcall_ask),
          .observation_stride = sizeof(rollcall_observation),
          .count = count,
          .asks = asks,
          .observations = readings};
}

void set_unreadable(Observation& into, std::int64_t pid, std::string_view reason) {
  into = Observation{};
  into.pid = pid;
  into.reason.assign(reason);
}

// What a third party's observe may still be writing to when nobody waits any more.
struct ObserveJob {
  std::vector<rollcall_ask> asks;
  std::vector<rollcall_observation> readings;
  explicit ObserveJob(std::span<const Ask> from) : readings(from.size()) {
    asks.reserve(from.size());
    for (const Ask& ask : from) asks.push_back({.pid = ask.pid, .wants = ask.wants});
  }
};

struct ListJob {
  std::vector<ProcessRow> rows;
  static std::int32_t take(void* context, std::int64_t pid, std::int64_t parent) noexcept {
    auto& rows = static_cast<ListJob*>(context)->rows;
    if (!is_possible_pid(pid)) return ROLLCALL_E_INVALID;
    if (rows.size() >= kMaxProcesses) return ROLLCALL_E_TOO_LARGE;
    try {
      ProcessRow row{.pid = pid};
      if (parent >= 0 && parent <= kMaxPid) row.parent = parent;
      rows.push_back(row);
    } catch (...) {
      return ROLLCALL_E_NO_MEMORY;
    }
    return ROLLCALL_OK;
  }
};

struct ReadJob {
  std::string bytes;
  static std::int32_t take(void* context, const void* data, std::uint64_t size) noexcept {
    auto& bytes = static_cast<ReadJob*>(context)->bytes;
    if (size == 0) return ROLLCALL_OK;
    if (data == nullptr) return ROLLCALL_E_INVALID;
    if (size > kMaxReadBytes - bytes.size()) return ROLLCALL_E_TOO_LARGE;
    try {
      bytes.append(static_cast<const char*>(data), static_cast<std::size_t>(size));
    } catch (...) {
      return ROLLCALL_E_NO_MEMORY;
    }
    return ROLLCALL_OK;
  }
};

struct SocketJob {
  std::vector<rollcall_socket_ask> asks;
  std::vector<rollcall_socket_answer> answers;
  explicit SocketJob(std::span<const SocketAsk> from) : answers(from.size()) {
    for (const SocketAsk& ask : from) {
      std::int64_t uid = -1;
      if (ask.owner_uid && *ask.owner_uid <= INT64_MAX) {
        uid = static_cast<std::int64_t>(*ask.owner_uid);
      }
      asks.push_back({.socket = ask.socket, .pid = ask.pid, .owner_uid = uid});
    }
  }
};

Ownership ownership_of(std::uint32_t owner) {
  switch (owner) {
    case ROLLCALL_OWNER_PROCESS:
      return Ownership::kProcess;
    case ROLLCALL_OWNER_UID_ONLY:
      return Ownership::kUidOnly;
    case ROLLCALL_OWNER_FOREIGN:
      return Ownership::kForeign;
    default:
      return Ownership::kUnknown;
  }
}

void take_socket_answer(const rollcall_socket_answer& from, SocketAnswer& into) {
  into = SocketAnswer{};
  if (from.peer_size > sizeof(from.peer) || from.reason_size > sizeof(from.reason)) {
    into.reason = "the plugin's answer makes no sense";
    return;
  }
  into.owner = ownership_of(from.owner);
  into.loopback = (from.flags & ROLLCALL_SOCKET_LOOPBACK) != 0;
  into.self_connect = (from.flags & ROLLCALL_SOCKET_SELF_CONNECT) != 0;
  into.unix_domain = (from.flags & ROLLCALL_SOCKET_UNIX) != 0;
  into.holder_pid = is_possible_pid(from.holder_pid) ? from.holder_pid : 0;
  into.peer.assign(from.peer, from.peer_size);
  into.reason.assign(from.reason, from.reason_size);
}

class ProbeProxy final : public ProcessProbe {
 public:
  ProbeProxy(std::shared_ptr<Instance> instance, const rollcall_process_probe& table,
             bool is_platform)
      : instance_(std::move(instance)), table_(table), is_platform_(is_platform) {}

  [[nodiscard]] std::string id() const override { return instance_->id(); }
  [[nodiscard]] bool is_platform() const override { return is_platform_; }

  [[nodiscard]] Status observe(std::span<const Ask> asks, std::span<Observation> out,
                               const Call& call) override {
    if (asks.size() != out.size()) {
      return fail(ErrorCode::kInvalid, "observe: asks and readings differ in number");
    }
    if (!instance_->builtin()) return observe_watched(asks, out, call);
    return instance_->run_here(
        "observe", call,
        [&](void* self, const rollcall_call* bounds, rollcall_error* error) -> std::int32_t {
          return observe_rounds(self, asks, out, bounds, error);
        });
  }

  [[nodiscard]] Result<WhoAmI> whoami(const Call& call) override {
    if (table_.whoami == nullptr) return instance_->not_offered("whoami");
    auto job = std::make_shared<rollcall_whoami>();
    job->struct_size = sizeof(rollcall_whoami);
    Status done = instance_->run(
        "whoami",
        [job, slot = table_.whoami](void* self, const rollcall_call* bounds,
                                    rollcall_error* error) {
          return slot(self, job.get(), bounds, error);
        },
        call);
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
    auto taken = take_whoami(*job);
    if (!taken) return wrap(fmt::format("plugin {}: whoami", id()), std::move(taken.error()));
    return taken;
  }

  [[nodiscard]] Result<std::vector<ProcessRow>> list(const Call& call) override {
    if (table_.list == nullptr) return instance_->not_offered("list");
    auto job = std::make_shared<ListJob>();
    Status done = instance_->run(
        "list",
        [job, slot = table_.list](void* self, const rollcall_call* bounds, rollcall_error* error) {
          const rollcall_pid_sink sink = {.struct_size = sizeof(rollcall_pid_sink),
                                          .context = job.get(),
                                          .pid = &ListJob::take};
          return slot(self, &sink, bounds, error);
        },
        call);
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
    return std::move(job->rows);
  }

  [[nodiscard]] Result<std::string> read(std::int64_t pid, ReadWhat what,
                                         const Call& call) override {
    if (table_.read == nullptr) return instance_->not_offered("read");
    if (!is_possible_pid(pid)) {
      return fail(ErrorCode::kNotFound, fmt::format("no process can have the pid {}", pid));
    }
    auto job = std::make_shared<ReadJob>();
    Status done = instance_->run(
        "read",
        [job, pid, what, slot = table_.read](void* self, const rollcall_call* bounds,
                                             rollcall_error* error) {
          const rollcall_sink sink = {
              .struct_size = sizeof(rollcall_sink), .context = job.get(), .write = &ReadJob::take};
          return slot(self, pid, static_cast<std::uint32_t>(what), &sink, bounds, error);
        },
        call);
    if (done) return std::move(job->bytes);
    Error error = std::move(done.error());
    if (error.code == ErrorCode::kIo || error.code == ErrorCode::kCorrupt) {
      error.code = ErrorCode::kUnreadable;
    }
    return tl::unexpected<Error>(std::move(error));
  }

  [[nodiscard]] Status port_owner(std::span<const SocketAsk> asks, std::span<SocketAnswer> out,
                                  const Call& call) override {
    if (table_.port_owner == nullptr) return instance_->not_offered("port_owner");
    if (asks.size() != out.size()) {
      return fail(ErrorCode::kInvalid, "port_owner: asks and answers differ in number");
    }
    auto job = std::make_shared<SocketJob>(asks);
    Status done = instance_->run(
        "port_owner",
        [job, slot = table_.port_owner](void* self, const rollcall_call* bounds,
                                        rollcall_error* error) {
          const rollcall_socket_batch batch = {.struct_size = sizeof(rollcall_socket_batch),
                                               .ask_stride = sizeof(rollcall_socket_ask),
                                               .answer_stride = sizeof(rollcall_socket_answer),
                                               .count = job->asks.size(),
                                               .asks = job->asks.data(),
                                               .answers = job->answers.data()};
          return slot(self, &batch, bounds, error);
        },
        call);
    if (!done) return done;
    for (std::size_t i = 0; i < out.size(); ++i) take_socket_answer(job->answers[i], out[i]);
    return {};
  }

 private:
  std::int32_t observe_rounds(void* self, std::span<const Ask> asks, std::span<Observation> out,
                              const rollcall_call* bounds, rollcall_error* error) const {
    rollcall_ask raw[kRound];
    rollcall_observation readings[kRound];
    for (std::size_t at = 0; at < asks.size(); at += kRound) {
      const std::size_t count = std::min(kRound, asks.size() - at);
      for (std::size_t i = 0; i < count; ++i) {
        raw[i] = {.pid = asks[at + i].pid, .wants = asks[at + i].wants, .reserved = 0};
      }
      std::memset(readings, 0, count * sizeof(readings[0]));
      const rollcall_observe_batch batch = batch_of(raw, readings, count);
      const std::int32_t code = table_.observe(self, &batch, bounds, error);
      if (code != ROLLCALL_OK) return code;
      for (std::size_t i = 0; i < count; ++i) {
        take_observation(readings[i], raw[i].pid, out[at + i]);
      }
    }
    return ROLLCALL_OK;
  }

  Status observe_watched(std::span<const Ask> asks, std::span<Observation> out, const Call& call) {
    auto job = std::make_shared<ObserveJob>(asks);
    Status done = instance_->run(
        "observe",
        [job, slot = table_.observe](void* self, const rollcall_call* bounds,
                                     rollcall_error* error) {
          const rollcall_observe_batch batch =
              batch_of(job->asks.data(), job->readings.data(), job->asks.size());
          return slot(self, &batch, bounds, error);
        },
        call);
    if (!done && instance_->code().health().lost()) {
      // Answers unknown from now on, row by row: nobody's sweep is to fail for it.
      for (std::size_t i = 0; i < out.size(); ++i) {
        set_unreadable(out[i], asks[i].pid, fmt::format("plugin {} is unresponsive", id()));
      }
      return {};
    }
    if (!done) return done;
    for (std::size_t i = 0; i < out.size(); ++i) {
      take_observation(job->readings[i], asks[i].pid, out[i]);
    }
    return {};
  }

  std::shared_ptr<Instance> instance_;
  rollcall_process_probe table_;
  bool is_platform_;
};

bool is_visible_ascii(std::string_view text) {
  for (const char c : text) {
    if (c <= 0x20 || c >= 0x7F) return false;
  }
  return true;
}

}  // namespace

void take_observation(const rollcall_observation& from, std::int64_t pid, Observation& into) {
  into.pid = pid;
  into.thread = false;
  into.suspended.reset();
  into.exact_id.reset();
  into.age_ns.reset();
  into.start_unix_ns.reset();
  into.os_code = 0;
  into.start_token.clear();
  into.reason.clear();
  into.presence = Presence::kUnreadable;
  if (from.presence > ROLLCALL_PRESENCE_ABSENT ||
      from.start_token_size > sizeof(from.start_token) || from.reason_size > sizeof(from.reason) ||
      (from.pid != pid && from.pid != 0)) {
    into.reason.assign("the plugin's reading makes no sense");
    return;
  }
  into.presence = static_cast<Presence>(from.presence);
  if (into.presence == Presence::kUnreadable) {
    into.os_code = from.os_code;
    into.reason.assign({from.reason, from.reason_size});
    if (into.reason.empty()) into.reason.assign("the plugin gives no reason");
  }
  into.thread = into.presence == Presence::kAbsent && (from.flags & ROLLCALL_OBS_THREAD) != 0;
  if ((from.flags & ROLLCALL_OBS_START_TOKEN) != 0) {
    const std::string_view token(from.start_token, from.start_token_size);
    if (is_visible_ascii(token)) into.start_token.assign(token);
  }
  if ((from.flags & ROLLCALL_OBS_EXACT_ID) != 0 && from.exact_id != 0) {
    into.exact_id = from.exact_id;
  }
  if ((from.flags & ROLLCALL_OBS_STATE) != 0) {
    into.suspended = (from.flags & ROLLCALL_OBS_SUSPENDED) != 0;
  }
  if ((from.flags & ROLLCALL_OBS_AGE) != 0 && from.age_ns >= 0) into.age_ns = from.age_ns;
  if ((from.flags & ROLLCALL_OBS_START_TIME) != 0) into.start_unix_ns = from.start_unix_ns;
}

static_assert(static_cast<int>(Presence::kUnreadable) == ROLLCALL_PRESENCE_UNREADABLE);
static_assert(static_cast<int>(Presence::kPresent) == ROLLCALL_PRESENCE_PRESENT);
static_assert(static_cast<int>(Presence::kExited) == ROLLCALL_PRESENCE_EXITED);
static_assert(static_cast<int>(Presence::kAbsent) == ROLLCALL_PRESENCE_ABSENT);

Result<std::shared_ptr<ProcessProbe>> make_probe(const PluginContext& context,
                                                 const Settings& settings, bool is_platform) {
  const auto& table = context.code->probe();
  if (!table) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("plugin {} offers no process probe", context.code->id()));
  }
  auto instance = Instance::make(context, slots_of(*table), settings);
  if (!instance) return tl::unexpected<Error>(std::move(instance.error()));
  return std::make_shared<ProbeProxy>(std::move(*instance), *table, is_platform);
}

}  // namespace rollcall::loader
