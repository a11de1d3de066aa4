// What a session's own A2A door says, apart from how it is sent. Pure; any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rollcall::doors {

inline constexpr std::string_view kSessionExtension = "urn:rollcall:ext:session:1";
inline constexpr std::string_view kSessionStop = "session/stop";

// Who stands behind the door.
struct CardFacts {
  std::string session_id;
  std::string name;
  std::string version;
  std::string url;  // "http://127.0.0.1:PORT/"
  std::string authority;
  std::optional<std::string> token;
  bool can_stop = false;  // with a token: it takes `session/stop` and says so
};

enum class Generation : std::uint8_t {
  kCurrent,  // A2A 1.0
  kLegacy    // A2A 0.3, with the 1.0 interfaces listed too
};

// The card as JSON. With a token only the extended card names the session.
[[nodiscard]] std::string agent_card(const CardFacts& facts, Generation generation, bool extended);

// One HTTP request, as far as the door looks at it.
struct DoorRequest {
  std::string method;
  std::string target;
  std::vector<std::string> hosts;  // every Host field
  bool has_origin = false;
  bool is_cross_site = false;  // a browser says so in Sec-Fetch-Site
  std::string content_type;
  std::vector<std::string> authorizations;
  std::string a2a_version;
  std::string body;
  bool body_too_large = false;
};

struct DoorResponse {
  int status = 200;
  std::string body;            // JSON
  bool challenge = false;      // WWW-Authenticate: Bearer
  bool invalid_token = false;  // with challenge: one was given
  std::string_view allow;      // with 405
  // `session/stop` was accepted: the reason that was given, for whoever ends the session once the
  // answer was sent.
  std::optional<std::string> stop = {};
};

// Answers a request. Refuses browsers (any Origin, cross-site fetches, DNS rebinding by a Host that
// is not literal loopback with the port), bodies that are not application/json, and, where there is
// a token, every POST without it. Compares tokens in constant time.
[[nodiscard]] DoorResponse answer_request(const CardFacts& facts, const DoorRequest& request);

}  // namespace rollcall::doors
