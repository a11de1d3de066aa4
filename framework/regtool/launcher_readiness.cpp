#include <cstdlib>

#include "regtool/launcher.hpp"

namespace rollcall::regtool::launcher {

std::string packed(const Readiness& readiness) {
  const Failure failure = readiness.failure.value_or(Failure{0, "", "", ""});
  std::string out = readiness.failure ? "f" : (readiness.recorded ? "r" : "u");
  for (const std::string& part :
       {std::to_string(readiness.wrapper_pid), std::to_string(readiness.command_pid),
        readiness.session_id, readiness.warning, std::to_string(failure.exit_code), failure.code,
        failure.text, failure.object}) {
    out += part;
    out += '\0';
  }
  return out;
}

std::optional<Readiness> unpacked(const std::string& bytes) {
  if (bytes.empty()) return std::nullopt;
  std::vector<std::string> parts;
  for (std::size_t begin = 1; begin < bytes.size();) {
    const std::size_t end = bytes.find('\0', begin);
    if (end == std::string::npos) return std::nullopt;
    parts.push_back(bytes.substr(begin, end - begin));
    begin = end + 1;
  }
  if (parts.size() != 8) return std::nullopt;
  Readiness readiness;
  readiness.recorded = bytes.front() == 'r';
  readiness.wrapper_pid = std::atoll(parts[0].c_str());
  readiness.command_pid = std::atoll(parts[1].c_str());
  readiness.session_id = parts[2];
  readiness.warning = parts[3];
  if (bytes.front() == 'f') {
    readiness.failure = Failure{std::atoi(parts[4].c_str()), parts[5], parts[6], parts[7]};
  }
  return readiness;
}

}  // namespace rollcall::regtool::launcher
