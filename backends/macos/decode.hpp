// What the kernel's bytes mean. Pure: bytes in, values out; any thread; nothing is allocated.
#pragma once

#include <sys/proc_info.h>

#include <array>
#include <cstdint>
#include <optional>
#include <string_view>

#include "text.hpp"

namespace rollcall::macos_backend {

// The start token: "seconds.microseconds", the latter with 6 digits. Empty: the time is all zeros
// (which every process shows where it is withheld) or has a million microseconds or more.
// Source: proc_info.h, proc_bsdinfo, pbi_start_tvsec and pbi_start_tvusec.
[[nodiscard]] Text<48> start_token(std::uint64_t seconds, std::uint64_t microseconds);

// Has exited and waits to be collected.
[[nodiscard]] bool has_exited(const proc_bsdinfo& info);
// Stopped by a signal or a debugger.
[[nodiscard]] bool is_suspended(const proc_bsdinfo& info);

// The name, which need not be null-terminated: the registered one, else the command's.
[[nodiscard]] std::string_view short_name(const proc_bsdinfo& info);

// The text in a fixed field, up to its first NUL or its end.
[[nodiscard]] std::string_view fixed_text(const char* field, std::size_t size);

// The text without ASCII blanks and NULs at its ends.
[[nodiscard]] std::string_view trim(std::string_view text);

// A UUID in the usual form, upper case.
[[nodiscard]] Text<36> uuid_text(const unsigned char (&uuid)[16]);

// What a process was started with. Views into the area.
struct Arguments {
  std::string_view command;      // arguments, each ended by NUL
  std::string_view environment;  // entries, each ended by NUL
  // Whether the area goes on behind the arguments. Where it does not, the system withholds the
  // environment: that is not an empty one.
  bool has_environment = false;
};

// The area that KERN_PROCARGS2 gives: argc as a native int, the path of the program, NULs, argc
// arguments, the environment, an empty string, strings of the system's own. Arguments are counted
// by argc, so that one that looks like an assignment is never taken for a variable; offsets are
// bytes. NULs behind the path are padding, so an empty argv[0] cannot be told from it.
// Source: sysctl(3), KERN_PROCARGS2; ps(1) reads it likewise.
// nullopt: cut, fewer strings than argc, or malformed.
[[nodiscard]] std::optional<Arguments> decode_arguments(std::string_view area);

// An IP address and port. IPv4 stands in its v4-mapped form, so that one comparison serves both.
struct Endpoint {
  std::array<std::uint8_t, 16> address{};
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint& a, const Endpoint& b) {
    return a.port == b.port && a.address == b.address;
  }
};

[[nodiscard]] bool is_v4(const Endpoint& endpoint);
// 0.0.0.0 or ::, each within its own family.
[[nodiscard]] bool is_wildcard(const Endpoint& endpoint);

// A TCP socket among a process's descriptors.
struct TcpSocket {
  Endpoint local;
  Endpoint remote;
  bool listening = false;
  bool takes_v4 = false;     // can take IPv4 connections
  std::uint64_t socket = 0;  // the system's handle of it: the same in every process that holds it
};

// Source: proc_info.h, socket_info of PROC_PIDFDSOCKETINFO. nullopt: no TCP socket, or one without
// a handle.
[[nodiscard]] std::optional<TcpSocket> decode_socket(const socket_info& info);

// Whether this listener could have taken a connection to `door`: the same address, the wildcard,
// or the dual-stack wildcard, on the same port.
[[nodiscard]] bool could_have_taken(const TcpSocket& listener, const Endpoint& door);

// Whether this is the socket that did take our connection `own` -> `door`.
[[nodiscard]] bool has_taken(const TcpSocket& socket, const Endpoint& door, const Endpoint& own);

}  // namespace rollcall::macos_backend
