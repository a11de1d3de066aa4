// Receipts: endpoints of running programs that a browser may be told of. The endpoint is opaque;
// the address and the token behind it are handed out by resolve() alone, for a living process only.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/export.hpp"
#include "rollcall/file_store.hpp"
#include "rollcall/identity.hpp"
#include "rollcall/process_probe.hpp"
#include "rollcall/registration.hpp"
#include "rollcall/result.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall {

inline constexpr std::string_view kReceiptSchema = "rollcall.receipt/1";
inline constexpr std::string_view kEndpointPrefix = "rollcall-live://";

// What runs there. All three parts name it; `workspace` is a folder, canonical where it can be.
struct ReceiptSource {
  std::string harness;
  std::string session_id;
  std::string workspace;  // bytes; stored recoverably where they are not UTF-8
  friend bool operator==(const ReceiptSource&, const ReceiptSource&) = default;
};

// Who keeps the program running: {"kind":"tmux","session_name":"..."}; other kinds are kept.
struct ReceiptSupervisor {
  std::string kind;
  std::optional<std::string> session_name;
  std::string unknown_json;  // a JSON object of its further members, or empty
  friend bool operator==(const ReceiptSupervisor&, const ReceiptSupervisor&) = default;
};

// Informs, and never decides.
struct ReceiptMetadata {
  std::optional<std::string> profile;
  std::optional<std::string> persistence_location;
  std::vector<std::string> endpoint_capabilities;
  std::optional<ReceiptSupervisor> supervisor;
  std::string unknown_json;  // a JSON object of what we do not know, or empty
  friend bool operator==(const ReceiptMetadata&, const ReceiptMetadata&) = default;
};

// A receipt as it stands in its file. `token` is a secret.
struct Receipt {
  std::string receipt_id;  // 32 lower-case hex digits
  std::string runtime_session_id;
  ReceiptSource source;
  std::string base_url;
  std::string token;
  ProcessIdentity process;
  std::int64_t created_at_ms = 0;
  ReceiptMetadata metadata;  // empty where the file has none
};

enum class ReceiptProblem : std::uint8_t {
  kInvalidEndpoint,   // it is no endpoint of ours
  kNotLive,           // there is no such receipt, or its process is proven gone
  kIdentityMismatch,  // the receipt is another one's: its id, or the source that was named
  kInvalidReceipt,    // what was to be registered, or what was read, is no receipt
  kAmbiguous,         // several receipts fit
  kUnverified,        // whether its process runs cannot be told
  kIo,                // files or processes could not be read or changed
};
[[nodiscard]] ROLLCALL_API std::string_view to_text(ReceiptProblem problem);  // "not-live", ...

// `error.message` never holds a token; `error.code` says more of kIo (kTimeout, kDenied, ...).
struct ReceiptError {
  ReceiptProblem problem = ReceiptProblem::kIo;
  Error error;
};
template <class T>
using ReceiptResult = tl::expected<T, ReceiptError>;

// One receipt as it was found, without what is secret: neither token nor address.
struct ReceiptView {
  std::string endpoint;
  std::string runtime_session_id;
  ReceiptSource source;
  std::int64_t pid = 0;
  std::int64_t created_at_ms = 0;
  ReceiptMetadata metadata;
  ProcessState state = ProcessState::kUnverified;
  Reason reason_code = Reason::kNone;
  std::string reason;  // empty when Alive
};

struct BrokenReceipt {
  std::string file;  // "<name>.json"
  std::string reason;
  bool is_receipt_problem = false;  // false: it could not be read; true: it is no receipt
  RecordError problem;
  StoredRecord stored;
};

struct ReceiptList {
  std::vector<ReceiptView> receipts;  // newest first, then by id; gone ones only if not pruned
  std::vector<ReceiptView> pruned;    // gone, and removed by this read
  std::vector<BrokenReceipt> broken;
  std::vector<std::string> warnings;     // e.g. a gone receipt that could not be removed, and why
  std::vector<std::string> quarantined;  // by clean_up(): moved, or with dry_run to be moved
};

// What resolve() alone yields. `token` is a secret: it goes to `base_url` and nowhere else.
struct ResolvedReceipt {
  std::string endpoint;
  std::string runtime_session_id;
  ReceiptSource source;
  std::string base_url;
  std::string token;
  std::int64_t pid = 0;
};

// What is registered.
struct NewReceipt {
  std::string runtime_session_id;
  ReceiptSource source;
  std::string base_url;  // check_base_url()
  std::string token;     // check_token()
  // nullopt: none is given; then its capabilities are "http" and "acp".
  std::optional<ReceiptMetadata> metadata;
  ProcessIdentity process;  // pid 0: the calling process
};

struct RegisteredReceipt {
  std::string endpoint;
  Registration guard;  // dropping it removes the receipt; see Registration
};

// "rollcall-live://" and the 32 hex digits of a receipt's id. Errors: kInvalid. Pure.
[[nodiscard]] ROLLCALL_API Result<std::string> parse_endpoint(std::string_view endpoint);
[[nodiscard]] ROLLCALL_API std::string format_endpoint(std::string_view receipt_id);

// "http://HOST:PORT" with nothing or a path of plain characters behind it, where HOST is loopback
// by the very rule of doors (rollcall/door_url.hpp), allow-lists left out. Errors: kInvalid. Pure.
[[nodiscard]] ROLLCALL_API Status check_base_url(std::string_view url);

// Reads one receipt out of a whole file, as strictly as parse_record(): schema, id, address and
// token are checked too. `expected_id`: the name that it stands under; another is kNameMismatch.
// Pure; any thread.
[[nodiscard]] ROLLCALL_API tl::expected<Receipt, RecordError> parse_receipt(
    std::string_view bytes, std::string_view expected_id);

// The file's text, ending in a newline. Errors: kInvalid (the message holds no token), kTooLarge.
[[nodiscard]] ROLLCALL_API Result<std::string> serialize_receipt(const Receipt& receipt);

// Threads: any; each call stands for itself. Calls are bounded by `call`; no door is asked.
class ROLLCALL_API Receipts {
 public:
  struct Options {
    std::shared_ptr<FileStore> files;     // required: one that stands on kReceiptsFolder
    std::shared_ptr<ProcessProbe> probe;  // required: the platform's own
    std::shared_ptr<const Clock> clock;   // required
    // What a read proves gone it removes, by compare-and-delete, after a second reading.
    bool prune = false;
  };

  // Errors: kInvalid.
  [[nodiscard]] static Result<std::unique_ptr<Receipts>> open(Options options);
  ~Receipts();

  // kInvalidReceipt (a blank name, an empty token, an address that is not loopback HTTP),
  // kUnverified (the process's identity cannot be read whole: nothing is written), kIo.
  [[nodiscard]] ReceiptResult<RegisteredReceipt> register_receipt(NewReceipt receipt,
                                                                  const Call& call);

  // Everything there, best effort: what is broken is reported, not fatal. kIo: the folder itself.
  [[nodiscard]] ReceiptResult<ReceiptList> list(const Call& call);

  // The receipt of a runtime, if its process is not proven gone. kAmbiguous: several, which the
  // message names.
  [[nodiscard]] ReceiptResult<std::optional<ReceiptView>> find(std::string_view runtime_session_id,
                                                               const Call& call);

  // The newest of this source whose process is not proven gone.
  [[nodiscard]] ReceiptResult<std::optional<ReceiptView>> discover(const ReceiptSource& source,
                                                                   const Call& call);

  // The only way to address and token. kInvalidEndpoint, kNotLive, kInvalidReceipt,
  // kIdentityMismatch, kUnverified, kIo.
  [[nodiscard]] ReceiptResult<ResolvedReceipt> resolve(std::string_view endpoint,
                                                       const ReceiptSource& source,
                                                       const Call& call);

  // Removes the receipt only, whatever its process does. False: there was none.
  // kInvalidEndpoint, kIo.
  [[nodiscard]] ReceiptResult<bool> forget(std::string_view endpoint, const Call& call);

  // As list() with pruning; also moves what is no receipt to quarantine/ and sweeps what killed
  // writers left. `dry_run`: changes nothing, and says what it would.
  [[nodiscard]] ReceiptResult<ReceiptList> clean_up(bool dry_run, const Call& call);

 private:
  class Impl;
  explicit Receipts(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

}  // namespace rollcall
