#include "core/command_line.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace rollcall::core {
namespace {

constexpr std::size_t kLongestLine = 32'766;
constexpr std::size_t kLongestBatchLine = 8'191;

Status check_length(const std::string& line, std::size_t most) {
  if (line.size() <= most) return {};
  return fail(ErrorCode::kTooLarge,
              fmt::format("the command line has {} bytes, and Windows takes {} at most",
                          line.size(), most));
}

// Backslashes are doubled where a quote follows them, and only there.
void append_quoted(std::string& line, std::string_view word) {
  std::size_t backslashes = 0;
  line += '"';
  for (const char byte : word) {
    if (byte == '"') line.append(backslashes + 1, '\\');
    backslashes = byte == '\\' ? backslashes + 1 : 0;
    line += byte;
  }
  line.append(backslashes, '\\');
  line += '"';
}

Status check_word(std::string_view word) {
  if (word.find('\0') == std::string_view::npos) return {};
  return fail(ErrorCode::kInvalid, "a word of the command holds a NUL byte");
}

Status check_batch_word(std::string_view word) {
  constexpr std::string_view kNoEscape("\"%\r\n\0", 5);
  if (word.find_first_of(kNoEscape) == std::string_view::npos) return {};
  return fail(ErrorCode::kInvalid,
              fmt::format("a batch file cannot be given {}: cmd.exe has no safe way to quote a "
                          "percent sign, a quote or a line break; run the program behind the "
                          "batch file itself",
                          word));
}

}  // namespace

Result<std::string> windows_command_line(const std::vector<std::string>& words) {
  if (words.empty()) return fail(ErrorCode::kInvalid, "there is no command");
  for (const std::string& word : words) {
    if (auto checked = check_word(word); !checked) return tl::unexpected(checked.error());
  }
  if (words.front().find('"') != std::string::npos) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the name of a program cannot hold a quote: {}", words.front()));
  }
  const bool plain_name =
      !words.front().empty() && words.front().find_first_of(" \t") == std::string::npos;
  std::string line = plain_name ? words.front() : '"' + words.front() + '"';
  for (std::size_t i = 1; i < words.size(); ++i) {
    line += ' ';
    const bool plain =
        !words[i].empty() && words[i].find_first_of(" \t\n\r\v\f\"") == std::string::npos;
    if (plain) {
      line += words[i];
    } else {
      append_quoted(line, words[i]);
    }
  }
  if (auto checked = check_length(line, kLongestLine); !checked) {
    return tl::unexpected(checked.error());
  }
  return line;
}

bool is_batch_file(std::string_view path) {
  const std::size_t last = path.find_last_not_of(" .");
  if (last == std::string_view::npos || last < 3) return false;
  std::string end(path.substr(last - 3, 4));
  std::transform(end.begin(), end.end(), end.begin(), [](char byte) {
    return byte >= 'A' && byte <= 'Z' ? static_cast<char>(byte - 'A' + 'a') : byte;
  });
  return end == ".bat" || end == ".cmd";
}

Result<std::string> batch_command_line(const std::string& shell, const std::string& script,
                                       const std::vector<std::string>& words) {
  // /d: no AutoRun; /e:on /v:off: one meaning of the line, whatever the registry says; /s: exactly
  // the outer quotes are taken off.
  std::string line = '"' + shell + "\" /d /e:on /v:off /s /c \"";
  if (auto checked = check_batch_word(script); !checked) return tl::unexpected(checked.error());
  line += '"' + script + '"';
  for (std::size_t i = 1; i < words.size(); ++i) {
    if (auto checked = check_batch_word(words[i]); !checked) {
      return tl::unexpected(checked.error());
    }
    line += ' ';
    append_quoted(line, words[i]);
  }
  line += '"';
  if (auto checked = check_length(line, kLongestBatchLine); !checked) {
    return tl::unexpected(checked.error());
  }
  return line;
}

}  // namespace rollcall::core
