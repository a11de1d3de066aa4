// See PrivateDir::lock(). For *_windows.cpp files only.
#pragma once

#include <cstdint>
#include <string>

#include "core/handle_windows.hpp"
#include "rollcall/call.hpp"
#include "rollcall/result.hpp"

namespace rollcall::core {

[[nodiscard]] Result<Handle> take_file_lock(HANDLE dir, const std::wstring& name,
                                            const std::string& path, const Clock& clock,
                                            std::int64_t deadline_ns, const CancelToken& cancel);

}  // namespace rollcall::core
