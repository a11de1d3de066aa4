// Between the C API's types and the framework's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "rollcall/call.hpp"
#include "rollcall/registry.hpp"
#include "rollcall/rollcall.h"

struct rollcall_canceller {
  rollcall::CancelToken token;
};

namespace rollcall::capi {

// The C code of an error.
[[nodiscard]] std::int32_t code_of(ErrorCode code);

// Fills `out` (which may be null) as far as its struct_size goes; returns the error's code.
std::int32_t report(const Error& error, rollcall_error* out);

// Bounds that start now. Errors: kInvalid (a negative timeout).
[[nodiscard]] Result<Call> to_call(const rollcall_bounds* bounds, const Clock& clock);

// Hands one session to a callback and returns what that returned.
std::int32_t show(const SessionView& view, std::int64_t now_unix_ns,
                  rollcall_session_callback callback, void* context);

// Copies `text` into a fixed, null-terminated field, cut at a code point where it is too long.
void copy_text(std::string_view text, char* out, std::size_t capacity);

// Reads a struct that its writer may have built with an older or newer header: the smaller of both
// sizes, over zeroes.
template <class T>
[[nodiscard]] T read_struct(const T* from) {
  T into{};
  if (from == nullptr) return into;
  const std::size_t size = from->struct_size < sizeof(T) ? from->struct_size : sizeof(T);
  std::memcpy(static_cast<void*>(&into), from, size);
  return into;
}

}  // namespace rollcall::capi
