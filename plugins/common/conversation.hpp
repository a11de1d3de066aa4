// What is said at one door: pure logic between the loop that does the input and output and the
// answer that the host gets.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "common/http_response.hpp"
#include "rollcall/plugin.hpp"

namespace rollcall::doors {

// What the loop does next.
struct Step {
  enum class Do : std::uint8_t {
    kSend,          // `bytes`, on this connection, and read one response
    kConnectAgain,  // a new connection; it is admitted anew before anything is said on it
    kAnswer         // the item is done
  };
  Do what = Do::kAnswer;
  std::string bytes;  // may hold a token: wiped once sent
  plugin::DoorAnswer answer;

  static Step send(std::string bytes) { return {Do::kSend, std::move(bytes), {}}; }
  static Step connect_again() { return {Do::kConnectAgain, {}, {}}; }
  static Step done(plugin::DoorAnswer answer) { return {Do::kAnswer, {}, std::move(answer)}; }
};

// Threads: one at a time.
class Conversation {
 public:
  virtual ~Conversation() = default;
  // The host admitted this connection, with a token or without.
  virtual Step on_admitted(std::optional<std::string_view> token) = 0;
  // A whole response came (state kComplete).
  virtual Step on_response(const HttpResponse& response) = 0;
  [[nodiscard]] virtual bool reads_error_bodies() const { return false; }
};

// A door that names nobody: being connected to, by the host's leave, is all.
class HeldConversation final : public Conversation {
 public:
  Step on_admitted(std::optional<std::string_view>) override {
    return Step::done(plugin::door_held());
  }
  Step on_response(const HttpResponse&) override { return Step::done(plugin::door_held()); }
};

// Overwrites the bytes before they are freed.
void wipe(std::string& secret);

// `GET path`; `token` empty: none. `Connection: close`, no cookie, no coding.
[[nodiscard]] std::string get_request(std::string_view authority, std::string_view path,
                                      std::string_view token);
// What a response that is no 2xx means. `token_sent`: whether a token went with the request.
[[nodiscard]] plugin::DoorAnswer status_answer(const HttpResponse& response, bool token_sent);
// Whether the response has a body that counts: 200 to 203 and 207 up, but not 204 to 206.
[[nodiscard]] bool has_content(const HttpResponse& response);

}  // namespace rollcall::doors
