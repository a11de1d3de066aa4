// rollcall.process-probe/1 on Linux.
#pragma once

#include <cstdint>
#include <mutex>
#include <string>

#include "reading.hpp"
#include "rollcall/plugin.hpp"
#include "system.hpp"

namespace rollcall::linux_backend {

// Settings:
//   proc_root        the procfs that is read; default /proc. Its `self` link must name this
//   process. machine_id_path  default /etc/machine-id.
// Threads: all methods may be called concurrently. Safe across fork: what is kept is asked again in
// the child where it differs there.
class Probe final : public plugin::ProcessProbe {
 public:
  static constexpr bool kConcurrent = true;

  explicit Probe(const plugin::Settings& settings);
  Probe(const plugin::Settings& settings, const System& system);
  ~Probe() noexcept override = default;

  plugin::Status observe(const plugin::ObserveBatch& batch, const plugin::Call& call) override;
  plugin::Status whoami(rollcall_whoami& out, const plugin::Call& call) override;
  plugin::Status list(const plugin::PidSink& sink, const plugin::Call& call) override;
  // A zombie is E_NOT_FOUND, a kernel thread's command and environment are E_UNSUPPORTED; neither
  // is empty. More than 8 MiB is E_TOO_LARGE. The process may change between two calls: the caller
  // verifies. Reading a command or an environment waits for the process's memory map lock.
  plugin::Status read(std::int64_t pid, std::uint32_t what, const plugin::Sink& sink,
                      const plugin::Call& call) override;
  plugin::Status port_owner(const plugin::SocketBatch& batch, const plugin::Call& call) override;

 private:
  void own_identity(rollcall_whoami& out);
  void boot_id(rollcall_whoami& out);
  void machine(rollcall_whoami& out) const;
  plugin::Status not_ours() const;

  const System& system_;
  Reader reader_;
  std::string machine_id_path_;
  std::mutex boot_lock_;
  std::string boot_id_;  // a good reading, kept; guarded by boot_lock_
};

}  // namespace rollcall::linux_backend
