#include <fmt/format.h>

#include <algorithm>
#include <vector>

#include "plugin/judge_frame.hpp"
#include "plugin/proxies.hpp"

namespace rollcall::loader {
namespace {

static_assert(static_cast<int>(WatchResult::kUnverified) == ROLLCALL_WATCH_UNVERIFIED);
static_assert(static_cast<int>(WatchResult::kWatched) == ROLLCALL_WATCH_WATCHED);
static_assert(static_cast<int>(WatchResult::kGone) == ROLLCALL_WATCH_GONE);
static_assert(static_cast<int>(WatchResult::kUnsupported) == ROLLCALL_WATCH_UNSUPPORTED);
static_assert(static_cast<int>(WatchResult::kLimit) == ROLLCALL_WATCH_LIMIT);
static_assert(static_cast<int>(KernelEventKind::kEnded) == ROLLCALL_WATCH_EVENT_ENDED);
static_assert(static_cast<int>(KernelEventKind::kChanged) == ROLLCALL_WATCH_EVENT_CHANGED);
static_assert(static_cast<int>(KernelEventKind::kLost) == ROLLCALL_WATCH_EVENT_LOST);
static_assert(static_cast<int>(KernelEventKind::kOverflow) == ROLLCALL_WATCH_EVENT_OVERFLOW);

constexpr std::size_t kEvents = 128;  // of one wait

WatchOutcome take_outcome(const rollcall_watch_outcome& from) {
  WatchOutcome outcome;
  if (from.outcome > ROLLCALL_WATCH_LIMIT) {
    outcome.reason = "the plugin's answer makes no sense";
    return outcome;
  }
  outcome.result = static_cast<WatchResult>(from.outcome);
  outcome.os_code = from.os_code;
  outcome.reason.assign(from.reason, std::min<std::size_t>(from.reason_size, sizeof(from.reason)));
  return outcome;
}

// Handed out for the platform's own backend only, so its slots run on the caller's thread.
class WatchProxy final : public Watcher {
 public:
  WatchProxy(std::shared_ptr<Instance> instance, const rollcall_watch& table)
      : instance_(std::move(instance)), table_(table), events_(kEvents) {}

  [[nodiscard]] Result<WatchOutcome> add_process(std::uint64_t id, std::int64_t pid,
                                                 const Judge& judge, const Call& call) override {
    if (!judge.judge) return fail(ErrorCode::kInvalid, "add_process: there is no judge");
    if (!is_possible_pid(pid)) {
      return WatchOutcome{WatchResult::kGone, fmt::format("no process can have the pid {}", pid),
                          0};
    }
    JudgeFrame frame{judge, pid};
    const rollcall_judge raw_judge = frame.raw();
    rollcall_watch_outcome outcome{};
    outcome.struct_size = sizeof(outcome);
    Status done = instance_->run_here(
        "add_process", call, [&](void* self, const rollcall_call* bounds, rollcall_error* error) {
          return table_.add_process(self, id, pid, &raw_judge, &outcome, bounds, error);
        });
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
    if (outcome.outcome == ROLLCALL_WATCH_WATCHED && frame.said != ROLLCALL_JUDGE_ALIVE) {
      (void)remove(id);
      return fail(ErrorCode::kInternal,
                  fmt::format("plugin {} watched pid {} without the judge's licence",
                              instance_->id(), pid));
    }
    return take_outcome(outcome);
  }

  [[nodiscard]] Result<WatchOutcome> add_directory(std::uint64_t id, std::string_view path,
                                                   const Call& call) override {
    rollcall_watch_outcome outcome{};
    outcome.struct_size = sizeof(outcome);
    const rollcall_str raw_path{path.data(), path.size()};
    Status done = instance_->run_here(
        "add_directory", call, [&](void* self, const rollcall_call* bounds, rollcall_error* error) {
          return table_.add_directory(self, id, raw_path, &outcome, bounds, error);
        });
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
    return take_outcome(outcome);
  }

  [[nodiscard]] Status remove(std::uint64_t id) override {
    return instance_->run_here("remove", {},
                               [&](void* self, const rollcall_call*, rollcall_error* error) {
                                 return table_.remove(self, id, error);
                               });
  }

  [[nodiscard]] Result<std::vector<KernelEvent>> wait(const Call& call) override {
    rollcall_watch_batch batch{};
    batch.struct_size = sizeof(batch);
    batch.event_stride = sizeof(rollcall_watch_event);
    batch.capacity = events_.size();
    batch.events = events_.data();
    Status done = instance_->run_here(
        "wait", call, [&](void* self, const rollcall_call* bounds, rollcall_error* error) {
          return table_.wait(self, &batch, bounds, error);
        });
    if (!done) return tl::unexpected<Error>(std::move(done.error()));
    if (batch.count > events_.size()) {
      return fail(ErrorCode::kInternal,
                  fmt::format("plugin {}: wait: it gives {} events where {} have room",
                              instance_->id(), batch.count, events_.size()));
    }
    std::vector<KernelEvent> taken;
    for (std::size_t i = 0; i < batch.count; ++i) take_event(events_[i], taken);
    return taken;
  }

  void wake() override { table_.wake(instance_->self()); }

 private:
  // What makes no sense may have been anything: everything is looked at anew.
  static void take_event(const rollcall_watch_event& from, std::vector<KernelEvent>& taken) {
    KernelEvent event;
    const bool is_known =
        from.kind >= ROLLCALL_WATCH_EVENT_ENDED && from.kind <= ROLLCALL_WATCH_EVENT_OVERFLOW;
    if (is_known && from.name_size <= sizeof(from.name)) {
      event.kind = static_cast<KernelEventKind>(from.kind);
      event.id = from.id;
      event.name.assign(from.name, from.name_size);
    } else {
      event.kind = KernelEventKind::kOverflow;
    }
    taken.push_back(std::move(event));
  }

  std::shared_ptr<Instance> instance_;
  rollcall_watch table_;
  std::vector<rollcall_watch_event> events_;
};

}  // namespace

Result<std::shared_ptr<Watcher>> make_watcher(const PluginContext& context,
                                              const Settings& settings) {
  const auto& table = context.code->watch();
  if (!table) {
    return fail(ErrorCode::kUnsupported,
                fmt::format("plugin {} watches nothing on this platform", context.code->id()));
  }
  if (!context.code->builtin()) {
    return fail(ErrorCode::kRefused,
                fmt::format("plugin {} is a third party's: only the platform's own backend watches "
                            "processes",
                            context.code->id()));
  }
  auto instance = Instance::make(context, slots_of(*table), settings);
  if (!instance) return tl::unexpected<Error>(std::move(instance.error()));
  return std::make_shared<WatchProxy>(std::move(*instance), *table);
}

}  // namespace rollcall::loader
