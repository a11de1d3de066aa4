#include "core/controlling_terminal.hpp"

#include <fcntl.h>
#include <unistd.h>

namespace rollcall {

bool has_controlling_terminal() {
  const int fd = ::open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC | O_NONBLOCK);
  if (fd < 0) return false;
  ::close(fd);
  return true;
}

}  // namespace rollcall
