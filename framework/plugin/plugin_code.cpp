#include "plugin/plugin_code.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <map>
#include <system_error>

#include "plugin/watched.hpp"

namespace rollcall::loader {
namespace {

// Texts of an entry are static and null-terminated; a longer one is no text.
constexpr std::size_t kMaxEntryText = 256;
constexpr std::int64_t kDeinitLimitNs = 5'000'000'000;

// One plugin as this process has it. A library is loaded once in a process, so its init belongs to
// the process and not to a host. Lives as long as the process: plugins keep pointers to `host`.
struct Residence {
  std::mutex mutex;  // held while init or deinit runs
  int users = 0;
  bool hung = false;
  rollcall_host host{};
  std::mutex log_mutex;
  std::vector<std::weak_ptr<LogSink>> logs;
};

std::int64_t host_now(void* /*context*/) noexcept { return steady_now_ns(); }

void host_log(void* context, std::int32_t level, rollcall_str message) noexcept {
  auto& residence = *static_cast<Residence*>(context);
  if (message.data == nullptr) return;
  const std::string_view text(message.data, std::min<std::uint64_t>(message.size, 4096));
  try {
    std::vector<std::shared_ptr<LogSink>> logs;
    {
      const std::lock_guard lock(residence.log_mutex);
      for (const auto& weak : residence.logs) {
        if (auto log = weak.lock()) logs.push_back(std::move(log));
      }
    }
    for (const auto& log : logs) {
      log->line(std::clamp<std::int32_t>(level, ROLLCALL_LOG_ERROR, ROLLCALL_LOG_DEBUG), text);
    }
  } catch (...) {  // NOLINT(bugprone-empty-catch): a log line is not worth a plugin's life
  }
}

Residence& residence_of(const void* address) {
  static std::mutex mutex;
  static auto& residences = *new std::map<const void*, std::unique_ptr<Residence>>;
  const std::lock_guard lock(mutex);
  auto& residence = residences[address];
  if (residence == nullptr) {
    residence = std::make_unique<Residence>();
    residence->host = {.struct_size = sizeof(rollcall_host),
                       .abi_major = ROLLCALL_ABI_MAJOR,
                       .abi_minor = ROLLCALL_ABI_MINOR,
                       .context = residence.get(),
                       .monotonic_now_ns = &host_now,
                       .log = &host_log};
  }
  return *residence;
}

void add_log(Residence& residence, const std::shared_ptr<LogSink>& log) {
  const std::lock_guard lock(residence.log_mutex);
  auto& logs = residence.logs;
  logs.erase(
      std::remove_if(logs.begin(), logs.end(), [](const auto& weak) { return weak.expired(); }),
      logs.end());
  logs.push_back(log);
}

struct InitCall {
  std::int32_t (*init)(const rollcall_host*, rollcall_error*) = nullptr;
  const rollcall_host* host = nullptr;
  rollcall_error error{};
  std::int32_t code = ROLLCALL_E_INTERNAL;
  void run() {
    error.struct_size = sizeof(error);
    code = init(host, &error);
  }
};

Status init_outcome(const InitCall& call) {
  if (call.code == ROLLCALL_OK) return {};
  const std::string_view text(call.error.message,
                              ::strnlen(call.error.message, sizeof(call.error.message)));
  return fail(ErrorCode::kInternal,
              fmt::format("its init failed with {}: {}", call.code,
                          text.empty() ? std::string_view("it gives no reason") : text),
              call.error.os_code);
}

Status call_init(const rollcall_entry& entry, bool builtin, Residence& residence,
                 std::int64_t limit_ns) {
  if (entry.init == nullptr) return {};
  auto call = std::make_shared<InitCall>();
  call->init = entry.init;
  call->host = &residence.host;
  if (builtin) {
    call->run();
  } else if (!run_watched([call] { call->run(); }, steady_now_ns() + limit_ns)) {
    residence.hung = true;
    return fail(ErrorCode::kTimeout,
                fmt::format("its init did not return within {} ms", limit_ns / 1'000'000));
  }
  return init_outcome(*call);
}

Status move_in(const void* address, const rollcall_entry& entry, bool builtin,
               const std::shared_ptr<LogSink>& log, std::int64_t limit_ns) {
  Residence& residence = residence_of(address);
  const std::lock_guard lock(residence.mutex);
  if (residence.hung) return fail(ErrorCode::kTimeout, "it hung earlier in this process");
  add_log(residence, log);
  if (residence.users == 0) {
    if (Status ok = call_init(entry, builtin, residence, limit_ns); !ok) return ok;
  }
  ++residence.users;
  return {};
}

// Calls deinit, a third party's under a watch. False: it hangs.
bool call_deinit(void (*deinit)(), bool builtin) {
  if (builtin) {
    deinit();
    return true;
  }
  try {
    return run_watched([deinit] { deinit(); }, steady_now_ns() + kDeinitLimitNs);
  } catch (const std::system_error&) {
    deinit();  // no thread to be had: the plugin's own word that it returns has to do
    return true;
  }
}

void move_out(const void* address, const rollcall_entry& entry, bool builtin, bool lost) {
  Residence& residence = residence_of(address);
  const std::lock_guard lock(residence.mutex);
  // A plugin that hangs is not asked to clean up, and not started again in this process.
  if (lost) residence.hung = true;
  if (--residence.users > 0 || residence.hung || entry.deinit == nullptr) return;
  if (!call_deinit(entry.deinit, builtin)) residence.hung = true;
}

Result<std::string> entry_text(const char* text, const char* what) {
  const std::size_t size = ::strnlen(text, kMaxEntryText + 1);
  if (size == 0 || size > kMaxEntryText) {
    return fail(
        ErrorCode::kCorrupt,
        fmt::format("its entry's {} is empty or has more than {} bytes", what, kMaxEntryText));
  }
  return std::string(text, size);
}

template <class Table>
Status take_table(const rollcall_entry& entry, const char* id,
                  Result<Table> (*read)(std::span<const std::byte>), std::optional<Table>& into) {
  const void* table = entry.get_interface(id);
  if (table == nullptr) return {};
  Result<Table> result = read(table_bytes(table));
  if (!result) return tl::unexpected<Error>(std::move(result.error()));
  into = *result;
  return {};
}

}  // namespace

void LogSink::line(int level, std::string_view text) noexcept {
  try {
    const std::lock_guard lock(mutex_);
    if (function_) function_(level, text);
  } catch (...) {  // NOLINT(bugprone-empty-catch): there is nobody left to tell
  }
}

void LogSink::close() {
  const std::lock_guard lock(mutex_);
  function_ = nullptr;
}

void Health::lose(std::string reason) {
  const std::lock_guard lock(mutex_);
  if (lost_.load()) return;
  reason_ = std::move(reason);
  lost_.store(true);
}

std::string Health::reason() const {
  const std::lock_guard lock(mutex_);
  return reason_;
}

Result<std::shared_ptr<PluginCode>> PluginCode::start(std::span<const std::byte> bytes,
                                                      bool builtin, std::shared_ptr<LogSink> log,
                                                      std::int64_t init_limit_ns) {
  auto negotiated = negotiate_entry(bytes);
  if (!negotiated) return tl::unexpected<Error>(std::move(negotiated.error()));
  std::shared_ptr<PluginCode> code(new PluginCode);
  code->address_ = bytes.data();
  code->negotiated_ = *negotiated;
  code->builtin_ = builtin;
  code->log_ = std::move(log);
  if (Status ok = code->read_texts(); !ok) return tl::unexpected<Error>(std::move(ok.error()));
  if (Status ok =
          move_in(code->address_, code->negotiated_.entry, builtin, code->log_, init_limit_ns);
      !ok) {
    return tl::unexpected<Error>(std::move(ok.error()));
  }
  code->initialised_ = true;
  if (Status ok = code->read_tables(); !ok) return tl::unexpected<Error>(std::move(ok.error()));
  return code;
}

PluginCode::~PluginCode() {
  if (initialised_) move_out(address_, negotiated_.entry, builtin_, health_.lost());
}

bool PluginCode::offers(std::string_view interface_id) const {
  if (interface_id == ROLLCALL_PROCESS_PROBE_ID) return probe_.has_value();
  if (interface_id == ROLLCALL_PROCESS_CONTROL_ID) return control_.has_value();
  if (interface_id == ROLLCALL_WATCH_ID) return watch_.has_value();
  if (interface_id == ROLLCALL_RECORD_STORE_ID) return store_.has_value();
  if (interface_id == ROLLCALL_DOOR_PROBER_ID) return door_.has_value();
  return negotiated_.entry.get_interface(std::string(interface_id).c_str()) != nullptr;
}

Status PluginCode::read_texts() {
  struct Field {
    const char* from;
    const char* what;
    std::string* into;
  };
  const rollcall_entry& entry = negotiated_.entry;
  for (const Field& field :
       {Field{entry.id, "id", &id_}, Field{entry.version, "version", &version_},
        Field{entry.vendor, "vendor", &vendor_}}) {
    auto text = entry_text(field.from, field.what);
    if (!text) return tl::unexpected<Error>(std::move(text.error()));
    *field.into = std::move(*text);
  }
  return {};
}

Status PluginCode::read_tables() {
  const rollcall_entry& entry = negotiated_.entry;
  Status ok = take_table(entry, ROLLCALL_PROCESS_PROBE_ID, &read_probe_table, probe_);
  if (ok) ok = take_table(entry, ROLLCALL_PROCESS_CONTROL_ID, &read_control_table, control_);
  if (ok) ok = take_table(entry, ROLLCALL_WATCH_ID, &read_watch_table, watch_);
  if (ok) ok = take_table(entry, ROLLCALL_RECORD_STORE_ID, &read_store_table, store_);
  if (ok) ok = take_table(entry, ROLLCALL_DOOR_PROBER_ID, &read_door_table, door_);
  return ok;
}

ErrorCode error_code(std::int32_t code) {
  switch (code) {
    case ROLLCALL_E_INVALID:
      return ErrorCode::kInvalid;
    case ROLLCALL_E_IO:
      return ErrorCode::kIo;
    case ROLLCALL_E_DENIED:
      return ErrorCode::kDenied;
    case ROLLCALL_E_UNSUPPORTED:
      return ErrorCode::kUnsupported;
    case ROLLCALL_E_TIMEOUT:
      return ErrorCode::kTimeout;
    case ROLLCALL_E_CANCELLED:
      return ErrorCode::kCancelled;
    case ROLLCALL_E_NOT_FOUND:
      return ErrorCode::kNotFound;
    case ROLLCALL_E_EXISTS:
      return ErrorCode::kExists;
    case ROLLCALL_E_CONFLICT:
      return ErrorCode::kConflict;
    case ROLLCALL_E_CORRUPT:
      return ErrorCode::kCorrupt;
    case ROLLCALL_E_TOO_LARGE:
      return ErrorCode::kTooLarge;
    case ROLLCALL_E_INCOMPATIBLE:
      return ErrorCode::kIncompatible;
    default:
      return ErrorCode::kInternal;
  }
}

}  // namespace rollcall::loader
