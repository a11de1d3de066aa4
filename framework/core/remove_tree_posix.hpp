// Removing a directory with all in it. For *_posix.cpp files only.
#pragma once

#include <cstdint>
#include <string>

#include "rollcall/result.hpp"

namespace rollcall::core {

struct FileNumber {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  friend bool operator==(const FileNumber&, const FileNumber&) = default;
};

// See PrivateDir::remove_tree(). `parent`: the open directory that `name` is in.
[[nodiscard]] Status remove_tree_at(int parent, const std::string& name, const std::string& path,
                                    const FileNumber& expected);

}  // namespace rollcall::core
