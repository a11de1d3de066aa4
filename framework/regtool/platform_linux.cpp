#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <vector>

#include "regtool/platform.hpp"

namespace rollcall::regtool::platform {

void keep_memory_out_of_dumps() {
  const int filter = open("/proc/self/coredump_filter", O_WRONLY | O_CLOEXEC);
  if (filter < 0) return;  // a kernel without dumps, or a /proc that is not ours
  (void)!write(filter, "0", 1);
  close(filter);
}

// Source: proc(5), /proc/self/exe.
Result<std::string> own_executable() {
  std::vector<char> buffer(4096);
  const ssize_t size = readlink("/proc/self/exe", buffer.data(), buffer.size());
  if (size <= 0 || static_cast<std::size_t>(size) == buffer.size()) {
    return fail(ErrorCode::kIo, "cannot read /proc/self/exe: this program's own file is unknown",
                errno);
  }
  return std::string(buffer.data(), static_cast<std::size_t>(size));
}

}  // namespace rollcall::regtool::platform
