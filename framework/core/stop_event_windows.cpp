#include "core/stop_event_windows.hpp"

#include <fmt/format.h>

#include "core/security_windows.hpp"
#include "core/text_windows.hpp"
#include "rollcall/windows_stop.hpp"

namespace rollcall::core {

Result<Handle> make_stop_event() {
  FILETIME born{};
  FILETIME unused{};
  if (::GetProcessTimes(::GetCurrentProcess(), &born, &unused, &unused, &unused) == 0) {
    return fail(ErrorCode::kIo,
                "cannot read when this process began: " + error_text(::GetLastError()));
  }
  const auto token = std::uint64_t{born.dwHighDateTime} << 32U | born.dwLowDateTime;
  const std::string name = plugin::stop_event_name(::GetCurrentProcessId(), std::to_string(token));
  const auto wide = widen(name);
  const auto mine = OwnerOnly::make();
  if (!mine) return tl::unexpected(mine.error());
  Handle event(::CreateEventW(mine->attributes(), FALSE, FALSE, wide->c_str()));
  const DWORD code = ::GetLastError();
  if (event.valid() && code != ERROR_ALREADY_EXISTS) return event;
  if (event.valid() || code == ERROR_ACCESS_DENIED) {
    return fail(ErrorCode::kExists, fmt::format("the event {} is somebody else's", name), code);
  }
  return fail(ErrorCode::kIo, fmt::format("cannot make the event {}: {}", name, error_text(code)),
              code);
}

}  // namespace rollcall::core
