// What the tests of a home need on a POSIX system: modes, and processes that they bind.
#pragma once

#include <grp.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>
#include <functional>

#include "registry/store_fixture.hpp"
#include "support/process.hpp"

namespace rollcall::testing {

inline mode_t mode_of(const std::filesystem::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

// Runs `body` in a child that permissions bind: as root it becomes the user nobody, whom `dir` is
// handed to. Returns what `body` returns; -1 where the child did not end well.
inline int run_as_ordinary_user(const TempDir& dir, const std::function<int()>& body) {
  constexpr uid_t kNobody = 65534;
  const bool root = ::geteuid() == 0;
  if (root && ::chown(dir.path().c_str(), kNobody, kNobody) != 0) return -1;
  Child child = Child::run([&] {
    if (root &&
        (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
      return 99;
    }
    return body();
  });
  const auto status = child.wait(60s);
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
}

}  // namespace rollcall::testing
