#include "core/stop_event.hpp"

#include <fmt/format.h>

namespace rollcall::core {

std::string stop_event_name(std::int64_t pid, std::string_view start_token) {
  return fmt::format("Global\\rollcall-stop-{}-{}", pid, start_token);
}

}  // namespace rollcall::core
