#include "plugin/program_file.hpp"
#include "regtool/platform.hpp"

namespace rollcall::regtool::platform {

// A core file is written by the limit alone (core(5)), which is 0 from prepare_process() on.
void keep_memory_out_of_dumps() {}

Result<std::string> own_executable() {
  std::string why;
  std::string path = loader::program_file(why);
  if (path.empty()) return fail(ErrorCode::kIo, "this program's own file is unknown: " + why);
  return path;
}

}  // namespace rollcall::regtool::platform
