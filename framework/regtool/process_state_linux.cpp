#include <fcntl.h>
#include <unistd.h>

#include "regtool/process_state.hpp"

namespace rollcall::regtool {
namespace {

// "/proc/PID/stat" without the C library's formatting, which is not async-signal-safe.
void put_path(char* out, std::int64_t pid) {
  for (const char* prefix = "/proc/"; *prefix != '\0'; ++prefix) *out++ = *prefix;
  char digits[20];
  int count = 0;
  do {
    digits[count++] = static_cast<char>('0' + pid % 10);
    pid /= 10;
  } while (pid > 0);
  while (count > 0) *out++ = digits[--count];
  for (const char* suffix = "/stat"; *suffix != '\0'; ++suffix) *out++ = *suffix;
  *out = '\0';
}

}  // namespace

// Source: proc(5), /proc/PID/stat field 3, which follows the last ')'.
RunState run_state(std::int64_t pid) noexcept {
  char path[48];
  put_path(path, pid);
  const int fd = open(path, O_RDONLY | O_CLOEXEC);
  if (fd < 0) return RunState::kUnknown;
  char line[512];
  const ssize_t size = read(fd, line, sizeof line);
  close(fd);
  ssize_t at = size - 1;
  while (at >= 0 && line[at] != ')') --at;
  if (at < 0 || at + 2 >= size) return RunState::kUnknown;
  const char state = line[at + 2];
  return state == 'T' || state == 't' ? RunState::kStopped : RunState::kRunning;
}

}  // namespace rollcall::regtool
