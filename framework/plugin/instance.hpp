// One instance of a plugin's interface, and how its slots are called: serially unless the table
// says concurrent, and under a watch unless the plugin is Rollcall's own.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "plugin/plugin_code.hpp"
#include "rollcall/call.hpp"
#include "rollcall/host.hpp"
#include "rollcall/plugin.h"
#include "rollcall/result.hpp"

namespace rollcall::loader {

// From a host's clock, by which its callers give deadlines, to the clock that plugins are told.
class DeadlineClock {
 public:
  // Null: the host's clock is the plugins' already.
  explicit DeadlineClock(std::shared_ptr<const Clock> clock = nullptr) : clock_(std::move(clock)) {}
  [[nodiscard]] std::int64_t steady_deadline(std::int64_t deadline_ns) const;

 private:
  std::shared_ptr<const Clock> clock_;
};

// How a plugin's things are spoken of: its code, and where deadlines come from.
struct PluginContext {
  std::shared_ptr<PluginCode> code;
  DeadlineClock clock;
};

struct InstanceSlots {
  std::int32_t (*create)(const rollcall_setting*, std::uint64_t, void**, rollcall_error*);
  void (*destroy)(void*);
  std::uint32_t flags;
};
template <class Table>
InstanceSlots slots_of(const Table& table) {
  return {table.create, table.destroy, table.flags};
}

// A slot's call, with self and the bounds filled in by the instance. Under a watch it may outlive
// the call, so it owns all that it uses; it must not throw.
using Slot =
    std::function<std::int32_t(void* self, const rollcall_call* call, rollcall_error* error)>;

// Threads: any.
class Instance : public std::enable_shared_from_this<Instance> {
 public:
  [[nodiscard]] static Result<std::shared_ptr<Instance>> make(PluginContext context,
                                                              const InstanceSlots& slots,
                                                              const Settings& settings);
  ~Instance();
  Instance(const Instance&) = delete;
  Instance& operator=(const Instance&) = delete;

  [[nodiscard]] PluginCode& code() const { return *context_.code; }
  [[nodiscard]] std::string id() const { return context_.code->id(); }
  [[nodiscard]] bool builtin() const { return context_.code->builtin(); }

  // Calls a slot by the call's bounds. `limit_ns` is for a third party's when the call has no
  // deadline. A third party's slot that does not return by the deadline and a grace makes the
  // plugin lost: kTimeout then, and for every later call.
  // Errors: what the slot said, as "plugin ID: WHAT: MESSAGE".
  [[nodiscard]] Status run(const char* what, Slot slot, const Call& call,
                           std::int64_t limit_ns = kThirdPartyLimitNs);

  // The same for one of Rollcall's own, on this thread and without a copy of anything.
  template <class Body>
  [[nodiscard]] Status run_here(const char* what, const Call& call, Body&& body) {
    rollcall_call bounds = bounds_of(call);
    rollcall_error error{};
    error.struct_size = offsetof(rollcall_error, message) + sizeof(error.message);
    const std::int64_t deadline = bounds.deadline_ns;
    if (!enter(deadline)) return could_not_enter(what);
    const std::int32_t code = body(self_, &bounds, &error);
    leave();
    return code == ROLLCALL_OK ? Status() : failed(what, code, error);
  }

  // For slots that may be called while another one runs.
  [[nodiscard]] void* self() const { return self_; }
  [[nodiscard]] tl::unexpected<Error> not_offered(const char* what) const;
  [[nodiscard]] std::int64_t steady_deadline(std::int64_t deadline_ns) const {
    return context_.clock.steady_deadline(deadline_ns);
  }

 private:
  Instance(PluginContext context, const InstanceSlots& slots)
      : context_(std::move(context)), slots_(slots) {}
  [[nodiscard]] rollcall_call bounds_of(const Call& call) const;
  [[nodiscard]] bool enter(std::int64_t steady_deadline_ns);
  void leave();
  [[nodiscard]] Status could_not_enter(const char* what) const;
  [[nodiscard]] Status failed(const char* what, std::int32_t code,
                              const rollcall_error& error) const;
  [[nodiscard]] Status run_watched_slot(const char* what, Slot slot, const Call& call,
                                        std::int64_t limit_ns);

  PluginContext context_;
  InstanceSlots slots_;
  void* self_ = nullptr;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool busy_ = false;
};

// The text of a filled error, bounded and never null.
[[nodiscard]] std::string error_text(const rollcall_error& error);

}  // namespace rollcall::loader
