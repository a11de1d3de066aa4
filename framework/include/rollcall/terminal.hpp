// The terminal that a session runs in, by its process's own environment; and typing into it.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rollcall/export.hpp"
#include "rollcall/process_details.hpp"
#include "rollcall/result.hpp"

namespace rollcall {

// A program that gives each of its terminals an id in a variable, and maybe a namespace (a server,
// a session) in another.
struct TerminalKind {
  std::string name;
  std::string id_variable;
  std::string namespace_variable;  // empty: it has none
};

// Out of "NAME=ID_VARIABLE" or "NAME=ID_VARIABLE:NAMESPACE_VARIABLE". Errors: kInvalid.
[[nodiscard]] ROLLCALL_API Result<TerminalKind> parse_terminal_kind(std::string_view text);

struct Terminal {
  std::string kind;  // tmux, screen, zellij, wezterm, kitty, or a configured name
  std::string id;
  std::string name_space;  // empty: none
};

// Every terminal that the variables name: configured kinds first, then tmux, screen, zellij,
// wezterm and kitty (of which the earlier ones run inside of the later ones). An empty id names
// none. tmux's id is the pane, its namespace the path of its socket. Pure.
[[nodiscard]] ROLLCALL_API std::vector<Terminal> find_terminals(
    const Environment& environment, const std::vector<TerminalKind>& configured = {});

// The words of a command that types `keys` into a terminal, by a template: {id}, {namespace} and
// {keys} are replaced, {keys} as a word of its own by as many words as there are keys. Where there
// is no namespace, a word with {namespace} is left out together with the option before it.
// Errors:  kInvalid: a key or id that begins with "-", holds a control character, is empty, too
//          long or no UTF-8; a template without {id} or {keys}. Pure.
[[nodiscard]] ROLLCALL_API Result<std::vector<std::string>> typing_command(
    const Terminal& terminal, const std::vector<std::string>& keys,
    const std::vector<std::string>& command_template);

// The paths of the sockets that a typing command would lead its program to, as the process's
// environment names them. Who runs the command makes sure first that each is an absolute path of a
// socket that is to be trusted: a server that is connected to may have its client run programs. An
// address is a namespace of tmux, wezterm or kitty, and any text with a slash or with the form of
// an address ("unix:PATH", without which the rest is given, "tcp:HOST:PORT", "@ABSTRACT").
// Errors:  kRefused: a command of tmux's that wants the socket, where the environment names none.
//          Pure.
[[nodiscard]] ROLLCALL_API Result<std::vector<std::string>> socket_paths(
    const Terminal& terminal, const std::vector<std::string>& command_template);

// The template for a kind that none is configured for: tmux's own, else NAME input [--namespace
// NAMESPACE] ID KEY... of a configured kind; empty for the others.
[[nodiscard]] ROLLCALL_API std::vector<std::string> default_typing_template(
    std::string_view kind, const std::vector<TerminalKind>& configured);

}  // namespace rollcall
