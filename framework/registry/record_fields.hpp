// The keys of a record that Rollcall knows (docs/record-format.md).
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rollcall::registry {

enum class Field : std::uint8_t {
  kSchema,
  kSessionId,
  kUrl,
  kPid,
  kProcessStart,
  kBootId,
  kExactId,
  kHostId,
  kPidNamespace,
  kTimeNamespace,
  kName,
  kVersion,
  kWorkdir,
  kWorkdirBytesHex,
  kOutlivesLauncher,
  kStartedAt,
  kDoorToken,
  kDoor,
  kMetadata,
};

// Indexed by Field; the order is the one that records are written in.
inline constexpr std::array<std::string_view, 19> kFieldNames = {"schema",
                                                                 "session_id",
                                                                 "url",
                                                                 "pid",
                                                                 "process_start",
                                                                 "boot_id",
                                                                 "exact_id",
                                                                 "host_id",
                                                                 "pid_namespace",
                                                                 "time_namespace",
                                                                 "name",
                                                                 "version",
                                                                 "workdir",
                                                                 "workdir_bytes_hex",
                                                                 "outlives_launcher",
                                                                 "started_at",
                                                                 "door_token",
                                                                 "door",
                                                                 "metadata"};

[[nodiscard]] constexpr std::string_view name_of(Field field) {
  return kFieldNames[static_cast<std::size_t>(field)];
}

// `first`: where to begin to look, the field after the last one that was found.
[[nodiscard]] constexpr std::optional<Field> find_field(std::string_view key, std::size_t first) {
  for (std::size_t i = 0; i < kFieldNames.size(); ++i) {
    const std::size_t at = (first + i) % kFieldNames.size();
    if (kFieldNames[at] == key) return static_cast<Field>(at);
  }
  return std::nullopt;
}

}  // namespace rollcall::registry
