// What a test program does before its first test.
#pragma once

namespace rollcall::test {

// Sees to it that a crash ends the process at once: on Windows there would be a dialog to answer.
void prepare_test_process();

}  // namespace rollcall::test
