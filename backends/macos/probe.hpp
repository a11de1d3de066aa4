// rollcall.process-probe/1 on macOS.
#pragma once

#include <cstdint>

#include "bounds.hpp"
#include "rollcall/plugin_parts.hpp"
#include "system.hpp"
#include "text.hpp"

namespace rollcall::macos_backend {

// Has no state: any thread, concurrently, and across fork.
class Probe {
 public:
  explicit constexpr Probe(const System& system) : system_(system) {}

  Status observe(const plugin::ObserveBatch& batch, const Bounds& bounds) const;

  // The boot id is kern.bootsessionuuid, compared exactly. Where the kernel has none (ENOENT) it is
  // kern.boottime, which moves with the clock: equal is the same boot, a difference proves nothing.
  Status whoami(rollcall_whoami& out) const;

  Status list(const rollcall_pid_sink& sink, const Bounds& bounds) const;

  // The process may change between two calls: the caller verifies.
  Status read(std::int64_t pid, std::uint32_t what, const rollcall_sink& sink,
              const Bounds& bounds) const;

  Status port_owner(const plugin::SocketBatch& batch, const Bounds& bounds) const;

 private:
  void own_identity(rollcall_whoami& out) const;
  void boot_id(rollcall_whoami& out) const;
  bool boot_session(rollcall_whoami& out) const;
  void machine(rollcall_whoami& out) const;

  const System& system_;
};

}  // namespace rollcall::macos_backend
