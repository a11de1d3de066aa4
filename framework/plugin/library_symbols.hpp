// What the platform's file format says of symbols, for shared_library_posix.cpp.
#pragma once

#include <cstddef>

namespace rollcall::loader {

// How many bytes belong to the symbol at this address of a loaded library. Of Mach-O, whose symbols
// have no size: how many are left of its section. 0: no symbol is known there.
[[nodiscard]] std::size_t symbol_size(const void* address);

}  // namespace rollcall::loader
