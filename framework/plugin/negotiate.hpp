// Whether a plugin's tables fit this host: pure functions over bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "rollcall/plugin.h"
#include "rollcall/result.hpp"

namespace rollcall::loader {

struct AbiVersion {
  std::uint32_t major = 0;
  std::uint32_t minor = 0;
  friend bool operator==(const AbiVersion&, const AbiVersion&) = default;
};
[[nodiscard]] std::string to_text(AbiVersion version);  // "1.0"

// What this host speaks, and the lowest plugin minor that it still understands.
struct HostAbi {
  AbiVersion version{ROLLCALL_ABI_MAJOR, ROLLCALL_ABI_MINOR};
  std::uint32_t minor_floor = 0;
};

// Whether a plugin of `plugin` that works with host minors from `required` on meets this host.
// Errors: kIncompatible; each says which of the two to upgrade.
[[nodiscard]] Status meet(AbiVersion plugin, std::uint32_t required, const HostAbi& host);

struct NegotiatedEntry {
  rollcall_entry entry{};     // a copy; what the plugin's is too short for is zero
  std::uint32_t minor = 0;    // the effective one, the smaller of both
  AbiVersion plugin_version;  // as the plugin says
};

// Reads the exported datum. `bytes` is all that is known to be readable there. Pointers in it are
// copied and never followed.
// Errors: kIncompatible (versions), kCorrupt (no plugin, or one that makes no sense).
[[nodiscard]] Result<NegotiatedEntry> negotiate_entry(std::span<const std::byte> bytes,
                                                      const HostAbi& host = {});

// Reads an interface table likewise: the smaller size into a zeroed struct.
// Errors: kCorrupt, naming the required slot that is missing.
[[nodiscard]] Result<rollcall_process_probe> read_probe_table(std::span<const std::byte> bytes);
[[nodiscard]] Result<rollcall_process_control> read_control_table(std::span<const std::byte> bytes);
[[nodiscard]] Result<rollcall_watch> read_watch_table(std::span<const std::byte> bytes);
[[nodiscard]] Result<rollcall_record_store> read_store_table(std::span<const std::byte> bytes);
[[nodiscard]] Result<rollcall_door_prober> read_door_table(std::span<const std::byte> bytes);

// The bytes of a live table, as its own struct_size says. Null: empty.
[[nodiscard]] std::span<const std::byte> table_bytes(const void* table);

}  // namespace rollcall::loader
