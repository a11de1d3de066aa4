#include "plugin/instance.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <limits>
#include <system_error>

#include "plugin/watched.hpp"

namespace rollcall::loader {
namespace {

constexpr std::int64_t kCreateLimitNs = 10'000'000'000;
constexpr std::int64_t kDestroyLimitNs = 5'000'000'000;

std::uint32_t is_cancelled(void* context) noexcept {
  return static_cast<const CancelToken*>(context)->cancelled() ? 1 : 0;
}

// What a watched call owns, since it may outlive who waits for it.
struct Frame {
  Slot slot;
  CancelToken cancel;
  rollcall_call bounds{};
  rollcall_error error{};
  std::int32_t code = ROLLCALL_E_INTERNAL;
};

std::int64_t add_bounded(std::int64_t a, std::int64_t b) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  return a > kMax - b ? kMax : a + b;
}

// An instance's settings, kept for as long as its create may run.
struct Creation {
  Settings settings;
  std::vector<rollcall_setting> raw;
  InstanceSlots slots;
  std::shared_ptr<PluginCode> code;
  void* self = nullptr;
  rollcall_error error{};
  std::int32_t result = ROLLCALL_E_INTERNAL;

  Creation(const Settings& given, const InstanceSlots& table, std::shared_ptr<PluginCode> plugin)
      : settings(given), slots(table), code(std::move(plugin)) {
    for (const auto& [key, value] : settings) {
      raw.push_back({{key.data(), key.size()}, {value.data(), value.size()}});
    }
    error.struct_size = sizeof(error);
  }
  void run() { result = slots.create(raw.data(), raw.size(), &self, &error); }
};

}  // namespace

std::int64_t DeadlineClock::steady_deadline(std::int64_t deadline_ns) const {
  if (deadline_ns == kNoDeadline || clock_ == nullptr) return deadline_ns;
  const std::int64_t now = clock_->monotonic_ns();
  const std::int64_t left = deadline_ns > now ? deadline_ns - now : 0;
  return add_bounded(steady_now_ns(), left);
}

std::string error_text(const rollcall_error& error) {
  const std::size_t size = ::strnlen(error.message, sizeof(error.message));
  return size == 0 ? std::string("it gives no reason") : std::string(error.message, size);
}

Result<std::shared_ptr<Instance>> Instance::make(PluginContext context, const InstanceSlots& slots,
                                                 const Settings& settings) {
  std::shared_ptr<PluginCode> code = context.code;
  if (code->health().lost()) {
    return fail(ErrorCode::kTimeout,
                fmt::format("plugin {} is unresponsive: {}", code->id(), code->health().reason()));
  }
  auto creation = std::make_shared<Creation>(settings, slots, code);
  if (code->builtin()) {
    creation->run();
  } else if (!run_watched([creation] { creation->run(); }, steady_now_ns() + kCreateLimitNs)) {
    code->health().lose("creating an instance did not return");
    return fail(ErrorCode::kTimeout,
                fmt::format("plugin {} hangs while an instance is created", code->id()));
  }
  if (creation->result != ROLLCALL_OK) {
    return fail(error_code(creation->result),
                fmt::format("plugin {} cannot make an instance: {}", code->id(),
                            error_text(creation->error)),
                creation->error.os_code);
  }
  std::shared_ptr<Instance> instance(new Instance(std::move(context), slots));
  instance->self_ = creation->self;
  return instance;
}

Instance::~Instance() {
  PluginCode& code = *context_.code;
  if (code.health().lost()) return;  // never touched again
  if (code.builtin()) {
    slots_.destroy(self_);
    return;
  }
  const auto body = [destroy = slots_.destroy, self = self_, kept = context_.code] {
    destroy(self);
  };
  try {
    if (!run_watched(body, steady_now_ns() + kDestroyLimitNs)) {
      code.health().lose("destroying an instance did not return");
    }
  } catch (const std::system_error&) {
    body();  // no thread to be had: the plugin's own word that it returns has to do
  }
}

rollcall_call Instance::bounds_of(const Call& call) const {
  return {.struct_size = sizeof(rollcall_call),
          .deadline_ns = context_.clock.steady_deadline(call.deadline_ns),
          .context = const_cast<CancelToken*>(&call.cancel),  // NOLINT: read only
          .cancelled = &is_cancelled};
}

bool Instance::enter(std::int64_t steady_deadline_ns) {
  if ((slots_.flags & ROLLCALL_TABLE_CONCURRENT) != 0) return !context_.code->health().lost();
  std::unique_lock lock(mutex_);
  if (!wait_until(changed_, lock, steady_deadline_ns,
                  [this] { return !busy_ || context_.code->health().lost(); })) {
    return false;
  }
  if (context_.code->health().lost()) return false;
  busy_ = true;
  return true;
}

void Instance::leave() {
  if ((slots_.flags & ROLLCALL_TABLE_CONCURRENT) != 0) return;
  const std::lock_guard lock(mutex_);
  busy_ = false;
  changed_.notify_one();
}

Status Instance::could_not_enter(const char* what) const {
  const Health& health = context_.code->health();
  if (health.lost()) {
    return fail(ErrorCode::kTimeout,
                fmt::format("plugin {} is unresponsive: {}", id(), health.reason()));
  }
  return fail(ErrorCode::kTimeout,
              fmt::format("plugin {}: {}: the instance was busy until the deadline", id(), what));
}

Status Instance::failed(const char* what, std::int32_t code, const rollcall_error& error) const {
  if (code > 0) {
    return fail(ErrorCode::kInternal,
                fmt::format("plugin {}: {}: it returned {}, which is no status", id(), what, code));
  }
  return fail(error_code(code), fmt::format("plugin {}: {}: {}", id(), what, error_text(error)),
              error.os_code);
}

tl::unexpected<Error> Instance::not_offered(const char* what) const {
  return fail(ErrorCode::kUnsupported, fmt::format("plugin {} does not offer `{}`", id(), what));
}

Status Instance::run(const char* what, Slot slot, const Call& call, std::int64_t limit_ns) {
  if (builtin()) return run_here(what, call, slot);
  return run_watched_slot(what, std::move(slot), call, limit_ns);
}

Status Instance::run_watched_slot(const char* what, Slot slot, const Call& call,
                                  std::int64_t limit_ns) {
  auto frame = std::make_shared<Frame>();
  frame->slot = std::move(slot);
  frame->cancel = call.cancel;
  frame->error.struct_size = sizeof(frame->error);
  frame->bounds = bounds_of(call);
  frame->bounds.context = &frame->cancel;
  std::int64_t patience = frame->bounds.deadline_ns;
  if (patience == kNoDeadline) {
    patience = add_bounded(steady_now_ns(), limit_ns);
    frame->bounds.deadline_ns = patience;  // told, so that it can give up by itself
  }
  if (!enter(patience)) return could_not_enter(what);
  bool returned = false;
  try {
    returned = run_watched(
        [frame, self = shared_from_this()] {
          frame->code = frame->slot(self->self_, &frame->bounds, &frame->error);
          self->leave();
        },
        add_bounded(patience, kGraceNs), [&call] { return call.cancel.cancelled(); });
  } catch (const std::system_error& no_thread) {
    leave();
    return fail(ErrorCode::kInternal, fmt::format("plugin {}: {}: no thread for the call: {}", id(),
                                                  what, no_thread.what()));
  }
  if (!returned) {
    context_.code->health().lose(fmt::format("`{}` did not return in time", what));
    context_.code->log(
        ROLLCALL_LOG_ERROR,
        fmt::format("plugin {} is unresponsive: `{}` did not return in time", id(), what));
    const std::lock_guard lock(mutex_);
    changed_.notify_all();
    return could_not_enter(what);
  }
  return frame->code == ROLLCALL_OK ? Status() : failed(what, frame->code, frame->error);
}

}  // namespace rollcall::loader
