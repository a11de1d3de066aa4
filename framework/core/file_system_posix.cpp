// Which file systems only this machine can write to.
#include <algorithm>
#include <array>
#include <cerrno>
#include <cstdint>
#include <string>
#include <string_view>

#include <fcntl.h>
#if defined(__linux__)
#include <sys/vfs.h>
#else
#include <sys/mount.h>
#include <sys/param.h>
#endif

#include "core/descriptor_posix.hpp"
#include "core/private_files.hpp"

namespace rollcall::core {
namespace {

#if defined(__linux__)
// statfs(2), f_type. What is not here counts as shared: wrongly shared only makes a verdict more
// careful.
bool is_local(const struct statfs& info) {
  constexpr std::array<std::uint64_t, 6> kLocal = {
      0xEF53,      // ext2, ext3, ext4
      0x58465342,  // xfs
      0x9123683E,  // btrfs
      0x01021994,  // tmpfs
      0x2FC12FC1,  // zfs
      0x794C7630,  // overlayfs
  };
  const auto type = static_cast<std::uint64_t>(info.f_type) & 0xFFFF'FFFFU;
  return std::find(kLocal.begin(), kLocal.end(), type) != kLocal.end();
}

// As above: what may not be made private, even if it is empty.
bool is_kernel(const struct statfs& info) {
  constexpr std::array<std::uint64_t, 12> kKernel = {
      0x9FA0,      // proc
      0x62656572,  // sysfs
      0x0027E0EB,  // cgroup
      0x63677270,  // cgroup2
      0x64626720,  // debugfs
      0x74726163,  // tracefs
      0x73636673,  // securityfs
      0xCAFE4A11,  // bpf
      0x62656570,  // configfs
      0x1CD1,      // devpts
      0x6165676C,  // pstore
      0xDE5E81E4,  // efivarfs
  };
  const auto type = static_cast<std::uint64_t>(info.f_type) & 0xFFFF'FFFFU;
  return std::find(kKernel.begin(), kKernel.end(), type) != kKernel.end();
}
#else
bool is_kernel(const struct statfs&) { return false; }
bool is_local(const struct statfs& info) { return std::string_view(info.f_fstypename) == "apfs"; }
#endif

}  // namespace

bool is_kernel_file_system(int dir) {
  struct statfs info {};
  return ::fstatfs(dir, &info) == 0 && is_kernel(info);
}

bool is_on_local_file_system(const std::string& path) {
  std::string at = path;
  while (true) {
    const Descriptor file(::open(at.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    struct statfs info {};
    if (file.valid()) return ::fstatfs(file.get(), &info) == 0 && is_local(info);
    if (errno != ENOENT) return ::statfs(at.c_str(), &info) == 0 && is_local(info);
    const auto slash = at.find_last_of('/');
    if (slash == std::string::npos || at == "/") return false;
    at = slash == 0 ? "/" : at.substr(0, slash);
  }
}

}  // namespace rollcall::core
