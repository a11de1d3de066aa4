#include "capi/convert.hpp"

#include <algorithm>
#include <limits>
#include <string>

#include "core/shown_url.hpp"
#include "core/text.hpp"

namespace rollcall::capi {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

std::uint32_t verdict_of(Verdict verdict) {
  switch (verdict) {
    case Verdict::kLive:
      return ROLLCALL_VERDICT_LIVE;
    case Verdict::kAlive:
      return ROLLCALL_VERDICT_ALIVE;
    case Verdict::kGone:
      return ROLLCALL_VERDICT_GONE;
    case Verdict::kUnreachable:
      break;
  }
  return ROLLCALL_VERDICT_UNREACHABLE;
}

}  // namespace

std::int32_t code_of(ErrorCode code) {
  switch (code) {
    case ErrorCode::kInvalid:
      return ROLLCALL_E_INVALID;
    case ErrorCode::kIo:
      return ROLLCALL_E_IO;
    case ErrorCode::kDenied:
      return ROLLCALL_E_DENIED;
    case ErrorCode::kUnsupported:
      return ROLLCALL_E_UNSUPPORTED;
    case ErrorCode::kTimeout:
      return ROLLCALL_E_TIMEOUT;
    case ErrorCode::kCancelled:
      return ROLLCALL_E_CANCELLED;
    case ErrorCode::kNotFound:
      return ROLLCALL_E_NOT_FOUND;
    case ErrorCode::kExists:
      return ROLLCALL_E_EXISTS;
    case ErrorCode::kConflict:
      return ROLLCALL_E_CONFLICT;
    case ErrorCode::kCorrupt:
      return ROLLCALL_E_CORRUPT;
    case ErrorCode::kTooLarge:
      return ROLLCALL_E_TOO_LARGE;
    case ErrorCode::kUnreadable:
      return ROLLCALL_E_UNREADABLE;
    case ErrorCode::kRefused:
      return ROLLCALL_E_REFUSED;
    case ErrorCode::kAmbiguous:
      return ROLLCALL_E_AMBIGUOUS;
    case ErrorCode::kIncompatible:
      return ROLLCALL_E_INCOMPATIBLE;
    case ErrorCode::kInternal:
      break;
  }
  return ROLLCALL_E_INTERNAL;
}

void copy_text(std::string_view text, char* out, std::size_t capacity) {
  if (capacity == 0) return;
  std::size_t size = std::min(text.size(), capacity - 1);
  // A code point is never cut in two: its first byte goes with the rest of it.
  while (size > 0 && size < text.size() && (static_cast<unsigned char>(text[size]) & 0xC0) == 0x80)
    --size;
  std::copy_n(text.data(), size, out);
  out[size] = '\0';
}

std::int32_t report(const Error& error, rollcall_error* out) {
  const std::int32_t code = code_of(error.code);
  if (out == nullptr || out->struct_size <= offsetof(rollcall_error, message)) return code;
  out->code = code;
  out->os_code = error.os_code;
  const std::size_t capacity =
      std::min<std::size_t>(out->struct_size, sizeof(*out)) - offsetof(rollcall_error, message);
  copy_text(text::to_utf8(error.message), out->message, std::min(capacity, sizeof(out->message)));
  return code;
}

Result<Call> to_call(const rollcall_bounds* bounds, const Clock& clock) {
  const auto given = read_struct(bounds);
  Call call;
  if (given.timeout_ms < 0) return fail(ErrorCode::kInvalid, "the timeout is negative");
  if (given.timeout_ms > 0) {
    const std::int64_t now = clock.monotonic_ns();
    const std::int64_t room = std::numeric_limits<std::int64_t>::max() - now;
    if (given.timeout_ms < room / kNsPerMs) {
      call.deadline_ns = now + given.timeout_ms * kNsPerMs;
    }
  }
  if (given.canceller != nullptr) call.cancel = given.canceller->token;
  return call;
}

std::int32_t show(const SessionView& view, std::int64_t now_unix_ns,
                  rollcall_session_callback callback, void* context) {
  const std::string name = text::to_utf8(view.record.name);
  const std::string version = text::to_utf8(view.record.version);
  const std::string workdir = text::to_utf8(view.record.workdir);
  const std::string url = text::to_utf8(shown_url(view.record.url.value_or("")));
  const std::string code(to_text(view.finding.reason));
  const std::string reason = text::to_utf8(view.finding.text);
  rollcall_session session{};
  session.struct_size = sizeof(session);
  session.verdict = verdict_of(view.finding.verdict);
  session.pid = view.record.process.pid;
  session.uptime_s = view.uptime_s(now_unix_ns).value_or(-1);
  session.is_detached = view.record.outlives_launcher ? 1 : 0;
  session.session_id = view.record.session_id.c_str();
  session.name = name.c_str();
  session.version = version.c_str();
  session.workdir = workdir.c_str();
  session.url = view.record.url ? url.c_str() : nullptr;
  session.reason_code = code.c_str();
  session.reason = reason.c_str();
  return callback(context, &session);
}

}  // namespace rollcall::capi
