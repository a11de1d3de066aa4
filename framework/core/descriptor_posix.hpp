// A file descriptor that is closed when it goes out of scope. For *_posix.cpp files only.
#pragma once

#include <cstdint>
#include <string>
#include <utility>

#include <unistd.h>

#include "rollcall/call.hpp"
#include "rollcall/result.hpp"

namespace rollcall::core {

class Descriptor {
 public:
  Descriptor() = default;
  explicit Descriptor(int number) : number_(number) {}
  Descriptor(Descriptor&& other) noexcept : number_(other.release()) {}
  Descriptor& operator=(Descriptor&& other) noexcept {
    if (this != &other) {
      static_cast<void>(close());
      number_ = other.release();
    }
    return *this;
  }
  ~Descriptor() { static_cast<void>(close()); }

  [[nodiscard]] bool valid() const { return number_ >= 0; }
  [[nodiscard]] int get() const { return number_; }
  int release() { return std::exchange(number_, -1); }
  // False with errno where the system reports a write that failed late. Closed in any case.
  [[nodiscard]] bool close() { return !valid() || ::close(release()) == 0; }

 private:
  int number_ = -1;
};

// See PrivateDir::lock().
[[nodiscard]] Result<Descriptor> take_file_lock(int dir, const std::string& name,
                                                const std::string& path, const Clock& clock,
                                                std::int64_t deadline_ns,
                                                const CancelToken& cancel);

// Whether the open directory shows objects of the kernel instead of files: procfs, sysfs and their
// like. False where it cannot be told.
[[nodiscard]] bool is_kernel_file_system(int dir);

}  // namespace rollcall::core
