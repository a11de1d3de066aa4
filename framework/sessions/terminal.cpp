#include "rollcall/terminal.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "core/text.hpp"

namespace rollcall {
namespace {

constexpr std::size_t kMaxId = 1024;
constexpr std::size_t kMaxKey = 4096;
constexpr std::size_t kMaxKeys = 1024;
constexpr std::string_view kTmux = "tmux";
constexpr std::string_view kNamespacePlace = "{namespace}";
constexpr std::string_view kIdPlace = "{id}";
constexpr std::string_view kKeysPlace = "{keys}";
constexpr std::string_view kUnixScheme = "unix:";

const TerminalKind kBuiltin[] = {
    {"tmux", "TMUX_PANE", "TMUX"},
    {"screen", "STY", ""},
    {"zellij", "ZELLIJ_PANE_ID", "ZELLIJ_SESSION_NAME"},
    {"wezterm", "WEZTERM_PANE", "WEZTERM_UNIX_SOCKET"},
    {"kitty", "KITTY_WINDOW_ID", "KITTY_LISTEN_ON"},
};

std::string value_of(const Environment& environment, std::string_view name) {
  if (name.empty()) return {};
  for (const Variable& variable : environment.variables) {
    if (variable.name == name) return variable.value;
  }
  return {};
}

void add_terminal(std::vector<Terminal>& found, const Environment& environment,
                  const TerminalKind& kind) {
  Terminal terminal{kind.name, value_of(environment, kind.id_variable), {}};
  if (terminal.id.empty()) return;
  const bool known = std::any_of(found.begin(), found.end(),
                                 [&](const Terminal& other) { return other.kind == kind.name; });
  if (known) return;
  terminal.name_space = value_of(environment, kind.namespace_variable);
  // "SOCKET,PID,SESSION" (tmux(1), GLOBAL AND SESSION ENVIRONMENT).
  if (kind.id_variable == "TMUX_PANE") {
    terminal.name_space.resize(std::min(terminal.name_space.find(','), terminal.name_space.size()));
  }
  found.push_back(std::move(terminal));
}

bool is_variable_name(std::string_view text) {
  const auto is_plain = [](char c) {
    return (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_';
  };
  return !text.empty() && std::all_of(text.begin(), text.end(), is_plain);
}

// What may be handed to a program as a word of its own.
Status check_word(std::string_view what, std::string_view word, std::size_t longest) {
  const auto refuse = [&](std::string_view why) {
    return fail(ErrorCode::kInvalid, fmt::format("{} {} {}", what, text::for_terminal(word), why));
  };
  if (word.empty()) return fail(ErrorCode::kInvalid, fmt::format("{} is empty", what));
  if (word.size() > longest) {
    return fail(ErrorCode::kInvalid, fmt::format("{} is longer than {} bytes", what, longest));
  }
  if (word.front() == '-') return refuse("begins with a dash: it could be taken for an option");
  if (!text::is_utf8(word)) return refuse("is not UTF-8");
  const bool has_control = std::any_of(word.begin(), word.end(), [](char c) {
    return static_cast<unsigned char>(c) < 0x20 || static_cast<unsigned char>(c) == 0x7f;
  });
  // C1 controls are C2 80 ... C2 9F in UTF-8.
  bool has_c1 = false;
  for (std::size_t i = 0; i + 1 < word.size(); ++i) {
    const auto next = static_cast<unsigned char>(word[i + 1]);
    has_c1 = has_c1 || (static_cast<unsigned char>(word[i]) == 0xc2 && next >= 0x80 && next < 0xa0);
  }
  if (has_control || has_c1) {
    return refuse("holds a control character; keys have names: Enter, C-c");
  }
  return {};
}

std::string replaced(std::string word, std::string_view place, std::string_view value) {
  for (std::size_t at = 0; (at = word.find(place, at)) != std::string::npos; at += value.size()) {
    word.replace(at, place.size(), value);
  }
  return word;
}

bool has(std::string_view word, std::string_view place) {
  return word.find(place) != std::string_view::npos;
}

// A word that ends in a semicolon ends a command of tmux's; behind a backslash it does not
// (tmux(1), COMMAND PARSING AND EXECUTION).
std::string for_tmux(std::string key) {
  if (key.back() == ';') key.insert(key.size() - 1, 1, '\\');
  return key;
}

// Whether a program takes the text for the address of a server.
bool is_address(std::string_view kind, std::string_view text, bool is_name_space) {
  const bool by_kind = kind == kTmux || kind == "wezterm" || kind == "kitty";
  return (is_name_space && (by_kind || text.front() == '@')) || has(text, "/") ||
         text.starts_with(kUnixScheme) || text.starts_with("tcp:");
}

}  // namespace

Result<TerminalKind> parse_terminal_kind(std::string_view text) {
  const std::size_t equals = text.find('=');
  const std::string_view variables =
      equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  const std::size_t colon = variables.find(':');
  TerminalKind kind{
      std::string(text.substr(0, equals)), std::string(variables.substr(0, colon)), {}};
  if (colon != std::string_view::npos) kind.namespace_variable = variables.substr(colon + 1);
  const bool name_is_good = !kind.name.empty() && kind.name.front() != '-' &&
                            std::all_of(kind.name.begin(), kind.name.end(), [](char c) {
                              return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') ||
                                     (c >= '0' && c <= '9') || c == '_' || c == '-' || c == '.';
                            });
  const bool good = name_is_good && is_variable_name(kind.id_variable) &&
                    (colon == std::string_view::npos || is_variable_name(kind.namespace_variable));
  if (good) return kind;
  return fail(ErrorCode::kInvalid,
              fmt::format("{} is no kind of terminal: it is NAME=ID_VARIABLE or "
                          "NAME=ID_VARIABLE:NAMESPACE_VARIABLE",
                          text::for_terminal(text)));
}

std::vector<Terminal> find_terminals(const Environment& environment,
                                     const std::vector<TerminalKind>& configured) {
  std::vector<Terminal> found;
  for (const TerminalKind& kind : configured) add_terminal(found, environment, kind);
  for (const TerminalKind& kind : kBuiltin) add_terminal(found, environment, kind);
  return found;
}

std::vector<std::string> default_typing_template(std::string_view kind,
                                                 const std::vector<TerminalKind>& configured) {
  for (const TerminalKind& known : configured) {
    if (known.name == kind) {
      return {known.name,
              "input",
              "--namespace",
              std::string(kNamespacePlace),
              std::string(kIdPlace),
              std::string(kKeysPlace)};
    }
  }
  if (kind == kTmux) {
    return {"tmux",
            "-S",
            std::string(kNamespacePlace),
            "send-keys",
            "-t",
            std::string(kIdPlace),
            "--",
            std::string(kKeysPlace)};
  }
  return {};
}

Result<std::vector<std::string>> socket_paths(const Terminal& terminal,
                                              const std::vector<std::string>& command_template) {
  const auto wants = [&](std::string_view place) {
    return std::any_of(command_template.begin(), command_template.end(),
                       [&](const std::string& word) { return has(word, place); });
  };
  if (terminal.kind == kTmux && terminal.name_space.empty() && wants(kNamespacePlace)) {
    return fail(ErrorCode::kRefused,
                fmt::format("it is not told which server of tmux has the pane {}: TMUX is not set",
                            text::for_terminal(terminal.id)));
  }
  std::vector<std::string> paths;
  const auto add = [&](std::string_view place, std::string_view text) {
    if (text.empty() || !wants(place)) return;
    if (!is_address(terminal.kind, text, place == kNamespacePlace)) return;
    if (text.starts_with(kUnixScheme)) text.remove_prefix(kUnixScheme.size());
    paths.emplace_back(text);
  };
  add(kIdPlace, terminal.id);
  add(kNamespacePlace, terminal.name_space);
  return paths;
}

Result<std::vector<std::string>> typing_command(const Terminal& terminal,
                                                const std::vector<std::string>& keys,
                                                const std::vector<std::string>& command_template) {
  const auto count = [&](std::string_view place) {
    return std::count_if(command_template.begin(), command_template.end(),
                         [&](const std::string& word) { return has(word, place); });
  };
  if (command_template.empty() || count(kIdPlace) == 0 || count(kKeysPlace) == 0) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the command that types into {} needs the places {} and {}",
                            terminal.kind, kIdPlace, kKeysPlace));
  }
  if (auto good = check_word("the terminal's id", terminal.id, kMaxId); !good) {
    return tl::unexpected(good.error());
  }
  if (!terminal.name_space.empty()) {
    auto good = check_word("the terminal's namespace", terminal.name_space, kMaxId);
    if (!good) return tl::unexpected(good.error());
  }
  if (keys.empty() || keys.size() > kMaxKeys) {
    return fail(ErrorCode::kInvalid, fmt::format("1 to {} keys are typed at once", kMaxKeys));
  }
  for (const std::string& key : keys) {
    if (auto good = check_word("the key", key, kMaxKey); !good) return tl::unexpected(good.error());
  }
  std::vector<std::string> words;
  for (const std::string& word : command_template) {
    if (word == kKeysPlace) {
      for (const std::string& key : keys) {
        words.push_back(terminal.kind == kTmux ? for_tmux(key) : key);
      }
    } else if (has(word, kNamespacePlace) && terminal.name_space.empty()) {
      if (words.size() > 1 && words.back().front() == '-') words.pop_back();
    } else {
      words.push_back(
          replaced(replaced(word, kIdPlace, terminal.id), kNamespacePlace, terminal.name_space));
    }
  }
  return words;
}

}  // namespace rollcall
