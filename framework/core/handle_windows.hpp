// A kernel handle that is closed when it goes out of scope. For *_windows.cpp files only.
#pragma once

#include <utility>

#include <windows.h>

namespace rollcall::core {

// Empty for both values that Windows gives for "none": NULL and INVALID_HANDLE_VALUE (which as a
// process handle is the calling process itself, so keep no pseudo handle in here).
class Handle {
 public:
  Handle() = default;
  explicit Handle(HANDLE handle) : handle_(handle == INVALID_HANDLE_VALUE ? nullptr : handle) {}
  Handle(Handle&& other) noexcept : handle_(other.release()) {}
  Handle& operator=(Handle&& other) noexcept {
    if (this != &other) {
      static_cast<void>(close());
      handle_ = other.release();
    }
    return *this;
  }
  ~Handle() { static_cast<void>(close()); }

  [[nodiscard]] bool valid() const { return handle_ != nullptr; }
  [[nodiscard]] HANDLE get() const { return handle_; }
  HANDLE release() { return std::exchange(handle_, nullptr); }
  // False with GetLastError() where the system refuses. Empty afterwards in any case.
  [[nodiscard]] bool close() { return !valid() || ::CloseHandle(release()) != 0; }

 private:
  HANDLE handle_ = nullptr;
};

}  // namespace rollcall::core
