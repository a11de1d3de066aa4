// Asking doors who they are. Implemented by door plugins behind the plugin ABI.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/result.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

// An address that was ruled on already: numeric, without brackets.
struct Endpoint {
  std::string host;
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

struct DoorAsk {
  std::string session_id;
  std::string kind;                 // "a2a", "http", "tcp", "unix", or a third party's
  std::string authority;            // "host:port" for a Host header; empty without a url
  std::vector<Endpoint> endpoints;  // tried in order, within one deadline
  std::vector<std::pair<std::string, std::string>> settings;  // of the record's `door`
};

struct ConnectedSocket {
  std::size_t item = 0;  // index into the batch
  std::int64_t socket = -1;
};

struct Admission {
  bool admitted = false;
  std::optional<std::string> token;
};

struct DoorLimits {
  std::int64_t connect_timeout_ns = 2'000'000'000;
  std::int64_t total_timeout_ns = 5'000'000'000;
};

// Threads: any; `admit` and `answer` are called during probe(), serialised, from any thread.
class ROLLCALL_API DoorProber {
 public:
  using Admit = std::function<void(std::span<const ConnectedSocket>, std::span<Admission>)>;
  using Answer = std::function<void(std::size_t item, DoorReading)>;

  virtual ~DoorProber() = default;
  [[nodiscard]] virtual std::string id() const = 0;  // the plugin's id
  // Whether this door may be handed tokens: ours, or a third party's whose manifest wants one and
  // whom the operator allowed.
  [[nodiscard]] virtual bool may_have_token() const = 0;
  // Asks every door side by side; returns when each item was answered.
  [[nodiscard]] virtual Status probe(std::span<const DoorAsk> asks, const DoorLimits& limits,
                                     const Admit& admit, const Answer& answer,
                                     const Call& call) = 0;
  // Asks every door to end its session, where it says that it can be asked so; `reason` is shown to
  // people. A reading that names the session says that it accepted. kUnsupported: no door of this
  // kind takes that.
  [[nodiscard]] virtual Status stop(std::span<const DoorAsk> asks, const std::string& reason,
                                    const DoorLimits& limits, const Admit& admit,
                                    const Answer& answer, const Call& call);
};

}  // namespace rollcall
