#include "pairs/file_names.hpp"

#include <charconv>

#include "rollcall/record.hpp"

namespace rollcall::pairs {
namespace {

constexpr std::string_view kPrefix = "pair.";

struct Ending {
  std::string_view text;
  PairFile file;
  bool has_generation;
};

constexpr Ending kEndings[] = {
    {".json", PairFile::kRecord, false},
    {".tui-pid", PairFile::kTuiPid, true},
    {".tui-exited", PairFile::kTuiExited, true},
    {".wrapper.sh", PairFile::kWrapperSh, true},
    {".wrapper.ps1", PairFile::kWrapperPs1, true},
    {".claude-pid", PairFile::kControllerPid, false},
    {".claude-exited", PairFile::kControllerExited, false},
    {".resume-lock", PairFile::kResumeLock, false},
    {".dead-seen", PairFile::kDeadSeen, false},
};

// Takes ".g<N>" off the end.
std::optional<std::uint64_t> take_generation(std::string_view& text) {
  const std::size_t at = text.rfind(".g");
  if (at == std::string_view::npos) return std::nullopt;
  const std::string_view digits = text.substr(at + 2);
  if (digits.empty() || digits.size() > kGenerationDigits ||
      (digits.size() > 1 && digits[0] == '0') ||
      digits.find_first_not_of("0123456789") != std::string_view::npos) {
    return std::nullopt;
  }
  std::uint64_t number = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), number);
  text.remove_suffix(text.size() - at);
  return number;
}

}  // namespace

std::optional<ParsedName> parse_file_name(std::string_view name) {
  if (!name.starts_with(kPrefix)) return std::nullopt;
  name.remove_prefix(kPrefix.size());
  for (const Ending& ending : kEndings) {
    if (!name.ends_with(ending.text)) continue;
    ParsedName parsed{name.substr(0, name.size() - ending.text.size()), ending.file, 0};
    if (ending.has_generation) {
      const auto number = take_generation(parsed.id);
      if (!number) return std::nullopt;
      parsed.generation = *number;
    }
    if (!check_session_id(parsed.id)) return std::nullopt;
    return parsed;
  }
  return std::nullopt;
}

std::string file_name_of(std::string_view id, PairFile file) {
  for (const Ending& ending : kEndings) {
    if (ending.file == file) return std::string(kPrefix).append(id).append(ending.text);
  }
  return {};
}

}  // namespace rollcall::pairs
