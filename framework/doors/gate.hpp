// Asking doors: the host's half. The host, not the plugin, rules on which connected socket may be
// spoken to and which door may have a token.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/door_prober.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/record.hpp"
#include "rollcall/result.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

// One door to ask. The record outlives the call.
struct DoorQuestion {
  const Record* record = nullptr;
  std::int64_t pid = 0;                            // the process that must hold the door: layer 2's
  std::optional<std::uint64_t> owner_uid;          // who owns the record; nullopt: not known
  std::optional<std::int64_t> start_unix_ns = {};  // when the process began; nullopt: not read
  // Whether a new reading is of the process that layer 2 judged, asked once it is known who holds
  // the door: pid and port may have changed hands since. Empty: it is not read again.
  std::function<bool(const Observation& now)> is_same = {};
};

// What asking needs. Everything outlives the call.
struct DoorContext {
  ProcessProbe* probe = nullptr;  // says who holds a port
  // The prober for a kind of door; an error is shown as `no-plugin`.
  std::function<Result<std::shared_ptr<DoorProber>>(std::string_view kind)> doors;
  const std::vector<std::string>* allow_hosts = nullptr;  // null: none
  DoorLimits limits;
  const Clock* clock = nullptr;
};

// The kind of door that a record names: its own, "a2a" where it names none but has a url.
[[nodiscard]] std::string_view door_kind(const Record& record);

// Asks all doors side by side, the kinds too, and returns one reading a question, in their order.
// Costs about one total_timeout however many doors hang. A door that could not be asked has its
// reason: the url's (`bad-url`, `not-loopback`, `not-supported`: no connection was made),
// `no-plugin`, or `unverified` where the asking itself failed, was cancelled or ran into the call's
// deadline; that is no evidence about the door.
// Threads: any; starts a thread a kind of door beyond the first, and joins it.
[[nodiscard]] std::vector<DoorReading> ask_doors(std::span<const DoorQuestion> questions,
                                                 const DoorContext& context, const Call& call);

// Asks one door to end its session. A reading that names the record's session says that it
// accepted; any other says why it did not, was not asked, or is not known to have. The request goes
// only to a door whose every possible listener is the process itself or a descendant of it, with
// the record's token; without a token nothing is connected to.
[[nodiscard]] DoorReading ask_to_stop(const DoorQuestion& question, const std::string& reason,
                                      const DoorContext& context, const Call& call);

// The gate of one batch: rules on sockets after the connects and before a byte is sent, and
// remembers why. A token is handed out only for a loopback (or Unix) peer whose every possible
// listener is the recorded process's, a descendant's, or, where descriptors cannot be read, of the
// record owner's uid.
// Threads: admit() is serialised inside; the readings are for after the probe.
class DoorGate {
 public:
  struct Item {
    std::int64_t pid = 0;
    std::optional<std::uint64_t> owner_uid;
    const std::string* token = nullptr;  // null: none, or the prober may have none
    bool allowed_host = false;           // the operator listed this host: loopback is not demanded
    std::uint32_t wants = 0;             // what `is_same` needs read
    std::function<bool(const Observation& now)> is_same = {};  // as in DoorQuestion
    bool owner_must_be_known = false;  // that its listeners are of the owner's uid is not enough
  };
  struct Ruling {
    bool admitted = false;
    Reason refused = Reason::kNone;  // why the last socket was not admitted
    Ownership ownership = Ownership::kUnknown;
    bool token_given = false;
    std::string detail;  // what was read, for explain
  };

  DoorGate(ProcessProbe& probe, std::vector<Item> items, const Call& call);
  ~DoorGate();
  DoorGate(const DoorGate&) = delete;
  DoorGate& operator=(const DoorGate&) = delete;

  // For DoorProber::probe(); refers to this gate.
  [[nodiscard]] DoorProber::Admit admit();
  // The last ruling on the item; neither admitted nor refused where no socket was shown.
  [[nodiscard]] Ruling ruling(std::size_t item) const;
  // Lays what the gate knows over what the prober said: ownership, and why it was not admitted. An
  // answer about an item of which no socket was admitted is void.
  void complete(std::size_t item, DoorReading& reading) const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

}  // namespace rollcall
