#include "regtool/doctor_posix.hpp"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/utsname.h>

#include <cerrno>
#include <system_error>

namespace rollcall::regtool {
std::string errno_text(int code) { return std::generic_category().message(code); }

DoctorLine kernel_line() {
  utsname name{};
  if (uname(&name) != 0) return {"kernel", Health::kLimited, errno_text(errno)};
  return {"kernel", Health::kGood, fmt::format("{} {}", name.sysname, name.release)};
}

DoctorLine descriptors_line() {
  rlimit limit{};
  if (getrlimit(RLIMIT_NOFILE, &limit) != 0) {
    return {"descriptors", Health::kLimited, errno_text(errno)};
  }
  // A sweep holds a socket a door.
  const bool few = limit.rlim_cur < 1100;
  return {"descriptors", few ? Health::kLimited : Health::kGood,
          limit.rlim_cur == RLIM_INFINITY
              ? "no limit"
              : fmt::format("{} at most{}", limit.rlim_cur,
                            few ? ": fewer doors than 1,000 are asked side by side" : "")};
}

DoctorLine directory_line(const std::string& path, const std::string& topic, std::uint64_t owner,
                          bool is_home) {
  struct stat info {};
  if (lstat(path.c_str(), &info) != 0) {
    if (errno == ENOENT) return {topic, Health::kGood, path + ": not there yet"};
    return {topic, Health::kBad, fmt::format("{}: {}", path, errno_text(errno))};
  }
  if (S_ISLNK(info.st_mode)) {
    return refused_line(topic, path, "it is a symbolic link; put a directory in its place");
  }
  if (!S_ISDIR(info.st_mode)) return {topic, Health::kBad, path + ": not a directory"};
  if (info.st_uid != owner) {
    return refused_line(topic, path,
                        fmt::format("it belongs to uid {}, not to uid {}", info.st_uid, owner));
  }
  const unsigned mode = info.st_mode & 07777U;
  if ((mode & S_ISVTX) != 0 && (mode & S_IWOTH) != 0) {
    return refused_line(topic, path, "everybody may write to it; choose a directory of your own");
  }
  const std::string foreign = is_home ? foreign_entry(path, owner) : std::string();
  if (!foreign.empty()) {
    return refused_line(
        topic, path + " as a home",
        fmt::format("it is no home of Rollcall and not empty (it holds {})", foreign));
  }
  if ((mode & 077U) == 0) {
    return {topic, Health::kGood, fmt::format("{}: mode 0{:o}, its user's alone", path, mode)};
  }
  return {
      topic, Health::kLimited,
      fmt::format("{}: mode 0{:o} lets others in; the next write makes it private", path, mode)};
}

}  // namespace rollcall::regtool
