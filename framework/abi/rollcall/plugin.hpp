// The C++ side of the plugin ABI, for authors: derive from a base class below, override what the
// plugin can do, and name the class in ROLLCALL_DEFINE_PLUGIN. Header-only, C++17 and later.
//
//   class Heartbeat final : public rollcall::plugin::ProcessProbe {
//    public:
//     explicit Heartbeat(const rollcall::plugin::Settings& settings);
//     rollcall::plugin::Status observe(const rollcall::plugin::ObserveBatch& batch,
//                                      const rollcall::plugin::Call& call) override;
//   };
//   ROLLCALL_DEFINE_PLUGIN("com.example.heartbeat", "1.0.0", "Example Ltd", Heartbeat);
//
// What the adapter does for the author
//   - Every slot, constructors and destructors included, catches everything and turns it into a
//     status and a message: an exception that left a plugin would end the host.
//   - A method that is not overridden leaves its slot null, so that the host knows.
//   - Structs of other sizes (an older or newer host) are read and written safely.
//   - Messages are cut to the caller's buffer between two UTF-8 characters.
// An error is told by returning a Status or by throwing Error; both mean the same.
//
// How an instance is made, first match: a static `Status T::create(const Settings&,
// std::unique_ptr<T>&)`, a constructor from `const Settings&`, a default constructor.
// `static constexpr bool kConcurrent = true;` in T says that its methods may be called by several
// threads at once; without it the host serialises the calls of one instance.
#ifndef ROLLCALL_PLUGIN_HPP
#define ROLLCALL_PLUGIN_HPP

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <memory>
#include <mutex>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <thread>
#include <type_traits>
#include <utility>
#include <vector>

#include "rollcall/plugin.h"
#include "rollcall/plugin_parts.hpp"

namespace rollcall::plugin {

// ------------------------------------------------------------------------------------ errors

// What a slot comes to. A default-constructed one is success. `message` says what, on which
// object, why, and what to do.
class [[nodiscard]] Status {
 public:
  Status() = default;
  Status(std::int32_t code, std::string message, std::int64_t os_code = 0)
      : code_(code < 0 ? code : ROLLCALL_E_INTERNAL),
        os_code_(os_code),
        message_(std::move(message)) {}

  [[nodiscard]] bool ok() const { return code_ == ROLLCALL_OK; }
  [[nodiscard]] std::int32_t code() const { return code_; }
  [[nodiscard]] std::int64_t os_code() const { return os_code_; }
  [[nodiscard]] const std::string& message() const { return message_; }

 private:
  std::int32_t code_ = ROLLCALL_OK;
  std::int64_t os_code_ = 0;
  std::string message_;
};

// The same, thrown.
class Error : public std::exception {
 public:
  Error(std::int32_t code, std::string message, std::int64_t os_code = 0)
      : status_(code, std::move(message), os_code) {}
  explicit Error(Status status) : status_(std::move(status)) {}
  [[nodiscard]] const char* what() const noexcept override { return status_.message().c_str(); }
  [[nodiscard]] const Status& status() const { return status_; }

 private:
  Status status_;
};

namespace detail {

// Runs a slot's body. Nothing that it throws gets out.
template <class Body>
std::int32_t guarded(rollcall_error* error, Body&& body) noexcept {
  try {
    const Status status = body();
    if (status.ok()) return ROLLCALL_OK;
    return fill_error(error, status.code(), status.message(), status.os_code());
  } catch (const Error& thrown) {
    const std::int32_t code = thrown.status().ok() ? ROLLCALL_E_INTERNAL : thrown.status().code();
    return fill_error(error, code, thrown.status().message(), thrown.status().os_code());
  } catch (const std::bad_alloc&) {
    return fill_error(error, ROLLCALL_E_NO_MEMORY, "out of memory");
  } catch (const std::exception& thrown) {
    return fill_error(error, ROLLCALL_E_INTERNAL, thrown.what());
  } catch (...) {
    return fill_error(error, ROLLCALL_E_INTERNAL, "threw something that is no std::exception");
  }
}

template <class Body>
void guarded_void(Body&& body) noexcept {
  try {
    body();
  } catch (...) {  // NOLINT(bugprone-empty-catch): a destructor has nobody to tell
  }
}

inline Status invalid(const char* what) { return Status(ROLLCALL_E_INVALID, what); }

// Our copy of what the host offers; filled by init, before anything else runs.
struct HostSlot {
  static inline rollcall_host host{};
};

}  // namespace detail

// -------------------------------------------------------------------------------------- host

// Nanoseconds on the clock that deadlines are measured by.
inline std::int64_t now_ns() {
  const rollcall_host& host = detail::HostSlot::host;
  if (host.monotonic_now_ns != nullptr) return host.monotonic_now_ns(host.context);
  return std::chrono::duration_cast<std::chrono::nanoseconds>(
             std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A line for the host's log: ROLLCALL_LOG_*. Never hand it a secret.
inline void log(std::int32_t level, std::string_view message) {
  const rollcall_host& host = detail::HostSlot::host;
  if (host.log != nullptr) host.log(host.context, level, str(message));
}

// Bounds of one call. A missing rollcall_call means no bounds.
class Call {
 public:
  explicit Call(const rollcall_call* call) : call_(detail::copy_sized(call)) {
    if (call == nullptr) call_.deadline_ns = INT64_MAX;
  }
  // Absolute, on now_ns(); INT64_MAX: none.
  [[nodiscard]] std::int64_t deadline_ns() const { return call_.deadline_ns; }
  [[nodiscard]] bool cancelled() const {
    return call_.cancelled != nullptr && call_.cancelled(call_.context) != 0;
  }
  [[nodiscard]] bool expired() const {
    return call_.deadline_ns != INT64_MAX && now_ns() >= call_.deadline_ns;
  }
  // Until the deadline, at least 0; INT64_MAX: none.
  [[nodiscard]] std::int64_t remaining_ns() const {
    if (call_.deadline_ns == INT64_MAX) return INT64_MAX;
    const std::int64_t now = now_ns();
    return call_.deadline_ns > now ? call_.deadline_ns - now : 0;
  }
  // E_CANCELLED, E_TIMEOUT, or success: go on.
  [[nodiscard]] Status check() const {
    if (cancelled()) return Status(ROLLCALL_E_CANCELLED, "the call was cancelled");
    if (expired()) return Status(ROLLCALL_E_TIMEOUT, "the call's deadline passed");
    return {};
  }

 private:
  rollcall_call call_;
};

// ---------------------------------------------------------------------------- process probe

// Receives bytes. Returns the host's answer: negative means stop and return it.
class Sink {
 public:
  explicit Sink(const rollcall_sink* sink) : sink_(detail::copy_sized(sink)) {}
  [[nodiscard]] Status write(std::string_view bytes) const {
    const std::int32_t code = sink_.write(sink_.context, bytes.data(), bytes.size());
    return code < 0 ? Status(code, "the host wants no more") : Status();
  }
  [[nodiscard]] bool valid() const { return sink_.write != nullptr; }

 private:
  rollcall_sink sink_;
};

class PidSink {
 public:
  explicit PidSink(const rollcall_pid_sink* sink) : sink_(detail::copy_sized(sink)) {}
  // `parent` -1: not known.
  [[nodiscard]] Status pid(std::int64_t pid, std::int64_t parent) const {
    const std::int32_t code = sink_.pid(sink_.context, pid, parent);
    return code < 0 ? Status(code, "the host wants no more") : Status();
  }
  [[nodiscard]] bool valid() const { return sink_.pid != nullptr; }

 private:
  rollcall_pid_sink sink_;
};

// rollcall.process-probe/1. The slots' contracts are in plugin.h.
class ProcessProbe {
 public:
  virtual ~ProcessProbe() noexcept(false) {}  // the trampoline catches
  virtual Status observe(const ObserveBatch& batch, const Call& call) = 0;
  // `out` is zeroed; struct_size is not the author's matter.
  virtual Status whoami(rollcall_whoami&, const Call&) { return unsupported(); }
  virtual Status list(const PidSink&, const Call&) { return unsupported(); }
  virtual Status read(std::int64_t, std::uint32_t, const Sink&, const Call&) {
    return unsupported();
  }
  virtual Status port_owner(const SocketBatch&, const Call&) { return unsupported(); }

 private:
  static Status unsupported() { return Status(ROLLCALL_E_UNSUPPORTED, "not offered"); }
};

// -------------------------------------------------------------------------- process control

// rollcall.process-control/1. Out structs are zeroed: REFUSED and UNKNOWN are the defaults.
class ProcessControl {
 public:
  virtual ~ProcessControl() noexcept(false) {}  // the trampoline catches
  virtual Status signal(std::int64_t pid, std::uint32_t signal, const Judge& judge,
                        rollcall_signal_outcome& out, const Call& call) = 0;
  virtual Status await_exit(std::int64_t pid, const Judge& judge, rollcall_await_outcome& out,
                            const Call& call) = 0;
  virtual Status stop(std::int64_t, const StopPlan&, const Judge&, const StopSink&,
                      rollcall_stop_outcome&, const Call&) {
    return Status(ROLLCALL_E_UNSUPPORTED, "not offered");
  }
};

// ---------------------------------------------------------------------------------- watcher

// Room for the events of one wait.
class WatchBatch {
 public:
  explicit WatchBatch(rollcall_watch_batch& batch) : batch_(batch) {}
  [[nodiscard]] bool full() const { return batch_.count >= batch_.capacity; }
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(batch_.count); }
  // Not when full().
  void add(std::uint64_t id, std::uint32_t kind, std::string_view name = {}) {
    auto& event = *reinterpret_cast<rollcall_watch_event*>(reinterpret_cast<char*>(batch_.events) +
                                                           batch_.count * batch_.event_stride);
    event.id = id;
    event.kind = kind;
    // A name that has no room is no name: of any.
    const std::string_view fitting = name.size() <= sizeof(event.name) ? name : std::string_view();
    if (!fitting.empty()) std::memcpy(event.name, fitting.data(), fitting.size());
    event.name_size = static_cast<std::uint32_t>(fitting.size());
    ++batch_.count;
  }

 private:
  rollcall_watch_batch& batch_;
};

// rollcall.watch/1. Out structs are zeroed: UNVERIFIED is the default.
class Watcher {
 public:
  virtual ~Watcher() noexcept(false) {}  // the trampoline catches
  virtual Status add_process(std::uint64_t id, std::int64_t pid, const Judge& judge,
                             rollcall_watch_outcome& out, const Call& call) = 0;
  virtual Status add_directory(std::uint64_t id, std::string_view path, rollcall_watch_outcome& out,
                               const Call& call) = 0;
  virtual Status remove(std::uint64_t id) = 0;
  virtual Status wait(WatchBatch& batch, const Call& call) = 0;
  virtual void wake() = 0;
};

// ----------------------------------------------------------------------------- record store

// One entry, as an author gives it.
struct StoreEntry {
  std::string_view name;
  std::string_view version;
  std::string_view bytes;
  std::string_view problem;
  std::int64_t owner_uid = -1;
};

class StoreSink {
 public:
  explicit StoreSink(const rollcall_store_sink* sink) : sink_(detail::copy_sized(sink)) {}
  [[nodiscard]] Status entry(const StoreEntry& entry) const {
    rollcall_store_entry raw{};
    raw.struct_size = sizeof(raw);
    raw.owner_uid = entry.owner_uid;
    raw.name = str(entry.name);
    raw.version = str(entry.version);
    raw.bytes = str(entry.bytes);
    raw.problem = str(entry.problem);
    const std::int32_t code = sink_.entry(sink_.context, &raw);
    return code < 0 ? Status(code, "the host wants no more") : Status();
  }
  [[nodiscard]] bool valid() const { return sink_.entry != nullptr; }

 private:
  rollcall_store_sink sink_;
};

// rollcall.record-store/1. A store without writing overrides list and read only.
class RecordStore {
 public:
  virtual ~RecordStore() noexcept(false) {}  // the trampoline catches
  virtual Status list(const StoreSink& sink, const Call& call) = 0;
  virtual Status read(std::string_view name, const StoreSink& sink, const Call& call) = 0;
  virtual Status create_if_absent(std::string_view, std::string_view, const Call&) {
    return read_only();
  }
  virtual Status replace_if(std::string_view, std::string_view, std::string_view, const Call&) {
    return read_only();
  }
  virtual Status remove_if(std::string_view, std::string_view, const Call&) { return read_only(); }

 private:
  static Status read_only() { return Status(ROLLCALL_E_UNSUPPORTED, "this store is read-only"); }
};

// ------------------------------------------------------------------------------ door prober

struct DoorAnswer {
  std::uint32_t outcome = ROLLCALL_DOOR_FAILED;
  std::uint32_t reason = 0;  // with FAILED: ROLLCALL_DOOR_REFUSED ...
  std::uint32_t http_status = 0;
  std::int64_t elapsed_ns = 0;
  std::string named;   // with NAMED
  std::string detail;  // remote or system text
};

inline DoorAnswer door_named(std::string_view session) {
  DoorAnswer answer;
  answer.outcome = ROLLCALL_DOOR_NAMED;
  answer.named = session;
  return answer;
}
inline DoorAnswer door_held() {
  DoorAnswer answer;
  answer.outcome = ROLLCALL_DOOR_HELD;
  return answer;
}
inline DoorAnswer door_failed(std::uint32_t reason, std::string_view detail = {}) {
  DoorAnswer answer;
  answer.reason = reason;
  answer.detail = detail;
  return answer;
}

// One door's question.
class DoorItem {
 public:
  explicit DoorItem(const rollcall_door_item& item) : item_(&item) {}
  [[nodiscard]] std::string_view session_id() const { return view(item_->session_id); }
  [[nodiscard]] std::string_view kind() const { return view(item_->kind); }
  [[nodiscard]] std::string_view authority() const { return view(item_->authority); }
  [[nodiscard]] std::size_t endpoint_count() const {
    return item_->endpoints == nullptr ? 0 : static_cast<std::size_t>(item_->endpoint_count);
  }
  [[nodiscard]] const rollcall_endpoint& endpoint(std::size_t i) const {
    return item_->endpoints[i];
  }
  [[nodiscard]] Settings settings() const {
    return Settings(item_->settings, item_->setting_count);
  }

 private:
  const rollcall_door_item* item_;
};

class DoorBatch {
 public:
  explicit DoorBatch(const rollcall_door_batch& batch) : batch_(batch) {}
  [[nodiscard]] std::size_t size() const { return static_cast<std::size_t>(batch_.count); }
  [[nodiscard]] DoorItem item(std::size_t i) const {
    return DoorItem(*reinterpret_cast<const rollcall_door_item*>(
        reinterpret_cast<const char*>(batch_.items) + i * batch_.item_stride));
  }
  [[nodiscard]] std::int64_t connect_timeout_ns() const { return batch_.connect_timeout_ns; }
  [[nodiscard]] std::int64_t total_timeout_ns() const { return batch_.total_timeout_ns; }

 private:
  const rollcall_door_batch& batch_;
};

// The host's gate and letter box. Any thread; the host serialises.
class DoorSink {
 public:
  explicit DoorSink(const rollcall_door_sink* sink) : sink_(detail::copy_sized(sink)) {}
  // After connecting, before the first byte. `admissions` has the size of `sockets`.
  void admit(const rollcall_connected* sockets, std::size_t count,
             rollcall_admission* admissions) const {
    sink_.admit(sink_.context, sockets, count, admissions);
  }
  [[nodiscard]] rollcall_admission admit(std::size_t item, std::int64_t socket) const {
    const rollcall_connected connected{item, socket};
    rollcall_admission admission{};
    sink_.admit(sink_.context, &connected, 1, &admission);
    return admission;
  }
  // Once an item, in any order.
  void answer(std::size_t item, const DoorAnswer& answer) const {
    rollcall_door_answer raw{};
    raw.struct_size = sizeof(raw);
    raw.outcome = answer.outcome;
    raw.reason = answer.reason;
    raw.http_status = answer.http_status;
    raw.elapsed_ns = answer.elapsed_ns;
    raw.named = str(answer.named);
    raw.detail = str(answer.detail);
    sink_.answer(sink_.context, item, &raw);
  }
  [[nodiscard]] bool valid() const { return sink_.admit != nullptr && sink_.answer != nullptr; }

 private:
  rollcall_door_sink sink_;
};

// rollcall.door-prober/1.
class DoorProber {
 public:
  virtual ~DoorProber() noexcept(false) {}  // the trampoline catches
  virtual Status probe(const DoorBatch& batch, const DoorSink& sink, const Call& call) = 0;
  virtual Status stop(const DoorBatch&, std::string_view /*reason*/, const DoorSink&, const Call&) {
    return Status(ROLLCALL_E_UNSUPPORTED, "not offered");
  }
};

// One door as OneDoorProber::ask sees it.
class OneDoor {
 public:
  OneDoor(DoorItem item, std::size_t index, const DoorSink& sink, const Call& call,
          std::int64_t started_ns, std::int64_t connect_deadline_ns, std::int64_t deadline_ns)
      : item_(item),
        index_(index),
        sink_(sink),
        call_(call),
        started_ns_(started_ns),
        connect_deadline_ns_(connect_deadline_ns),
        deadline_ns_(deadline_ns) {}
  [[nodiscard]] const DoorItem& item() const { return item_; }
  [[nodiscard]] std::int64_t started_ns() const { return started_ns_; }
  // Absolute, on now_ns().
  [[nodiscard]] std::int64_t connect_deadline_ns() const { return connect_deadline_ns_; }
  [[nodiscard]] std::int64_t deadline_ns() const { return deadline_ns_; }
  [[nodiscard]] bool cancelled() const { return call_.cancelled(); }
  // Whether this connected socket may be spoken on, and with which token. Where it says no, close
  // it and answer door_failed(ROLLCALL_DOOR_NOT_ADMITTED).
  [[nodiscard]] rollcall_admission admit(std::int64_t socket) const {
    return sink_.admit(index_, socket);
  }

 private:
  DoorItem item_;
  std::size_t index_;
  const DoorSink& sink_;
  const Call& call_;
  std::int64_t started_ns_;
  std::int64_t connect_deadline_ns_;
  std::int64_t deadline_ns_;
};

// A prober of one door at a time, for plugins that do not run a poll loop of their own: the
// adapter asks on up to kThreads threads. A door that could not be begun before the call's
// deadline is answered as a connect time-out.
class OneDoorProber : public DoorProber {
 public:
  static constexpr std::size_t kThreads = 64;
  static constexpr bool kConcurrent = true;

  // Called concurrently. Must return by door.deadline_ns(). Anything thrown becomes a failure.
  virtual DoorAnswer ask(const OneDoor& door) = 0;

  Status probe(const DoorBatch& batch, const DoorSink& sink, const Call& call) final {
    std::atomic<std::size_t> next{0};
    const auto work = [&] {
      for (std::size_t i = next.fetch_add(1); i < batch.size(); i = next.fetch_add(1)) {
        sink.answer(i, ask_guarded(batch, i, sink, call));
      }
    };
    std::vector<std::thread> threads;
    try {
      const std::size_t extra = std::min(kThreads, batch.size());
      threads.reserve(extra);
      while (threads.size() + 1 < extra) threads.emplace_back(work);
    } catch (const std::exception&) {  // NOLINT(bugprone-empty-catch): fewer threads will do
    }
    work();
    for (std::thread& thread : threads) thread.join();
    return {};
  }

 private:
  DoorAnswer ask_guarded(const DoorBatch& batch, std::size_t i, const DoorSink& sink,
                         const Call& call) noexcept {
    const std::int64_t started = now_ns();
    DoorAnswer answer;
    try {
      if (call.cancelled() || started >= call.deadline_ns()) {
        return door_failed(ROLLCALL_DOOR_CONNECT_TIMEOUT, "not begun before the deadline");
      }
      answer = ask(OneDoor(batch.item(i), i, sink, call, started,
                           bounded(started, batch.connect_timeout_ns(), call),
                           bounded(started, batch.total_timeout_ns(), call)));
    } catch (const std::exception& thrown) {
      answer = failed_quietly(thrown.what());
    } catch (...) {
      answer = failed_quietly("threw something that is no std::exception");
    }
    answer.elapsed_ns = std::max<std::int64_t>(now_ns() - started, 0);
    return answer;
  }
  static DoorAnswer failed_quietly(const char* what) noexcept {
    DoorAnswer answer;
    answer.reason = ROLLCALL_DOOR_NOT_SUPPORTED;
    try {
      answer.detail = std::string("the prober failed: ") + what;
    } catch (...) {  // NOLINT(bugprone-empty-catch): the reason has to do
    }
    return answer;
  }
  static std::int64_t bounded(std::int64_t from, std::int64_t timeout, const Call& call) {
    if (timeout < 0) timeout = 0;
    const std::int64_t end = from > INT64_MAX - timeout ? INT64_MAX : from + timeout;
    return std::min(end, call.deadline_ns());
  }
};

// ------------------------------------------------------------------------------------ tables

namespace detail {

template <class T, class = void>
struct is_concurrent : std::false_type {};
template <class T>
struct is_concurrent<T, std::void_t<decltype(T::kConcurrent)>>
    : std::bool_constant<T::kConcurrent> {};

template <class T, class = void>
struct has_create : std::false_type {};
template <class T>
struct has_create<T, std::void_t<decltype(T::create(std::declval<const Settings&>(),
                                                    std::declval<std::unique_ptr<T>&>()))>>
    : std::true_type {};

template <class T, class = void>
struct has_init : std::false_type {};
template <class T>
struct has_init<T, std::void_t<decltype(T::plugin_init())>> : std::true_type {};

template <class T, class = void>
struct has_deinit : std::false_type {};
template <class T>
struct has_deinit<T, std::void_t<decltype(T::plugin_deinit())>> : std::true_type {};

template <class T>
Status make(const Settings& settings, std::unique_ptr<T>& out) {
  if constexpr (has_create<T>::value) {
    return T::create(settings, out);
  } else if constexpr (std::is_constructible_v<T, const Settings&>) {
    out = std::make_unique<T>(settings);
    return {};
  } else {
    static_assert(std::is_default_constructible_v<T>,
                  "a plugin class needs T::create, T(const Settings&) or T()");
    out = std::make_unique<T>();
    return {};
  }
}

template <class T>
std::int32_t create(const rollcall_setting* settings, std::uint64_t count, void** self,
                    rollcall_error* error) noexcept {
  return guarded(error, [&]() -> Status {
    if (self == nullptr) return invalid("create: self is null");
    std::unique_ptr<T> made;
    Status status = make<T>(Settings(settings, count), made);
    if (status.ok() && made == nullptr) return Status(ROLLCALL_E_INTERNAL, "create made nothing");
    if (status.ok()) *self = static_cast<void*>(made.release());
    return status;
  });
}

template <class T>
void destroy(void* self) noexcept {
  guarded_void([&] { delete static_cast<T*>(self); });
}

// Whether T overrides a method: then its address names T or a class between, not the base.
template <class Mine, class Base>
inline constexpr bool kOverridden = !std::is_same_v<Mine, Base>;

template <class T>
T& self_of(void* self) {
  return *static_cast<T*>(self);
}

template <class T>
struct ProbeTable {
  static std::int32_t observe(void* self, const rollcall_observe_batch* batch,
                              const rollcall_call* call, rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      if (self == nullptr || batch == nullptr) return invalid("observe: a null argument");
      const rollcall_observe_batch ours = copy_sized(batch);
      if (ours.ask_stride < sizeof(rollcall_ask) ||
          ours.observation_stride < sizeof(rollcall_observation)) {
        return invalid("observe: a stride is too short");
      }
      if (ours.count > 0 && (ours.asks == nullptr || ours.observations == nullptr)) {
        return invalid("observe: a null array");
      }
      return self_of<T>(self).observe(ObserveBatch(ours), Call(call));
    });
  }
  static std::int32_t whoami(void* self, rollcall_whoami* out, const rollcall_call* call,
                             rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      if (self == nullptr || out == nullptr) return invalid("whoami: a null argument");
      rollcall_whoami ours{};
      Status status = self_of<T>(self).whoami(ours, Call(call));
      if (status.ok()) give_sized(out, ours);
      return status;
    });
  }
  static std::int32_t list(void* self, const rollcall_pid_sink* sink, const rollcall_call* call,
                           rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      const PidSink ours(sink);
      if (self == nullptr || !ours.valid()) return invalid("list: a null argument");
      return self_of<T>(self).list(ours, Call(call));
    });
  }
  static std::int32_t read(void* self, std::int64_t pid, std::uint32_t what,
                           const rollcall_sink* sink, const rollcall_call* call,
                           rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      const Sink ours(sink);
      if (self == nullptr || !ours.valid()) return invalid("read: a null argument");
      return self_of<T>(self).read(pid, what, ours, Call(call));
    });
  }
  static std::int32_t port_owner(void* self, const rollcall_socket_batch* batch,
                                 const rollcall_call* call, rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      if (self == nullptr || batch == nullptr) return invalid("port_owner: a null argument");
      const rollcall_socket_batch ours = copy_sized(batch);
      if (ours.ask_stride < sizeof(rollcall_socket_ask) ||
          ours.answer_stride < sizeof(rollcall_socket_answer)) {
        return invalid("port_owner: a stride is too short");
      }
      if (ours.count > 0 && (ours.asks == nullptr || ours.answers == nullptr)) {
        return invalid("port_owner: a null array");
      }
      return self_of<T>(self).port_owner(SocketBatch(ours), Call(call));
    });
  }

  using Base = ProcessProbe;
  static constexpr const char* kId = ROLLCALL_PROCESS_PROBE_ID;
  static constexpr rollcall_process_probe kTable = {
      sizeof(rollcall_process_probe),
      is_concurrent<T>::value ? ROLLCALL_TABLE_CONCURRENT : 0U,
      &detail::create<T>,
      &detail::destroy<T>,
      &observe,
      kOverridden<decltype(&T::whoami), decltype(&Base::whoami)> ? &whoami : nullptr,
      kOverridden<decltype(&T::list), decltype(&Base::list)> ? &list : nullptr,
      kOverridden<decltype(&T::read), decltype(&Base::read)> ? &read : nullptr,
      kOverridden<decltype(&T::port_owner), decltype(&Base::port_owner)> ? &port_owner : nullptr,
  };
};

template <class T>
struct ControlTable {
  static std::int32_t signal(void* self, std::int64_t pid, std::uint32_t signal,
                             const rollcall_judge* judge, rollcall_signal_outcome* out,
                             const rollcall_call* call, rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      const Judge ours(judge);
      if (self == nullptr || out == nullptr || !ours.valid()) {
        return invalid("signal: a null argument");
      }
      rollcall_signal_outcome outcome{};
      Status status = self_of<T>(self).signal(pid, signal, ours, outcome, Call(call));
      if (status.ok()) give_sized(out, outcome);
      return status;
    });
  }
  static std::int32_t await_exit(void* self, std::int64_t pid, const rollcall_judge* judge,
                                 rollcall_await_outcome* out, const rollcall_call* call,
                                 rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      const Judge ours(judge);
      if (self == nullptr || out == nullptr || !ours.valid()) {
        return invalid("await_exit: a null argument");
      }
      rollcall_await_outcome outcome{};
      Status status = self_of<T>(self).await_exit(pid, ours, outcome, Call(call));
      if (status.ok()) give_sized(out, outcome);
      return status;
    });
  }
  static std::int32_t stop(void* self, std::int64_t pid, const rollcall_stop_plan* plan,
                           const rollcall_judge* judge, const rollcall_stop_sink* sink,
                           rollcall_stop_outcome* out, const rollcall_call* call,
                           rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      const StopPlan shots(plan);
      const Judge ours(judge);
      const StopSink receipt(sink);
      if (self == nullptr || out == nullptr || !ours.valid() || !receipt.valid()) {
        return invalid("stop: a null argument");
      }
      if (!shots.valid()) return invalid("stop: a plan has 1 to 32 shots");
      rollcall_stop_outcome outcome{};
      Status status = self_of<T>(self).stop(pid, shots, ours, receipt, outcome, Call(call));
      if (status.ok()) give_sized(out, outcome);
      return status;
    });
  }

  using Base = ProcessControl;
  static constexpr const char* kId = ROLLCALL_PROCESS_CONTROL_ID;
  static constexpr rollcall_process_control kTable = {
      sizeof(rollcall_process_control),
      is_concurrent<T>::value ? ROLLCALL_TABLE_CONCURRENT : 0U,
      &detail::create<T>,
      &detail::destroy<T>,
      &signal,
      &await_exit,
      kOverridden<decltype(&T::stop), decltype(&Base::stop)> ? &stop : nullptr,
  };
};

template <class T>
struct WatchTable {
  static std::int32_t add_process(void* self, std::uint64_t id, std::int64_t pid,
                                  const rollcall_judge* judge, rollcall_watch_outcome* out,
                                  const rollcall_call* call, rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      const Judge ours(judge);
      if (self == nullptr || out == nullptr || !ours.valid()) {
        return invalid("add_process: a null argument");
      }
      rollcall_watch_outcome outcome{};
      Status status = self_of<T>(self).add_process(id, pid, ours, outcome, Call(call));
      if (status.ok()) give_sized(out, outcome);
      return status;
    });
  }
  static std::int32_t add_directory(void* self, std::uint64_t id, rollcall_str path,
                                    rollcall_watch_outcome* out, const rollcall_call* call,
                                    rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      if (self == nullptr || out == nullptr) return invalid("add_directory: a null argument");
      rollcall_watch_outcome outcome{};
      Status status = self_of<T>(self).add_directory(id, view(path), outcome, Call(call));
      if (status.ok()) give_sized(out, outcome);
      return status;
    });
  }
  static std::int32_t remove(void* self, std::uint64_t id, rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      if (self == nullptr) return invalid("remove: a null argument");
      return self_of<T>(self).remove(id);
    });
  }
  static std::int32_t wait(void* self, rollcall_watch_batch* batch, const rollcall_call* call,
                           rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      if (self == nullptr || batch == nullptr) return invalid("wait: a null argument");
      rollcall_watch_batch ours = copy_sized(batch);
      if (ours.event_stride < sizeof(rollcall_watch_event)) {
        return invalid("wait: a stride is too short");
      }
      if (ours.capacity == 0 || ours.events == nullptr) return invalid("wait: there is no room");
      ours.count = 0;
      WatchBatch events(ours);
      Status status = self_of<T>(self).wait(events, Call(call));
      if (status.ok()) give_sized(batch, ours);
      return status;
    });
  }
  static void wake(void* self) noexcept {
    if (self != nullptr) guarded_void([&] { self_of<T>(self).wake(); });
  }

  using Base = Watcher;
  static constexpr const char* kId = ROLLCALL_WATCH_ID;
  static constexpr rollcall_watch kTable = {
      sizeof(rollcall_watch),
      is_concurrent<T>::value ? ROLLCALL_TABLE_CONCURRENT : 0U,
      &detail::create<T>,
      &detail::destroy<T>,
      &add_process,
      &add_directory,
      &remove,
      &wait,
      &wake,
  };
};

template <class T>
struct StoreTable {
  static std::int32_t list(void* self, const rollcall_store_sink* sink, const rollcall_call* call,
                           rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      const StoreSink ours(sink);
      if (self == nullptr || !ours.valid()) return invalid("list: a null argument");
      return self_of<T>(self).list(ours, Call(call));
    });
  }
  static std::int32_t read(void* self, rollcall_str name, const rollcall_store_sink* sink,
                           const rollcall_call* call, rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      const StoreSink ours(sink);
      if (self == nullptr || !ours.valid()) return invalid("read: a null argument");
      return self_of<T>(self).read(view(name), ours, Call(call));
    });
  }
  static std::int32_t create_if_absent(void* self, rollcall_str name, rollcall_str bytes,
                                       const rollcall_call* call, rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      if (self == nullptr) return invalid("create_if_absent: a null argument");
      return self_of<T>(self).create_if_absent(view(name), view(bytes), Call(call));
    });
  }
  static std::int32_t replace_if(void* self, rollcall_str name, rollcall_str version,
                                 rollcall_str bytes, const rollcall_call* call,
                                 rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      if (self == nullptr) return invalid("replace_if: a null argument");
      return self_of<T>(self).replace_if(view(name), view(version), view(bytes), Call(call));
    });
  }
  static std::int32_t remove_if(void* self, rollcall_str name, rollcall_str version,
                                const rollcall_call* call, rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      if (self == nullptr) return invalid("remove_if: a null argument");
      return self_of<T>(self).remove_if(view(name), view(version), Call(call));
    });
  }

  using Base = RecordStore;
  static constexpr const char* kId = ROLLCALL_RECORD_STORE_ID;
  static constexpr rollcall_record_store kTable = {
      sizeof(rollcall_record_store),
      is_concurrent<T>::value ? ROLLCALL_TABLE_CONCURRENT : 0U,
      &detail::create<T>,
      &detail::destroy<T>,
      &list,
      &read,
      kOverridden<decltype(&T::create_if_absent), decltype(&Base::create_if_absent)>
          ? &create_if_absent
          : nullptr,
      kOverridden<decltype(&T::replace_if), decltype(&Base::replace_if)> ? &replace_if : nullptr,
      kOverridden<decltype(&T::remove_if), decltype(&Base::remove_if)> ? &remove_if : nullptr,
  };
};

template <class T>
struct DoorTable {
  static std::int32_t probe(void* self, const rollcall_door_batch* batch,
                            const rollcall_door_sink* sink, const rollcall_call* call,
                            rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      const DoorSink letter_box(sink);
      if (self == nullptr || batch == nullptr || !letter_box.valid()) {
        return invalid("probe: a null argument");
      }
      const rollcall_door_batch ours = copy_sized(batch);
      if (ours.item_stride < sizeof(rollcall_door_item)) {
        return invalid("probe: a stride is too short");
      }
      if (ours.count > 0 && ours.items == nullptr) return invalid("probe: a null array");
      return self_of<T>(self).probe(DoorBatch(ours), letter_box, Call(call));
    });
  }
  static std::int32_t stop(void* self, const rollcall_door_batch* batch, rollcall_str reason,
                           const rollcall_door_sink* sink, const rollcall_call* call,
                           rollcall_error* error) noexcept {
    return guarded(error, [&]() -> Status {
      const DoorSink letter_box(sink);
      if (self == nullptr || batch == nullptr || !letter_box.valid()) {
        return invalid("stop: a null argument");
      }
      const rollcall_door_batch ours = copy_sized(batch);
      if (ours.item_stride < sizeof(rollcall_door_item)) {
        return invalid("stop: a stride is too short");
      }
      if (ours.count > 0 && ours.items == nullptr) return invalid("stop: a null array");
      return self_of<T>(self).stop(DoorBatch(ours), view(reason), letter_box, Call(call));
    });
  }

  using Base = DoorProber;
  static constexpr const char* kId = ROLLCALL_DOOR_PROBER_ID;
  static constexpr rollcall_door_prober kTable = {
      sizeof(rollcall_door_prober),
      is_concurrent<T>::value ? ROLLCALL_TABLE_CONCURRENT : 0U,
      &detail::create<T>,
      &detail::destroy<T>,
      &probe,
      kOverridden<decltype(&T::stop), decltype(&Base::stop)> ? &stop : nullptr,
  };
};

template <class T>
using TableOf = std::conditional_t<
    std::is_base_of_v<ProcessProbe, T>, ProbeTable<T>,
    std::conditional_t<std::is_base_of_v<ProcessControl, T>, ControlTable<T>,
                       std::conditional_t<std::is_base_of_v<Watcher, T>, WatchTable<T>,
                                          std::conditional_t<std::is_base_of_v<RecordStore, T>,
                                                             StoreTable<T>, DoorTable<T>>>>>;

template <class T>
inline constexpr int kInterfaces =
    int{std::is_base_of_v<ProcessProbe, T>} + int{std::is_base_of_v<ProcessControl, T>} +
    int{std::is_base_of_v<Watcher, T>} + int{std::is_base_of_v<RecordStore, T>} +
    int{std::is_base_of_v<DoorProber, T>};

template <class Base, class... Classes>
inline constexpr int kOffering = (0 + ... + int{std::is_base_of_v<Base, Classes>});

}  // namespace detail

// A plugin made of one class for each interface that it offers. One of the classes may have
// `static Status plugin_init()` and `static void plugin_deinit()`.
template <class... Classes>
struct Plugin {
  static_assert(sizeof...(Classes) > 0, "a plugin offers at least one interface");
  static_assert(((detail::kInterfaces<Classes> == 1) && ...),
                "each class derives from exactly one of ProcessProbe, ProcessControl, Watcher, "
                "RecordStore and DoorProber");
  static_assert(detail::kOffering<ProcessProbe, Classes...> <= 1 &&
                    detail::kOffering<ProcessControl, Classes...> <= 1 &&
                    detail::kOffering<Watcher, Classes...> <= 1 &&
                    detail::kOffering<RecordStore, Classes...> <= 1 &&
                    detail::kOffering<DoorProber, Classes...> <= 1,
                "one class for each interface");

  static std::int32_t init(const rollcall_host* host, rollcall_error* error) noexcept {
    return detail::guarded(error, [&]() -> Status {
      if (host == nullptr) return detail::invalid("init: host is null");
      detail::HostSlot::host = detail::copy_sized(host);
      Status status;
      (void)(init_one<Classes>(status) && ...);
      return status;
    });
  }
  static void deinit() noexcept {
    detail::guarded_void([] { (deinit_one<Classes>(), ...); });
  }
  static const void* get_interface(const char* interface_id) noexcept {
    if (interface_id == nullptr) return nullptr;
    const void* table = nullptr;
    (void)(offer<Classes>(interface_id, table) || ...);
    return table;
  }
  // The datum itself; for tests, which hand it over without a file. The texts are static.
  static constexpr rollcall_entry entry(const char* id, const char* version, const char* vendor) {
    return rollcall_entry{ROLLCALL_PLUGIN_MAGIC,
                          sizeof(rollcall_entry),
                          ROLLCALL_ABI_MAJOR,
                          ROLLCALL_ABI_MINOR,
                          0,
                          0,
                          0,
                          id,
                          version,
                          vendor,
                          &init,
                          &deinit,
                          &get_interface};
  }

 private:
  template <class T>
  static bool init_one(Status& status) {
    if constexpr (detail::has_init<T>::value) status = T::plugin_init();
    return status.ok();
  }
  template <class T>
  static void deinit_one() {
    if constexpr (detail::has_deinit<T>::value) T::plugin_deinit();
  }
  template <class T>
  static bool offer(const char* interface_id, const void*& table) noexcept {
    if (std::strcmp(interface_id, detail::TableOf<T>::kId) != 0) return false;
    table = &detail::TableOf<T>::kTable;
    return true;
  }
};

}  // namespace rollcall::plugin

// Defines the one exported datum, outside of any namespace; a semicolon follows. `id` is
// reverse-DNS and equals the manifest's; so do version and vendor. Then one class for each
// interface.
#define ROLLCALL_DEFINE_PLUGIN(id_text, version_text, vendor_text, ...)                           \
  extern "C" {                                                                                    \
  extern ROLLCALL_EXPORT const rollcall_entry rollcall_plugin_v1;                                 \
  }                                                                                               \
  static_assert(::rollcall::plugin::detail::is_id(id_text),                                       \
                "a plugin id is reverse-DNS: lower-case words, digits, '-' and '_', with a dot"); \
  static_assert(sizeof(version_text) > 1, "a plugin has a version");                              \
  const rollcall_entry rollcall_plugin_v1 =                                                       \
      ::rollcall::plugin::Plugin<__VA_ARGS__>::entry(id_text, version_text, vendor_text)

#endif  // ROLLCALL_PLUGIN_HPP
