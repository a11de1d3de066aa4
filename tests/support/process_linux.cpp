// Source: proc(5), /proc/PID/stat and /proc/PID/fd; prctl(2).
#include <dirent.h>
#include <sys/prctl.h>

#include <cstdlib>
#include <string_view>

#include "support/process.hpp"
#include "support/stat_fields_linux.hpp"

namespace rollcall::testing {
namespace {

namespace fs = std::filesystem;

std::string descriptors_of(const std::string& pid) { return "/proc/" + pid + "/fd"; }

}  // namespace

std::vector<std::string> stat_fields(pid_t pid) {
  const std::string line = slurp("/proc/" + std::to_string(pid) + "/stat");
  std::vector<std::string> fields;
  const auto paren = line.rfind(')');
  if (paren == std::string::npos) return fields;
  std::string field;
  for (const char c : std::string_view(line).substr(paren + 1)) {
    if (c == ' ' || c == '\n') {
      if (!field.empty()) fields.push_back(std::exchange(field, {}));
    } else {
      field += c;
    }
  }
  return fields;
}

// Field 22.
std::string start_token_of(pid_t pid) {
  const auto fields = stat_fields(pid);
  return fields.size() > 19 ? fields[19] : std::string();
}

// Field 3.
char state_of(pid_t pid) {
  const auto fields = stat_fields(pid);
  return fields.empty() ? '\0' : fields[0][0];
}

// Fields 3 and 20.
bool is_zombie(pid_t pid) {
  const auto fields = stat_fields(pid);
  return fields.size() > 17 && fields[0] == "Z" && std::stoi(fields[17]) <= 1;
}

std::vector<int> descriptors() {
  std::vector<int> all;
  DIR* folder = ::opendir(descriptors_of("self").c_str());
  if (folder == nullptr) return all;
  while (const dirent* entry = ::readdir(folder)) {
    const int number = std::atoi(entry->d_name);
    if (entry->d_name[0] != '.' && number != ::dirfd(folder)) all.push_back(number);
  }
  ::closedir(folder);
  return all;
}

std::vector<std::string> open_files_of(pid_t pid) {
  std::vector<std::string> all;
  for (const auto& entry : fs::directory_iterator(descriptors_of(std::to_string(pid)))) {
    std::error_code error;
    all.push_back(fs::read_symlink(entry.path(), error));
  }
  return all;
}

void end_with_parent() { ::prctl(PR_SET_PDEATHSIG, SIGKILL); }

void end_orphan(pid_t) {}

}  // namespace rollcall::testing
