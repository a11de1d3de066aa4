#include "common/http_response.hpp"

#include <algorithm>
#include <utility>

namespace rollcall::doors {
namespace {

constexpr std::string_view kBeginning = "HTTP/1.";
constexpr std::uint64_t kHugeLength = UINT64_MAX / 32;

bool is_digit(char c) { return c >= '0' && c <= '9'; }

bool is_token_char(char c) {
  if (is_digit(c) || (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z')) return true;
  return c != '\0' && std::string_view("!#$%&'*+-.^_`|~").find(c) != std::string_view::npos;
}

bool has_control(std::string_view text) {
  return std::any_of(text.begin(), text.end(), [](char c) {
    const auto byte = static_cast<unsigned char>(c);
    return (byte < 0x20 && c != '\t') || byte == 0x7f;
  });
}

std::string_view trimmed(std::string_view text) {
  const auto blank = [](char c) { return c == ' ' || c == '\t'; };
  while (!text.empty() && blank(text.front())) text.remove_prefix(1);
  while (!text.empty() && blank(text.back())) text.remove_suffix(1);
  return text;
}

bool same_ignoring_case(std::string_view left, std::string_view lower) {
  return std::equal(left.begin(), left.end(), lower.begin(), lower.end(), [](char a, char b) {
    return (a >= 'A' && a <= 'Z' ? static_cast<char>(a - 'A' + 'a') : a) == b;
  });
}

int hex_digit(char c) {
  if (is_digit(c)) return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  return -1;
}

}  // namespace

HttpState HttpResponse::fail(HttpProblem problem, std::string detail) {
  state_ = HttpState::kFailed;
  problem_ = problem;
  detail_ = std::move(detail);
  return state_;
}

HttpState HttpResponse::feed(std::string_view bytes) {
  while (state_ == HttpState::kMore && !bytes.empty()) {
    switch (part_) {
      case Part::kSizedBody:
      case Part::kOpenBody:
      case Part::kChunkData:
        take_body(bytes);
        break;
      default:
        if (take_line(bytes)) on_line();
    }
  }
  return state_;
}

HttpState HttpResponse::finish(bool clean) {
  if (state_ != HttpState::kMore) return state_;
  if (part_ == Part::kOpenBody && clean) return state_ = HttpState::kComplete;
  if (part_ == Part::kStatusLine && line_.empty() && interim_ == 0) {
    return fail(HttpProblem::kClosedEarly, "it closed the connection without an answer");
  }
  return fail(HttpProblem::kClosedEarly, "its answer was cut short");
}

// Moves bytes into line_ up to a line end. True: line_ is a whole line, without its CR LF.
bool HttpResponse::take_line(std::string_view& bytes) {
  const auto newline = bytes.find('\n');
  const auto piece = bytes.substr(0, newline == std::string_view::npos ? newline : newline + 1);
  const bool framing = part_ == Part::kChunkSize || part_ == Part::kChunkEnd;
  auto& used = framing ? framing_used_ : head_used_;
  const auto bound = framing ? bounds_.framing_bytes : bounds_.head_bytes;
  used += piece.size();
  if (used > bound || (framing && line_.size() + piece.size() > bounds_.head_bytes)) {
    fail(HttpProblem::kTooLarge,
         framing ? "the framing of its body is too large" : "its header is too large");
    return false;
  }
  line_.append(piece);
  bytes.remove_prefix(piece.size());
  if (part_ == Part::kStatusLine) check_beginning();
  if (state_ == HttpState::kFailed || newline == std::string_view::npos) return false;
  if (line_.size() < 2 || line_[line_.size() - 2] != '\r') {
    fail(HttpProblem::kBadHttp, "a line of it does not end in CR LF");
    return false;
  }
  line_.resize(line_.size() - 2);
  if (has_control(line_)) {
    fail(HttpProblem::kBadHttp, "its header holds a control byte");
    return false;
  }
  return true;
}

// What does not begin as HTTP/1.x is refused at its first bytes: an SSH or TLS peer sends no line
// end that could be waited for.
void HttpResponse::check_beginning() {
  const auto size = std::min(line_.size(), kBeginning.size());
  if (std::string_view(line_).substr(0, size) != kBeginning.substr(0, size)) {
    fail(HttpProblem::kBadHttp, "it does not answer in HTTP/1.x");
  }
}

void HttpResponse::start_line(Part part) {
  part_ = part;
  line_.clear();
}

void HttpResponse::on_line() {
  switch (part_) {
    case Part::kStatusLine:
      return on_status_line();
    case Part::kField:
      if (line_.empty()) return on_head_end();
      return on_field(line_);
    case Part::kChunkSize:
      return on_chunk_size();
    case Part::kChunkEnd:
      if (!line_.empty()) {
        fail(HttpProblem::kBadHttp, "a chunk is longer than its size says");
        return;
      }
      return start_line(Part::kChunkSize);
    case Part::kTrailer:
      if (line_.empty()) {
        state_ = HttpState::kComplete;
        return;
      }
      if (line_.find(':') == std::string::npos || !is_token_char(line_.front())) {
        fail(HttpProblem::kBadHttp, "a trailer of it is malformed");
        return;
      }
      return start_line(Part::kTrailer);
    default:
      return;
  }
}

// status-line = HTTP-version SP 3DIGIT [SP reason-phrase]
void HttpResponse::on_status_line() {
  const std::string_view line = line_;
  const bool shaped = line.size() >= 12 && (line[7] == '0' || line[7] == '1') && line[8] == ' ' &&
                      is_digit(line[9]) && is_digit(line[10]) && is_digit(line[11]) &&
                      line[9] != '0' && (line.size() == 12 || line[12] == ' ');
  if (!shaped) {
    fail(HttpProblem::kBadHttp, "its status line is malformed");
    return;
  }
  http_1_0_ = line[7] == '0';
  status_ = (line[9] - '0') * 100 + (line[10] - '0') * 10 + (line[11] - '0');
  status_text_ = line.size() > 13 ? std::string(line.substr(13, 200)) : std::string();
  start_line(Part::kField);
}

void HttpResponse::on_field(std::string_view line) {
  const auto colon = line.find(':');
  const auto name = line.substr(0, colon);
  if (colon == std::string_view::npos || name.empty() ||
      !std::all_of(name.begin(), name.end(), is_token_char)) {
    fail(HttpProblem::kBadHttp, "a field of its header is malformed or folded");
    return;
  }
  const auto value = trimmed(line.substr(colon + 1));
  if (same_ignoring_case(name, "content-length")) {
    on_length(value);
  } else if (same_ignoring_case(name, "transfer-encoding")) {
    if (has_coding_ || !same_ignoring_case(value, "chunked")) {
      fail(HttpProblem::kBadHttp, "its transfer coding is not plain chunked");
      return;
    }
    has_coding_ = true;
  } else if (same_ignoring_case(name, "content-encoding")) {
    if (!same_ignoring_case(value, "identity")) has_content_coding_ = true;
  } else if (same_ignoring_case(name, "www-authenticate")) {
    asks_credentials_ = true;
  }
  if (state_ == HttpState::kMore) start_line(Part::kField);
}

void HttpResponse::on_length(std::string_view value) {
  if (has_length_) {
    fail(HttpProblem::kBadHttp, "it says its Content-Length twice");
    return;
  }
  if (value.empty() || !std::all_of(value.begin(), value.end(), is_digit)) {
    fail(HttpProblem::kBadHttp, "its Content-Length is not a plain decimal number");
    return;
  }
  has_length_ = true;
  for (const char c : value) {
    if (length_ < kHugeLength) length_ = length_ * 10 + static_cast<unsigned>(c - '0');
  }
}

void HttpResponse::on_head_end() {
  if (status_ < 200) {
    if (status_ == 101 || ++interim_ > bounds_.interim_responses) {
      fail(HttpProblem::kBadHttp, status_ == 101 ? "it switches to a protocol nobody asked for"
                                                 : "it sends interim responses without end");
      return;
    }
    has_length_ = has_coding_ = has_content_coding_ = asks_credentials_ = false;
    length_ = 0;
    return start_line(Part::kStatusLine);
  }
  if (has_coding_ && (has_length_ || http_1_0_)) {
    fail(HttpProblem::kBadHttp, "its header contradicts itself about where the body ends");
    return;
  }
  const bool bodiless = status_ == 204 || status_ == 205 || status_ == 304;
  const bool success = status_ < 300;
  const bool head_says_all = status_ == 401 || status_ == 403 || (status_ / 100) == 3;
  if (bodiless || (!success && (!error_bodies_ || head_says_all))) {
    state_ = HttpState::kComplete;
    return;
  }
  if (has_content_coding_) {
    fail(HttpProblem::kBadHttp, "its body is in a content coding that was not asked for");
    return;
  }
  if (has_length_ && length_ > bounds_.body_bytes) {
    fail(HttpProblem::kTooLarge, "its body is too large");
    return;
  }
  if (has_coding_) return start_line(Part::kChunkSize);
  part_ = has_length_ ? Part::kSizedBody : Part::kOpenBody;
  left_ = length_;
  if (has_length_ && left_ == 0) state_ = HttpState::kComplete;
}

// chunk-size [chunk-ext]: hex digits, then nothing, blanks or ";".
void HttpResponse::on_chunk_size() {
  const std::string_view line = line_;
  std::size_t digits = 0;
  std::uint64_t size = 0;
  while (digits < line.size() && hex_digit(line[digits]) >= 0) {
    if (size < kHugeLength) size = size * 16 + static_cast<unsigned>(hex_digit(line[digits]));
    ++digits;
  }
  const auto rest = trimmed(line.substr(digits));
  if (digits == 0 || (!rest.empty() && rest.front() != ';')) {
    fail(HttpProblem::kBadHttp, "the size of a chunk is not a plain hexadecimal number");
    return;
  }
  if (size > bounds_.body_bytes - body_.size()) {
    fail(HttpProblem::kTooLarge, "its body is too large");
    return;
  }
  if (size == 0) return start_line(Part::kTrailer);
  left_ = size;
  part_ = Part::kChunkData;
}

void HttpResponse::take_body(std::string_view& bytes) {
  const bool open = part_ == Part::kOpenBody;
  const auto size = open ? bytes.size() : std::min<std::uint64_t>(left_, bytes.size());
  const auto piece = bytes.substr(0, static_cast<std::size_t>(size));
  if (piece.size() > bounds_.body_bytes - body_.size()) {
    fail(HttpProblem::kTooLarge, "its body is too large");
    return;
  }
  body_.append(piece);
  bytes.remove_prefix(piece.size());
  if (open) return;
  left_ -= piece.size();
  if (left_ > 0) return;
  if (part_ == Part::kSizedBody) {
    state_ = HttpState::kComplete;
  } else {
    start_line(Part::kChunkEnd);
  }
}

}  // namespace rollcall::doors
