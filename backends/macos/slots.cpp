#include "slots.hpp"

#include <cstdlib>
#include <cstring>
#include <new>

namespace rollcall::macos_backend {
namespace {

using plugin::detail::copy_sized;
using plugin::detail::give_sized;

constexpr std::uint32_t kConcurrent = ROLLCALL_TABLE_CONCURRENT;

std::int32_t finish(const Status& status, rollcall_error* error) {
  if (status.ok()) return ROLLCALL_OK;
  return plugin::fill_error(error, status.code, status.message.view(), status.os_code);
}

std::int32_t invalid(rollcall_error* error, const char* what) {
  return plugin::fill_error(error, ROLLCALL_E_INVALID, what);
}

const Probe& probe_of(void* self) { return *static_cast<const Probe*>(self); }
const Control& control_of(void* self) { return *static_cast<const Control*>(self); }

template <class Instance>
std::int32_t create(const rollcall_setting*, std::uint64_t, void** self, rollcall_error* error) {
  static const Instance instance(macos_system());
  if (self == nullptr) return invalid(error, "create: self is null");
  *self = instance_of(instance);
  return ROLLCALL_OK;
}

void destroy(void*) {}

std::int32_t observe(void* self, const rollcall_observe_batch* batch, const rollcall_call* call,
                     rollcall_error* error) {
  if (self == nullptr || batch == nullptr) return invalid(error, "observe: a null argument");
  const auto ours = copy_sized(batch);
  if (ours.ask_stride < sizeof(rollcall_ask) ||
      ours.observation_stride < sizeof(rollcall_observation)) {
    return invalid(error, "observe: a stride is too short");
  }
  if (ours.count > 0 && (ours.asks == nullptr || ours.observations == nullptr)) {
    return invalid(error, "observe: a null array");
  }
  return finish(probe_of(self).observe(plugin::ObserveBatch(ours), Bounds(call)), error);
}

std::int32_t whoami(void* self, rollcall_whoami* out, const rollcall_call*, rollcall_error* error) {
  if (self == nullptr || out == nullptr) return invalid(error, "whoami: a null argument");
  rollcall_whoami ours = {};
  const Status status = probe_of(self).whoami(ours);
  if (status.ok()) give_sized(out, ours);
  return finish(status, error);
}

std::int32_t list(void* self, const rollcall_pid_sink* sink, const rollcall_call* call,
                  rollcall_error* error) {
  const auto ours = copy_sized(sink);
  if (self == nullptr || ours.pid == nullptr) return invalid(error, "list: a null argument");
  return finish(probe_of(self).list(ours, Bounds(call)), error);
}

std::int32_t read(void* self, std::int64_t pid, std::uint32_t what, const rollcall_sink* sink,
                  const rollcall_call* call, rollcall_error* error) {
  const auto ours = copy_sized(sink);
  if (self == nullptr || ours.write == nullptr) return invalid(error, "read: a null argument");
  return finish(probe_of(self).read(pid, what, ours, Bounds(call)), error);
}

std::int32_t port_owner(void* self, const rollcall_socket_batch* batch, const rollcall_call* call,
                        rollcall_error* error) {
  if (self == nullptr || batch == nullptr) return invalid(error, "port_owner: a null argument");
  const auto ours = copy_sized(batch);
  if (ours.ask_stride < sizeof(rollcall_socket_ask) ||
      ours.answer_stride < sizeof(rollcall_socket_answer)) {
    return invalid(error, "port_owner: a stride is too short");
  }
  if (ours.count > 0 && (ours.asks == nullptr || ours.answers == nullptr)) {
    return invalid(error, "port_owner: a null array");
  }
  return finish(probe_of(self).port_owner(plugin::SocketBatch(ours), Bounds(call)), error);
}

std::int32_t signal(void* self, std::int64_t pid, std::uint32_t number, const rollcall_judge* judge,
                    rollcall_signal_outcome* out, const rollcall_call* call,
                    rollcall_error* error) {
  const plugin::Judge ours(judge);
  if (self == nullptr || out == nullptr || !ours.valid()) {
    return invalid(error, "signal: a null argument");
  }
  rollcall_signal_outcome outcome = {};
  const Status status = control_of(self).signal(pid, number, ours, outcome, Bounds(call));
  if (status.ok()) give_sized(out, outcome);
  return finish(status, error);
}

std::int32_t await_exit(void* self, std::int64_t pid, const rollcall_judge* judge,
                        rollcall_await_outcome* out, const rollcall_call* call,
                        rollcall_error* error) {
  const plugin::Judge ours(judge);
  if (self == nullptr || out == nullptr || !ours.valid()) {
    return invalid(error, "await_exit: a null argument");
  }
  rollcall_await_outcome outcome = {};
  const Status status = control_of(self).await_exit(pid, ours, outcome, Bounds(call));
  if (status.ok()) give_sized(out, outcome);
  return finish(status, error);
}

Watcher& watcher_of(void* self) { return *static_cast<Watcher*>(self); }

std::int32_t create_watcher(const rollcall_setting*, std::uint64_t, void** self,
                            rollcall_error* error) {
  if (self == nullptr) return invalid(error, "create: self is null");
  void* const memory = std::malloc(sizeof(Watcher));
  if (memory == nullptr) {
    return plugin::fill_error(error, ROLLCALL_E_NO_MEMORY, "there is no memory for a watcher");
  }
  auto* const watcher = new (memory) Watcher(macos_system());
  const Status status = watcher->ready();
  if (status.ok()) {
    *self = watcher;
  } else {
    watcher->~Watcher();
    std::free(memory);
  }
  return finish(status, error);
}

void destroy_watcher(void* self) {
  if (self == nullptr) return;
  watcher_of(self).~Watcher();
  std::free(self);
}

std::int32_t add_process(void* self, std::uint64_t id, std::int64_t pid,
                         const rollcall_judge* judge, rollcall_watch_outcome* out,
                         const rollcall_call* call, rollcall_error* error) {
  const plugin::Judge ours(judge);
  if (self == nullptr || out == nullptr || !ours.valid()) {
    return invalid(error, "add_process: a null argument");
  }
  rollcall_watch_outcome outcome = {};
  const Status status = watcher_of(self).add_process(id, pid, ours, outcome, Bounds(call));
  if (status.ok()) give_sized(out, outcome);
  return finish(status, error);
}

std::int32_t add_directory(void* self, std::uint64_t id, rollcall_str path,
                           rollcall_watch_outcome* out, const rollcall_call* call,
                           rollcall_error* error) {
  if (self == nullptr || out == nullptr) return invalid(error, "add_directory: a null argument");
  rollcall_watch_outcome outcome = {};
  const Status status =
      watcher_of(self).add_directory(id, plugin::view(path), outcome, Bounds(call));
  if (status.ok()) give_sized(out, outcome);
  return finish(status, error);
}

std::int32_t remove_watched(void* self, std::uint64_t id, rollcall_error* error) {
  if (self == nullptr) return invalid(error, "remove: a null argument");
  return finish(watcher_of(self).remove(id), error);
}

std::int32_t wait(void* self, rollcall_watch_batch* batch, const rollcall_call* call,
                  rollcall_error* error) {
  if (self == nullptr || batch == nullptr) return invalid(error, "wait: a null argument");
  auto ours = copy_sized(batch);
  if (ours.event_stride < sizeof(rollcall_watch_event)) {
    return invalid(error, "wait: a stride is too short");
  }
  if (ours.capacity == 0 || ours.events == nullptr) {
    return invalid(error, "wait: there is no room");
  }
  ours.count = 0;
  const Status status = watcher_of(self).wait(ours, Bounds(call));
  if (status.ok()) give_sized(batch, ours);
  return finish(status, error);
}

void wake(void* self) {
  if (self != nullptr) watcher_of(self).wake();
}

constexpr rollcall_process_probe kProbe = {
    .struct_size = sizeof(rollcall_process_probe),
    .flags = kConcurrent,
    .create = &create<Probe>,
    .destroy = &destroy,
    .observe = &observe,
    .whoami = &whoami,
    .list = &list,
    .read = &read,
    .port_owner = &port_owner,
};

constexpr rollcall_process_control kControl = {
    .struct_size = sizeof(rollcall_process_control),
    .flags = kConcurrent,
    .create = &create<Control>,
    .destroy = &destroy,
    .signal = &signal,
    .await_exit = &await_exit,
};

constexpr rollcall_watch kWatch = {
    .struct_size = sizeof(rollcall_watch),
    .flags = 0,
    .create = &create_watcher,
    .destroy = &destroy_watcher,
    .add_process = &add_process,
    .add_directory = &add_directory,
    .remove = &remove_watched,
    .wait = &wait,
    .wake = &wake,
};

}  // namespace

void* instance_of(const Probe& probe) { return const_cast<Probe*>(&probe); }
void* instance_of(const Control& control) { return const_cast<Control*>(&control); }
void* instance_of(Watcher& watcher) { return &watcher; }

const rollcall_process_probe& probe_table() { return kProbe; }
const rollcall_process_control& control_table() { return kControl; }
const rollcall_watch& watch_table() { return kWatch; }

std::int32_t init(const rollcall_host* host, rollcall_error* error) {
  if (host == nullptr) return invalid(error, "init: host is null");
  Clock::use(copy_sized(host));
  return ROLLCALL_OK;
}

const void* get_interface(const char* interface_id) {
  if (interface_id == nullptr) return nullptr;
  if (std::strcmp(interface_id, ROLLCALL_PROCESS_PROBE_ID) == 0) return &kProbe;
  if (std::strcmp(interface_id, ROLLCALL_PROCESS_CONTROL_ID) == 0) return &kControl;
  if (std::strcmp(interface_id, ROLLCALL_WATCH_ID) == 0) return &kWatch;
  return nullptr;
}

}  // namespace rollcall::macos_backend
