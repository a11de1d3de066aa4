#include <fmt/format.h>

#include "core/private_files.hpp"
#include "regtool/doctor.hpp"

namespace rollcall::regtool {

DoctorLine refused_line(const std::string& topic, const std::string& path, const std::string& why) {
  return {topic, Health::kBad, fmt::format("refusing to use {}: {}", path, why)};
}

std::string foreign_entry(const std::string& home, std::uint64_t owner) {
  const auto dir = core::PrivateDir::open(home, owner);
  if (!dir || !*dir) return {};
  for (const char* folder : {"running", "gone", "quarantine", "journal"}) {
    if ((*dir)->stat(folder)) return {};
  }
  std::string foreign;
  (void)(*dir)->each([&](const core::DirEntry& entry) {
    const std::string_view name = entry.name;
    const bool is_ours = name == "lock" || name == "lost+found" ||
                         name.starts_with("config.json") || name.starts_with(".config.json");
    if (!is_ours) foreign = entry.name;
    return is_ours;
  });
  return foreign;
}

}  // namespace rollcall::regtool
