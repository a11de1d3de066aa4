#include "core/own_socket.hpp"

namespace rollcall::core {

Status check_own_socket(const std::string& path) {
  return fail(ErrorCode::kUnsupported,
              "on Windows it is not known who can exchange the socket " + path);
}

}  // namespace rollcall::core
