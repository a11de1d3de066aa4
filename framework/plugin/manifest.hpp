// NAME.rollcall.json beside a plugin's library: what it is, read without running any of it.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/negotiate.hpp"
#include "rollcall/result.hpp"

namespace rollcall::loader {

inline constexpr std::size_t kMaxManifestBytes = 16 * 1024;
inline constexpr std::string_view kManifestSuffix = ".rollcall.json";
inline constexpr std::string_view kManifestSchema = "rollcall.plugin/1";

struct Manifest {
  std::string id;       // reverse-DNS, or "rollcall.NAME" for Rollcall's own
  std::string version;  // 1..64 visible bytes
  std::string vendor;
  std::string library;  // a bare file name in the manifest's own folder
  AbiVersion abi;
  std::uint32_t minor_required = 0;
  std::vector<std::string> interfaces;  // at least one
  std::vector<std::string> door_kinds;  // with a door-prober: at least one
  bool wants_token = false;
  std::vector<std::string> platforms;  // empty: any
};

// Strict: one object, every key once and of its type, UTF-8, bounded in size and depth. Keys that
// are not known are ignored, so that later versions can add some. Pure; any thread.
// Errors: kCorrupt, kIncompatible (another schema), kTooLarge; each names the key.
[[nodiscard]] Result<Manifest> parse_manifest(std::string_view bytes);

// "linux", "macos" or "windows".
[[nodiscard]] std::string_view this_platform();

// Whether text is a plugin id: lower-case words, digits, '-' and '_', with a dot, 1..128 bytes.
[[nodiscard]] bool is_plugin_id(std::string_view text);

// Ids that only Rollcall's own plugins may have.
[[nodiscard]] bool is_reserved_id(std::string_view id);

}  // namespace rollcall::loader
