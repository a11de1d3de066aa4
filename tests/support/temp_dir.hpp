// A directory of one test's own, in the system's folder for such (TMPDIR), that goes with all its
// contents.
#pragma once

#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <random>
#include <sstream>
#include <string>
#include <string_view>
#include <system_error>

#if defined(_WIN32)
#include "support/remove_windows.hpp"
#endif

namespace rollcall::testing {

#if !defined(_WIN32)
inline void remove_with_contents(const std::filesystem::path& dir) {
  std::error_code ignored;
  std::filesystem::remove_all(dir, ignored);
}
#endif

class TempDir {
 public:
  TempDir() {
    std::random_device random;
    std::error_code error;
    bool made = false;
    while (!made && !error) {
      char name[64];
      std::snprintf(name, sizeof name, "rollcall-test-%08x%08x", random(), random());
      path_ = std::filesystem::temp_directory_path(error) / name;
      if (!error) made = std::filesystem::create_directory(path_, error);
    }
    if (!error) {
      std::filesystem::permissions(path_, std::filesystem::perms::owner_all, error);
    }
    if (error) {
      std::fprintf(stderr, "%s: %s\n", path_.string().c_str(), error.message().c_str());
      std::abort();
    }
  }
  TempDir(const TempDir&) = delete;
  TempDir& operator=(const TempDir&) = delete;
  ~TempDir() { remove_with_contents(path_); }

  [[nodiscard]] const std::filesystem::path& path() const { return path_; }
  [[nodiscard]] std::filesystem::path operator/(std::string_view name) const {
    return path_ / name;
  }

  // Writes a file below the directory, making its parents. Returns its path.
  std::filesystem::path write(std::string_view name, std::string_view bytes) const {
    const auto file = path_ / name;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream out(file, std::ios::binary | std::ios::trunc);
    out.write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    return file;
  }

 private:
  std::filesystem::path path_;
};

// A path as Rollcall takes it: UTF-8, whatever the platform's own paths are made of.
inline std::string utf8(const std::filesystem::path& path) {
  const auto text = path.u8string();
  return {text.begin(), text.end()};
}

// Makes `link` a symbolic link. False: this system's C++ library makes none.
inline bool make_link(const std::filesystem::path& target, const std::filesystem::path& link) {
  std::error_code error;
  std::filesystem::create_symlink(target, link, error);
  return !error;
}

// The whole file, or "" where it cannot be read, as one of a process that ends meanwhile.
inline std::string slurp(const std::filesystem::path& file) {
  std::ifstream in(file, std::ios::binary);
  std::ostringstream bytes;
  bytes << in.rdbuf();
  return bytes.str();
}

}  // namespace rollcall::testing
