// Where the build tree and the source are. In one object file, so that all others compile to the
// same bytes in every checkout, and a compiler cache serves them all.
#pragma once

namespace rollcall::test {

extern const char* const kPluginDir;  // the built plugins and their manifests
extern const char* const kBinDir;     // regtool
extern const char* const kSourceDir;  // the top of the source tree

}  // namespace rollcall::test
