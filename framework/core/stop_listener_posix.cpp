#include "rollcall/stop_listener.hpp"

namespace rollcall {

struct StopListener::State {};

StopListener::StopListener(std::unique_ptr<State> state) : state_(std::move(state)) {}
StopListener::~StopListener() = default;

Result<std::unique_ptr<StopListener>> StopListener::start(std::function<void()>) {
  return fail(ErrorCode::kUnsupported,
              "a process is asked to stop by SIGTERM here; handle that signal");
}

}  // namespace rollcall
