// Removing a directory with all in it. For *_windows.cpp files only.
#pragma once

#include <string>

#include <windows.h>

#include "rollcall/result.hpp"

namespace rollcall::core {

// See PrivateDir::remove_tree(). `dir`: the directory itself, open with DELETE and for listing, and
// known to be the one that is meant.
[[nodiscard]] Status remove_tree_of(HANDLE dir, const std::string& path);

}  // namespace rollcall::core
