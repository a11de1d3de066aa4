// regtool: the operators' command.
#include <exception>
#include <string>
#include <vector>

#include "regtool/commands.hpp"
#include "regtool/platform.hpp"

int main(int argc, char** argv) {
  namespace regtool = rollcall::regtool;
  const auto limits = regtool::platform::prepare_process();
  try {
    return regtool::run_regtool(std::vector<std::string>(argv + (argc > 0 ? 1 : 0), argv + argc),
                                limits);
  } catch (const std::exception& error) {
    // A defect of ours, or no memory: what() is our own text or the library's, not a stranger's.
    (void)regtool::platform::write_all(
        regtool::platform::Stream::kError,
        std::string("regtool: internal error: ") + error.what() + "\n");
    return regtool::kExitIo;
  }
}
