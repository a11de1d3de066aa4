// What a library file of Windows says of itself, read from its bytes and never by loading it. The
// bytes are anybody's: nothing in them is believed to lie where it says. Pure; any thread.
// Source: "PE Format" (learn.microsoft.com, windows/win32/debug/pe-format).
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/result.hpp"

namespace rollcall::loader {

struct PeFile {
  std::uint16_t machine = 0;         // IMAGE_FILE_MACHINE_*
  std::vector<std::string> exports;  // by name, sorted; what is exported by number alone: "#7"
  std::vector<std::string> imports;  // the libraries that have to be there when it is loaded
};

// Errors: kCorrupt: it is no PE file, or its tables lead out of it.
[[nodiscard]] Result<PeFile> parse_pe_file(std::string_view bytes);

// "x86-64"; a number for one that is not known.
[[nodiscard]] std::string machine_name(std::uint16_t machine);

}  // namespace rollcall::loader
