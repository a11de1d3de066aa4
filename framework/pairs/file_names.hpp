// The names of a pair's files: pair.<id>.json, pair.<id>.g<N>.tui-pid and so on.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace rollcall::pairs {

enum class PairFile : std::uint8_t {
  kRecord,
  kTuiPid,
  kTuiExited,
  kWrapperSh,
  kWrapperPs1,
  kControllerPid,
  kControllerExited,
  kResumeLock,
  kDeadSeen,
};

struct ParsedName {
  std::string_view id;  // of the argument
  PairFile file = PairFile::kRecord;
  std::uint64_t generation = 0;  // of those of a terminal
};

// What a generation may have, in a file's name and in the record: below that it fits every integer
// that it is shown as.
inline constexpr std::size_t kGenerationDigits = 18;

// nullopt: no file of a pair. Ids follow check_session_id(); a generation is plain decimal of up to
// kGenerationDigits. Pure; any thread.
[[nodiscard]] std::optional<ParsedName> parse_file_name(std::string_view name);

// Of those without a generation. Pure; any thread.
[[nodiscard]] std::string file_name_of(std::string_view id, PairFile file);

}  // namespace rollcall::pairs
