// Results: a value, or an Error that says what, on which object, why, and what to do.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <tl/expected.hpp>
#include <utility>

namespace rollcall {

enum class ErrorCode : std::uint8_t {
  kInvalid,       // an argument is outside its documented shape
  kIo,            // the system refused; os_code holds errno or GetLastError
  kDenied,        // permission, or a safety rule (a symlinked directory, a foreign owner)
  kUnsupported,   // this platform, kernel or build cannot
  kTimeout,       // the deadline passed
  kCancelled,     // the cancel token was set
  kNotFound,      // no such object
  kExists,        // it is there already
  kConflict,      // it is not the version that was named
  kCorrupt,       // it was read and makes no sense
  kTooLarge,      // over a documented bound
  kUnreadable,    // it is there and could not be read: no evidence either way
  kRefused,       // a safety rule forbids the act
  kAmbiguous,     // the name fits more than one
  kIncompatible,  // versions do not meet
  kInternal,      // a defect of ours
};

struct Error {
  ErrorCode code = ErrorCode::kInternal;
  std::string message;
  std::int64_t os_code = 0;
};

template <class T>
using Result = tl::expected<T, Error>;
using Status = Result<void>;

[[nodiscard]] inline tl::unexpected<Error> fail(ErrorCode code, std::string message,
                                                std::int64_t os_code = 0) {
  return tl::unexpected<Error>(Error{code, std::move(message), os_code});
}

// Passes an error on, with what the caller was about put before it.
[[nodiscard]] inline tl::unexpected<Error> wrap(std::string_view context, Error error) {
  error.message = std::string(context) + ": " + error.message;
  return tl::unexpected<Error>(std::move(error));
}

}  // namespace rollcall
