// Reads what doors answer in JSON. Remote bytes: nothing is taken for granted, nothing asserts.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace rollcall::doors {

enum class Reading : std::uint8_t {
  kNamed,      // it names the session in `session`
  kNotJson,    // it is not one JSON document in UTF-8 of at most 64 levels
  kNoSession,  // it names nobody; `detail` says why
  kRpcError    // JSON-RPC: no answer to our question; `code` where it is an error of theirs
};

struct CardReading {
  Reading reading = Reading::kNoSession;
  std::string session;
  std::string detail;
  bool promises_more = false;   // it says that an authenticated, extended card exists
  bool can_be_stopped = false;  // kNamed: it says that it takes kStopMethod
  bool has_code = false;        // kRpcError: a well-formed error bearing our id
  std::int64_t code = 0;
};

inline constexpr int kMaxJsonDepth = 64;

// The JSON-RPC method that ends a session; a door that takes it lists it in `params.methods` of the
// extension that names the session.
inline constexpr std::string_view kStopMethod = "session/stop";

// The session that an A2A card names: the non-empty string without control characters at
// `params.sessionId` of the entry of `capabilities.extensions` whose `uri` is one of `uris`. Two
// matching entries that disagree name nobody; so does a key that stands twice on the way.
[[nodiscard]] CardReading read_card(std::string_view body, const std::vector<std::string>& uris);

// The same, of the `result` of a JSON-RPC answer to the request `id`.
[[nodiscard]] CardReading read_rpc_card(std::string_view body, std::string_view id,
                                        const std::vector<std::string>& uris);

// Whether the JSON-RPC answer to the request `id` has the result `{"accepted":true}`. kNamed: it
// has, with an empty session.
[[nodiscard]] CardReading read_accepted(std::string_view body, std::string_view id);

// A JSON string in its quotes. What is not UTF-8 is left out.
[[nodiscard]] std::string quoted(std::string_view text);

// Whether the text is a JSON pointer (RFC 6901): empty, or "/" and tokens with ~0 and ~1.
[[nodiscard]] bool is_json_pointer(std::string_view pointer);
// The session at a JSON pointer of a document.
[[nodiscard]] CardReading read_pointer(std::string_view body, std::string_view pointer);

}  // namespace rollcall::doors
