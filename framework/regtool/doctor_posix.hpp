// The checks that Linux and macOS make alike. For doctor_*.cpp only.
#pragma once

#include <cstdint>
#include <string>

#include "regtool/doctor.hpp"

namespace rollcall::regtool {

[[nodiscard]] std::string errno_text(int code);

// The system's name and release.
[[nodiscard]] DoctorLine kernel_line();

// How many descriptors there are for doors.
[[nodiscard]] DoctorLine descriptors_line();

// Whether a write would take this directory, and else the sentence that it would fail with.
[[nodiscard]] DoctorLine directory_line(const std::string& path, const std::string& topic,
                                        std::uint64_t owner, bool is_home);

}  // namespace rollcall::regtool
