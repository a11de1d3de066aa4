#include "regtool/variable_name.hpp"

namespace rollcall::regtool {

bool is_same_variable(const std::string& a, const std::string& b) { return a == b; }

}  // namespace rollcall::regtool
