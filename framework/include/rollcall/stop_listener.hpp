// Being asked to stop, where there is no SIGTERM: for hosts that hold a registration on Windows.
#pragma once

#include <functional>
#include <memory>

#include "rollcall/export.hpp"
#include "rollcall/result.hpp"

namespace rollcall {

// Listens for what `regtool stop` and Registry::stop ask of this process. Without one, they can
// only close the windows of the process or send an event to its console, if it has either.
// Opt-in: the library makes none by itself. One at a time in a process.
class ROLLCALL_API StopListener {
 public:
  // `asked` is called once for each asking, in a thread of the listener's; it does not throw.
  // Errors: kUnsupported (everywhere but on Windows: that is SIGTERM, and the host's own matter),
  // kExists (another listener, or a stranger, has this process's event), kIo.
  [[nodiscard]] static Result<std::unique_ptr<StopListener>> start(std::function<void()> asked);
  // From then on `asked` is not called. Not from inside `asked`.
  ~StopListener();
  StopListener(const StopListener&) = delete;
  StopListener& operator=(const StopListener&) = delete;

 private:
  struct State;
  explicit StopListener(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

}  // namespace rollcall
