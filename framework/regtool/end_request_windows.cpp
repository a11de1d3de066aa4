// Being asked to end, by the console.
#include <mutex>
#include <utility>

#include <windows.h>

#include "regtool/platform.hpp"

namespace rollcall::regtool::platform {
namespace {

// The console calls a function without a context, so the one that listens is found here.
std::mutex g_mutex;                 // NOLINT: see above
std::function<void()>* g_listener;  // NOLINT: guarded by g_mutex

BOOL WINAPI handle(DWORD) {
  const std::lock_guard lock(g_mutex);
  if (g_listener == nullptr) return FALSE;
  std::function<void()> asked = std::exchange(*g_listener, nullptr);
  if (asked) asked();
  return TRUE;
}

}  // namespace

struct EndRequest::State {
  std::function<void()> asked;
};

EndRequest::EndRequest(std::function<void()> asked, Readers /*readers*/)
    : state_(std::make_unique<State>()) {
  state_->asked = std::move(asked);
  {
    const std::lock_guard lock(g_mutex);
    g_listener = &state_->asked;
  }
  (void)::SetConsoleCtrlHandler(&handle, TRUE);
}

EndRequest::~EndRequest() {
  (void)::SetConsoleCtrlHandler(&handle, FALSE);
  const std::lock_guard lock(g_mutex);
  g_listener = nullptr;
}

}  // namespace rollcall::regtool::platform
