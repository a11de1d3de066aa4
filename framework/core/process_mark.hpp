// Whether this is still the process that made an object: a fork copies objects, not processes.
#pragma once

#include <cstdint>

namespace rollcall::core {

// Threads: any. Not copyable.
class ProcessMark {
 public:
  ProcessMark();  // marks the calling process
  ProcessMark(const ProcessMark&) = delete;
  ProcessMark& operator=(const ProcessMark&) = delete;
  ~ProcessMark();

  // False in a forked child, also in one whose pid in its own namespace is the same number (where
  // the kernel can wipe a page on fork: Linux 4.14 and later; by pid alone elsewhere).
  [[nodiscard]] bool in_same_process() const;

 private:
  std::int64_t pid_;
  unsigned char* page_ = nullptr;  // one byte of it is 1 here and 0 in a forked child
};

}  // namespace rollcall::core
