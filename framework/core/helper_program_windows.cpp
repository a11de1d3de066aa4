#include "core/helper_program.hpp"

namespace rollcall::core {

Result<HelperOutput> run_helper(const std::vector<std::string>& argv, const HelperLimits&,
                                const Clock&, const Call&) {
  return fail(ErrorCode::kUnsupported,
              "Rollcall runs no helper program on Windows" +
                  (argv.empty() ? std::string() : ", and so not " + argv.front()));
}

}  // namespace rollcall::core
