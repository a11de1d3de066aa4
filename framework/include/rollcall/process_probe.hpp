// Reading processes. Implemented by platform backends behind the plugin ABI.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/identity.hpp"
#include "rollcall/observation.hpp"
#include "rollcall/result.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

// Bits of Ask::wants; the values are those of the plugin ABI.
inline constexpr std::uint32_t kWantStartToken = 1;
inline constexpr std::uint32_t kWantExactId = 2;
inline constexpr std::uint32_t kWantState = 4;
inline constexpr std::uint32_t kWantAge = 8;
inline constexpr std::uint32_t kWantExactSuffices = 16;

struct Ask {
  std::int64_t pid = 0;
  std::uint32_t wants = 0;
};

// The calling process and this machine.
struct WhoAmI {
  ProcessIdentity self;  // start_token empty where it could not be read
  std::string start_token_why;
  std::uint64_t uid = 0;
  BootRule boot_rule = BootRule::kExact;
  std::string boot_id_why;  // with self.boot_id absent
};

enum class ReadWhat : std::uint8_t {
  kCommand = 1,
  kEnvironment = 2,
  kCwd = 3,
  kParent = 4,
  kName = 5,
  kUsers = 6  // every user id that it has, in decimal, a space between; kUnsupported: no numbers
};

struct ProcessRow {
  std::int64_t pid = 0;
  std::optional<std::int64_t> parent;
};

struct SocketAsk {
  std::int64_t socket = -1;  // a connected socket of ours; stays ours
  std::int64_t pid = 0;      // the recorded process
  std::optional<std::uint64_t> owner_uid;
};

struct SocketAnswer {
  Ownership owner = Ownership::kUnknown;
  bool loopback = false;
  bool self_connect = false;
  bool unix_domain = false;
  std::int64_t holder_pid = 0;  // with kForeign, where known
  std::string peer;
  std::string reason;
};

// Threads: any; calls are serialised inside where the plugin is not concurrent.
class ROLLCALL_API ProcessProbe {
 public:
  virtual ~ProcessProbe() = default;
  [[nodiscard]] virtual std::string id() const = 0;  // the plugin's id
  // Whether this is the platform's own backend: only its readings license a prune or a signal.
  [[nodiscard]] virtual bool is_platform() const = 0;
  // `out` has the size of `asks`. Errors: the whole batch could not be tried.
  [[nodiscard]] virtual Status observe(std::span<const Ask> asks, std::span<Observation> out,
                                       const Call& call) = 0;
  [[nodiscard]] virtual Result<WhoAmI> whoami(const Call& call) = 0;
  [[nodiscard]] virtual Result<std::vector<ProcessRow>> list(const Call& call) = 0;
  // Bytes as the system gives them. Errors: kDenied, kNotFound (gone), kUnreadable, kTooLarge.
  [[nodiscard]] virtual Result<std::string> read(std::int64_t pid, ReadWhat what,
                                                 const Call& call) = 0;
  [[nodiscard]] virtual Status port_owner(std::span<const SocketAsk> asks,
                                          std::span<SocketAnswer> out, const Call& call) = 0;
};

}  // namespace rollcall
