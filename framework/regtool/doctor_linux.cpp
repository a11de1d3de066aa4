#include <fmt/format.h>
#include <sys/syscall.h>
#include <sys/utsname.h>
#include <sys/vfs.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <fstream>
#include <optional>
#include <utility>

#include "regtool/doctor_posix.hpp"

namespace rollcall::regtool {
namespace {

constexpr long kPidfsMagic = 0x50494446;  // "PIDF", linux/magic.h since 6.9

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

// PIDFD_GET_INFO gives the exit status since Linux 6.15.
DoctorLine exit_line() {
  utsname name{};
  int major = 0;
  int minor = 0;
  const bool known = uname(&name) == 0 && std::sscanf(name.release, "%d.%d", &major, &minor) == 2;
  if (known && (major > 6 || (major == 6 && minor >= 15))) {
    return {"exit status", Health::kGood, "told of any process, once its parent has reaped it"};
  }
  return {"exit status", Health::kLimited,
          "told of no process but a child (Linux 6.15 tells it of any)"};
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
  lines.push_back(exit_line());
  lines.push_back(proc_line());
  lines.push_back(hidepid_line());
  lines.push_back(descriptors_line());
  lines.push_back(directory_line(home, "home", owner, true));
  lines.push_back(directory_line(home + "/running", "records", owner, false));
  return lines;
}

}  // namespace rollcall::regtool
