// regtool: the operators' command.
#include <exception>
#include <string>

#include "regtool/commands.hpp"
#include "regtool/platform.hpp"

int main(int argc, char** argv) {
  namespace regtool = rollcall::regtool;
  const auto limits = regtool::platform::prepare_process();
  try {
    const auto arguments = regtool::platform::arguments(argc, argv);
    if (!arguments) {
      (void)regtool::platform::write_all(regtool::platform::Stream::kError,
                                         "regtool: " + arguments.error().message + "\n");
      return regtool::kExitUsage;
    }
    return regtool::run_regtool(*arguments, limits);
  } catch (const std::exception& error) {
    // A defect of ours, or no memory: what() is our own text or the library's, not a stranger's.
    (void)regtool::platform::write_all(
        regtool::platform::Stream::kError,
        std::string("regtool: internal error: ") + error.what() + "\n");
    return regtool::kExitIo;
  }
}
