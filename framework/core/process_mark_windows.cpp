#include <windows.h>

#include "core/process_mark.hpp"

namespace rollcall::core {

// Nothing copies a process here: whoever holds an object is the process that made it.
ProcessMark::ProcessMark() : pid_(static_cast<std::int64_t>(::GetCurrentProcessId())) {}

ProcessMark::~ProcessMark() = default;

bool ProcessMark::in_same_process() const {
  return page_ == nullptr && static_cast<std::int64_t>(::GetCurrentProcessId()) == pid_;
}

}  // namespace rollcall::core
