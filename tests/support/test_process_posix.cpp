#include "support/test_process.hpp"

namespace rollcall::test {

void prepare_test_process() {}

}  // namespace rollcall::test
