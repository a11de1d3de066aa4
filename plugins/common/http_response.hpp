// Reads one HTTP/1.x response out of bytes as they come, strictly and within bounds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

namespace rollcall::doors {

struct HttpBounds {
  std::size_t head_bytes = 64 * 1024;    // status lines, fields and trailers, interim ones included
  std::size_t body_bytes = 1024 * 1024;  // decoded
  std::size_t framing_bytes = 16 * 1024 * 1024;  // chunk sizes, extensions and line ends, in all
  int interim_responses = 16;
};

enum class HttpState : std::uint8_t { kMore, kComplete, kFailed };
enum class HttpProblem : std::uint8_t { kNone, kBadHttp, kTooLarge, kClosedEarly };

// RFC 9112 as a client that trusts nobody reads it: lines end in CR LF, fields are not folded,
// `chunked` is the only transfer coding, a length is said once and not beside a transfer coding, no
// content coding is taken (none was asked for). 1xx are skipped. The body ends by its framing; only
// one without length and coding ends by the peer's close.
// Source:  RFC 9112 sections 2.2, 4, 5, 6, 7.
// Errors:  state kFailed and problem(); feeding goes nowhere from then on.
// Threads: one at a time. Does no input or output; the split of the bytes makes no difference.
class HttpResponse {
 public:
  // `error_bodies`: whether the body of an answer that is no 2xx is read too. One of 3xx, 401 and
  // 403 never is: its head says all.
  explicit HttpResponse(bool error_bodies = false, HttpBounds bounds = {})
      : bounds_(bounds), error_bodies_(error_bodies) {}

  HttpState feed(std::string_view bytes);
  // The peer closed its side (`clean`), or the connection broke.
  HttpState finish(bool clean);

  [[nodiscard]] HttpState state() const { return state_; }
  [[nodiscard]] HttpProblem problem() const { return problem_; }
  [[nodiscard]] const std::string& detail() const { return detail_; }
  [[nodiscard]] int status() const { return status_; }
  [[nodiscard]] const std::string& status_text() const { return status_text_; }  // remote text
  [[nodiscard]] bool asks_credentials() const { return asks_credentials_; }      // WWW-Authenticate
  [[nodiscard]] const std::string& body() const { return body_; }
  [[nodiscard]] std::size_t held_bytes() const { return line_.size() + body_.size(); }

 private:
  enum class Part : std::uint8_t {
    kStatusLine,
    kField,
    kSizedBody,
    kOpenBody,
    kChunkSize,
    kChunkData,
    kChunkEnd,
    kTrailer
  };

  HttpState fail(HttpProblem problem, std::string detail);
  bool take_line(std::string_view& bytes);
  void take_body(std::string_view& bytes);
  void on_line();
  void on_status_line();
  void on_field(std::string_view line);
  void on_length(std::string_view value);
  void on_head_end();
  void on_chunk_size();
  void check_beginning();
  void start_line(Part part);

  HttpBounds bounds_;
  bool error_bodies_;
  HttpState state_ = HttpState::kMore;
  HttpProblem problem_ = HttpProblem::kNone;
  Part part_ = Part::kStatusLine;
  std::string line_;
  std::size_t head_used_ = 0;
  std::size_t framing_used_ = 0;
  int interim_ = 0;
  int status_ = 0;
  bool http_1_0_ = false;
  bool asks_credentials_ = false;
  bool has_length_ = false;
  bool has_coding_ = false;
  bool has_content_coding_ = false;
  std::uint64_t length_ = 0;  // of the body
  std::uint64_t left_ = 0;    // of the sized body or the chunk
  std::string status_text_;
  std::string detail_;
  std::string body_;
};

}  // namespace rollcall::doors
