#include "rollcall/stop_listener.hpp"

#include <array>
#include <thread>
#include <utility>

#include <windows.h>

#include "core/stop_event_windows.hpp"
#include "core/text_windows.hpp"

namespace rollcall {

struct StopListener::State {
  core::Handle asked_event;
  core::Handle end_event;
  std::function<void()> asked;
  std::thread thread;

  void listen() const {
    const std::array<HANDLE, 2> events = {end_event.get(), asked_event.get()};
    for (;;) {
      const DWORD which = ::WaitForMultipleObjects(static_cast<DWORD>(events.size()), events.data(),
                                                   FALSE, INFINITE);
      if (which != WAIT_OBJECT_0 + 1) return;
      asked();
    }
  }
};

StopListener::StopListener(std::unique_ptr<State> state) : state_(std::move(state)) {}

StopListener::~StopListener() {
  ::SetEvent(state_->end_event.get());
  state_->thread.join();
}

Result<std::unique_ptr<StopListener>> StopListener::start(std::function<void()> asked) {
  auto event = core::make_stop_event();
  if (!event) return tl::unexpected(event.error());
  auto state = std::make_unique<State>();
  state->asked_event = std::move(*event);
  state->end_event = core::Handle(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
  if (!state->end_event.valid()) {
    return fail(ErrorCode::kIo, "cannot make an event: " + core::error_text(::GetLastError()));
  }
  state->asked = std::move(asked);
  state->thread = std::thread([listening = state.get()] { listening->listen(); });
  return std::unique_ptr<StopListener>(new StopListener(std::move(state)));
}

}  // namespace rollcall
