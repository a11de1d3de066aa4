// rollcall.process-probe/1 on Windows.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "rollcall/plugin.hpp"
#include "system.hpp"

namespace rollcall::windows_backend {

// No settings. Threads: all methods may be called concurrently.
class Probe : public plugin::ProcessProbe {
 public:
  static constexpr bool kConcurrent = true;

  explicit Probe(const System& system) : system_(system) {}
  ~Probe() noexcept override = default;

  plugin::Status observe(const plugin::ObserveBatch& batch, const plugin::Call& call) override;
  // The boot id is that of decode.hpp. No namespaces, no exact id, and a uid of 0: Windows has
  // none of them.
  plugin::Status whoami(rollcall_whoami& out, const plugin::Call& call) override;
  plugin::Status list(const plugin::PidSink& sink, const plugin::Call& call) override;
  // In UTF-8; see read_detail. The process may change between two calls: the caller verifies.
  plugin::Status read(std::int64_t pid, std::uint32_t what, const plugin::Sink& sink,
                      const plugin::Call& call) override;
  plugin::Status port_owner(const plugin::SocketBatch& batch, const plugin::Call& call) override;

 private:
  void own_identity(rollcall_whoami& out) const;
  void set_boot_id(rollcall_whoami& out);
  void machine(rollcall_whoami& out) const;

  const System& system_;
  std::mutex boot_lock_;
  std::string boot_id_;  // a good reading, kept; guarded by boot_lock_
};

}  // namespace rollcall::windows_backend
