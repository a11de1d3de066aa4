#include <windows.h>

#include <process.h>

#include <cerrno>
#include <memory>
#include <system_error>
#include <utility>

#include "core/handle_windows.hpp"
#include "plugin/detached_thread.hpp"

namespace rollcall::loader {
namespace {

using Body = std::function<void()>;

unsigned __stdcall run(void* body) {
  const std::unique_ptr<Body> owned(static_cast<Body*>(body));
  (*owned)();
  return 0;
}

}  // namespace

// Not by std::thread: under winpthreads, as of Debian 12's mingw-w64 and in Wine 8, a thread that
// is detached while it starts is lost now and then, and detaching one that ends can crash.
void start_detached(std::function<void()> body) {
  auto owned = std::make_unique<Body>(std::move(body));
  // https://learn.microsoft.com/cpp/c-runtime-library/reference/beginthread-beginthreadex
  const auto thread = ::_beginthreadex(nullptr, 0, &run, owned.get(), 0, nullptr);
  if (thread == 0) throw std::system_error(errno, std::generic_category(), "_beginthreadex");
  static_cast<void>(owned.release());
  const core::Handle closed(reinterpret_cast<HANDLE>(thread));  // NOLINT: an integer by contract
}

}  // namespace rollcall::loader
