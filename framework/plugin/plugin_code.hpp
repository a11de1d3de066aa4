// A plugin that was negotiated and initialised.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/negotiate.hpp"
#include "rollcall/plugin.h"
#include "rollcall/result.hpp"

namespace rollcall::loader {

// A host's log. Calls are serial. Threads: any.
class LogSink {
 public:
  using Function = std::function<void(int level, std::string_view line)>;
  explicit LogSink(Function function) : function_(std::move(function)) {}
  void line(int level, std::string_view text) noexcept;
  void close();  // nothing is called any more once this has returned

 private:
  std::mutex mutex_;
  Function function_;
};

// Whether a plugin still answers. Once lost it stays lost. Threads: any.
class Health {
 public:
  void lose(std::string reason);
  [[nodiscard]] bool lost() const { return lost_.load(); }
  [[nodiscard]] std::string reason() const;

 private:
  std::atomic<bool> lost_{false};
  mutable std::mutex mutex_;
  std::string reason_;
};

// What a plugin's own slots may be waited for where the call has no deadline, and how long past a
// deadline they are waited for.
inline constexpr std::int64_t kThirdPartyLimitNs = 30'000'000'000;
// Reading a third party's store, where nobody said how long.
inline constexpr std::int64_t kStoreReadLimitNs = 10'000'000'000;
inline constexpr std::int64_t kGraceNs = 500'000'000;
inline constexpr std::int64_t kInitLimitNs = 10'000'000'000;

// Threads: any, once it is made.
class PluginCode {
 public:
  // Negotiates, reads the tables and calls init. `bytes`: the exported datum. One process calls a
  // plugin's init once, however many hosts use it, and its deinit when the last one is done; a
  // later host begins anew. `builtin`: called directly; any other's init runs under a watch.
  // Errors: kCorrupt, kIncompatible, kInternal (init failed, with its reason), kTimeout.
  [[nodiscard]] static Result<std::shared_ptr<PluginCode>> start(std::span<const std::byte> bytes,
                                                                 bool builtin,
                                                                 std::shared_ptr<LogSink> log,
                                                                 std::int64_t init_limit_ns);
  ~PluginCode();
  PluginCode(const PluginCode&) = delete;
  PluginCode& operator=(const PluginCode&) = delete;

  [[nodiscard]] const std::string& id() const { return id_; }
  [[nodiscard]] const std::string& version() const { return version_; }
  [[nodiscard]] const std::string& vendor() const { return vendor_; }
  [[nodiscard]] AbiVersion abi() const { return negotiated_.plugin_version; }
  [[nodiscard]] std::uint32_t minor_required() const {
    return negotiated_.entry.abi_minor_required;
  }
  [[nodiscard]] bool builtin() const { return builtin_; }
  [[nodiscard]] bool offers(std::string_view interface_id) const;
  [[nodiscard]] const std::optional<rollcall_process_probe>& probe() const { return probe_; }
  [[nodiscard]] const std::optional<rollcall_process_control>& control() const { return control_; }
  [[nodiscard]] const std::optional<rollcall_watch>& watch() const { return watch_; }
  [[nodiscard]] const std::optional<rollcall_record_store>& store() const { return store_; }
  [[nodiscard]] const std::optional<rollcall_door_prober>& door() const { return door_; }

  [[nodiscard]] Health& health() { return health_; }
  [[nodiscard]] const Health& health() const { return health_; }
  void log(int level, std::string_view text) const { log_->line(level, text); }

 private:
  PluginCode() = default;
  [[nodiscard]] Status read_texts();
  [[nodiscard]] Status read_tables();

  const void* address_ = nullptr;
  NegotiatedEntry negotiated_;
  bool builtin_ = false;
  bool initialised_ = false;
  std::string id_;
  std::string version_;
  std::string vendor_;
  std::optional<rollcall_process_probe> probe_;
  std::optional<rollcall_process_control> control_;
  std::optional<rollcall_watch> watch_;
  std::optional<rollcall_record_store> store_;
  std::optional<rollcall_door_prober> door_;
  Health health_;
  std::shared_ptr<LogSink> log_;
};

// ErrorCode of a negative ROLLCALL_E_*; anything else is kInternal.
[[nodiscard]] ErrorCode error_code(std::int32_t code);

}  // namespace rollcall::loader
