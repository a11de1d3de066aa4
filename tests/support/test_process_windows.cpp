#include <windows.h>

#include "support/test_process.hpp"

namespace rollcall::test {

void prepare_test_process() {
  ::SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX | SEM_NOOPENFILEERRORBOX);
}

}  // namespace rollcall::test
