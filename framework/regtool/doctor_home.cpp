#include <fmt/format.h>

#include "core/private_files.hpp"
#include "registry/home.hpp"
#include "regtool/doctor.hpp"

namespace rollcall::regtool {

DoctorLine refused_line(const std::string& topic, const std::string& path, const std::string& why) {
  return {topic, Health::kBad, fmt::format("refusing to use {}: {}", path, why)};
}

std::string foreign_entry(const std::string& home, std::uint64_t owner) {
  const auto dir = core::PrivateDir::open(home, owner);
  if (!dir || !*dir) return {};
  return registry::foreign_entry(**dir).value_or("");
}

}  // namespace rollcall::regtool
