#include <thread>
#include <utility>

#include "plugin/detached_thread.hpp"

namespace rollcall::loader {

void start_detached(std::function<void()> body) { std::thread(std::move(body)).detach(); }

}  // namespace rollcall::loader
