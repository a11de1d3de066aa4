#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string_view>

#include "regtool/doctor.hpp"

namespace rollcall::regtool {
namespace {

constexpr long kPidfsMagic = 0x50494446;  // "PIDF", linux/magic.h since 6.9

std::string errno_text(int code) {
  char buffer[128] = {};
  return strerror_r(code, buffer, sizeof buffer);
}

DoctorLine kernel_line() {
  utsname name{};
  if (uname(&name) != 0) return {"kernel", Health::kLimited, errno_text(errno)};
  return {"kernel", Health::kGood, fmt::format("{} {}", name.sysname, name.release)};
}

// pidfd_open(2) since Linux 5.3; pidfs since 6.9.
std::vector<DoctorLine> pidfd_lines() {
  const long fd = syscall(SYS_pidfd_open, getpid(), 0);
  if (fd < 0) {
    return {{"pidfd", Health::kBad,
             fmt::format("pidfd_open: {}; sessions are read, but signals are refused: nothing "
                         "else keeps them off a stranger",
                         errno_text(errno))}};
  }
  std::vector<DoctorLine> lines = {
      {"pidfd", Health::kGood, "to be had: signals reach no stranger"}};
  struct statfs info {};
  const bool known = fstatfs(static_cast<int>(fd), &info) == 0;
  close(static_cast<int>(fd));
  if (known && info.f_type == kPidfsMagic) {
    lines.push_back({"pidfs", Health::kGood, "processes have an exact id"});
  } else {
    lines.push_back({"pidfs", Health::kLimited,
                     "none (Linux 6.9 has it): processes are told apart by their start time"});
  }
  return lines;
}

DoctorLine proc_line() {
  char buffer[64] = {};
  const ssize_t size = readlink("/proc/self", buffer, sizeof buffer - 1);
  if (size < 0) {
    return {"/proc", Health::kBad, fmt::format("/proc/self: {}", errno_text(errno))};
  }
  if (std::to_string(getpid()) != buffer) {
    return {"/proc", Health::kBad,
            fmt::format("it shows this process as {}, not {}: it is mounted for another namespace, "
                        "and nothing read there counts",
                        buffer, getpid())};
  }
  return {"/proc", Health::kGood, "it is this pid namespace's own"};
}

// Source: proc(5), mountinfo; field 5 is the mount point, the last holds the super options.
DoctorLine hidepid_line() {
  std::ifstream file("/proc/self/mountinfo");
  std::optional<std::string> options;
  for (std::string line; std::getline(file, line);) {
    if (line.find(" /proc ") == std::string::npos) continue;
    const std::size_t dash = line.find(" - proc ");
    if (dash != std::string::npos) options = line.substr(dash);  // the last mount is on top
  }
  if (!options) return {"hidepid", Health::kLimited, "the mount of /proc was not found"};
  const std::size_t at = options->find("hidepid=");
  if (at == std::string::npos)
    return {"hidepid", Health::kGood, "off: other users' processes show"};
  const std::string value =
      options->substr(at + 8, options->find_first_of(", ", at + 8) - (at + 8));
  return judge_hidepid(value, geteuid() == 0);
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

// The sentence that a write would fail with.
DoctorLine refused_line(const std::string& topic, const std::string& path, const std::string& why) {
  return {topic, Health::kBad, fmt::format("refusing to use {}: {}", path, why)};
}

bool exists(const std::string& path) {
  struct stat info {};
  return lstat(path.c_str(), &info) == 0;
}

// What makes a directory that is there no home: empty where it is one, or may become one. The rule
// is the file store's.
std::string foreign_entry(const std::string& home) {
  for (const char* folder : {"/running", "/gone", "/quarantine"}) {
    if (exists(home + folder)) return {};
  }
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(home, error)) {
    const std::string name = entry.path().filename().string();
    const bool is_ours = name == "lock" || name == "lost+found" ||
                         name.rfind("config.json", 0) == 0 || name.rfind(".config.json", 0) == 0;
    if (!is_ours) return name;
  }
  return {};
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
  const std::string foreign = is_home ? foreign_entry(path) : std::string();
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

}  // namespace

DoctorLine judge_hidepid(const std::string& value, bool is_superuser) {
  if (value == "0" || value == "off") {
    return {"hidepid", Health::kGood, "off: other users' processes show"};
  }
  if (is_superuser) {
    return {"hidepid", Health::kGood,
            fmt::format("hidepid={}: no limit to the superuser, who sees all processes", value)};
  }
  return {"hidepid", Health::kLimited,
          fmt::format("hidepid={}: other users' processes cannot be told", value)};
}

std::vector<DoctorLine> platform_checks(const std::string& home, std::uint64_t owner) {
  std::vector<DoctorLine> lines = {kernel_line()};
  for (DoctorLine& line : pidfd_lines()) lines.push_back(std::move(line));
  lines.push_back(proc_line());
  lines.push_back(hidepid_line());
  lines.push_back(descriptors_line());
  lines.push_back(directory_line(home, "home", owner, true));
  lines.push_back(directory_line(home + "/running", "records", owner, false));
  return lines;
}

}  // namespace rollcall::regtool
