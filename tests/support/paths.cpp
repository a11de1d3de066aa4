#include "support/paths.hpp"

namespace rollcall::test {

const char* const kPluginDir = ROLLCALL_TEST_PLUGIN_DIR;
const char* const kBinDir = ROLLCALL_TEST_BIN_DIR;
const char* const kSourceDir = ROLLCALL_TEST_SOURCE_DIR;

}  // namespace rollcall::test
