// A thread that nobody joins.
#pragma once

#include <functional>

namespace rollcall::loader {

// Runs `body` on a thread that ends by itself and is never waited for: `body` owns all that it
// uses and must not throw. Any thread may call it.
// Throws std::system_error where no thread can be had; `body` is then not run.
void start_detached(std::function<void()> body);

}  // namespace rollcall::loader
