// The entry of rollcall_backend_windows.dll.
#include "rollcall/plugin.hpp"

#include <winsock2.h>

#include "control.hpp"
#include "decode.hpp"
#include "probe.hpp"
#include "system_windows.hpp"
#include "watcher_windows.hpp"

namespace rollcall::windows_backend {

class NativeProbe final : public Probe {
 public:
  NativeProbe() : Probe(windows_system()) {}

  // Winsock counts its users: a host's own start and end of it are no matter.
  static plugin::Status plugin_init() {
    WSADATA data = {};
    const int error = ::WSAStartup(MAKEWORD(2, 2), &data);
    if (error == 0) return {};
    return {ROLLCALL_E_IO,
            "Winsock cannot be started: " + error_text(static_cast<std::uint32_t>(error)), error};
  }
  static void plugin_deinit() { ::WSACleanup(); }
};

class NativeControl final : public Control {
 public:
  NativeControl() : Control(windows_system()) {}
};

}  // namespace rollcall::windows_backend

ROLLCALL_DEFINE_PLUGIN("rollcall.backend.windows", "0.1.0", "Rollcall",
                       rollcall::windows_backend::NativeProbe,
                       rollcall::windows_backend::NativeControl,
                       rollcall::windows_backend::NativeWatcher);
