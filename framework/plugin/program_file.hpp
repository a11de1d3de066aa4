// Which file this process runs.
#pragma once

#include <string>

namespace rollcall::loader {

// Its absolute path, links resolved; empty where it could not be told, and `why` says so. Nothing
// that whoever started a program with more rights than his own may choose is believed.
[[nodiscard]] std::string program_file(std::string& why);

}  // namespace rollcall::loader
