#include "regtool/failure.hpp"

namespace rollcall::regtool {
namespace {

struct Row {
  ErrorCode code;
  int exit_code;
  std::string_view name;
};

constexpr Row kRows[] = {
    {ErrorCode::kInvalid, kExitUsage, "usage"},
    {ErrorCode::kIo, kExitIo, "io"},
    {ErrorCode::kDenied, kExitIo, "denied"},
    {ErrorCode::kUnsupported, kExitIo, "capability_unavailable"},
    {ErrorCode::kTimeout, kExitIo, "timeout"},
    {ErrorCode::kCancelled, kExitIo, "cancelled"},
    {ErrorCode::kNotFound, kExitIo, "io"},
    {ErrorCode::kExists, kExitRefused, "already_registered"},
    {ErrorCode::kConflict, kExitRefused, "conflict"},
    {ErrorCode::kCorrupt, kExitIo, "unreadable"},
    {ErrorCode::kTooLarge, kExitIo, "too_large"},
    {ErrorCode::kUnreadable, kExitIo, "unreadable"},
    {ErrorCode::kRefused, kExitRefused, "refused"},
    {ErrorCode::kAmbiguous, kExitUsage, "ambiguous"},
    {ErrorCode::kIncompatible, kExitIo, "incompatible"},
    {ErrorCode::kInternal, kExitIo, "internal"},
};

}  // namespace

Failure to_failure(const Error& error, std::string object) {
  for (const Row& row : kRows) {
    if (row.code == error.code) {
      return {row.exit_code, std::string(row.name), error.message, std::move(object)};
    }
  }
  return {kExitIo, "internal", error.message, std::move(object)};
}

Failure to_session_failure(const Error& error, std::string id) {
  if (error.code != ErrorCode::kNotFound) return to_failure(error, std::move(id));
  return {kExitNo, "session_not_found", error.message, std::move(id)};
}

Failure to_capability_failure(const Error& error, std::string object) {
  Failure failure = to_failure(error, std::move(object));
  if (error.code == ErrorCode::kNotFound || failure.exit_code != kExitIo) {
    failure.exit_code = kExitIo;
    failure.code = "capability_unavailable";
  }
  return failure;
}

}  // namespace rollcall::regtool
