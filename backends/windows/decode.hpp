// What Windows' numbers, structures and texts mean. Pure: bytes in, values out; any thread.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace rollcall::windows_backend {

// A FILETIME: 100 ns since 1601-01-01 UTC.
inline constexpr std::int64_t kTicksPerSecond = 10'000'000;
inline constexpr std::int64_t kUnixEpoch = 116'444'736'000'000'000;  // 1970 as a FILETIME

// A creation time as a start token: the 64-bit number in decimal. nullopt: 0, which no process has.
[[nodiscard]] std::optional<std::string> start_token(std::uint64_t creation_time);

// Nanoseconds since 1970; nullopt: before it, or past what fits.
[[nodiscard]] std::optional<std::int64_t> unix_ns(std::uint64_t filetime);

// The boot id: the boot time in Unix seconds, floored to the minute, in decimal. `bias` is what
// clock changes have moved the boot time by since (two's complement); without it the same boot
// would have another id after each. nullopt: no time after 1970.
[[nodiscard]] std::optional<std::string> boot_id(std::uint64_t boot, std::uint64_t bias);

// UTF-16 as bytes of UTF-8. A surrogate without its other half, which Windows allows everywhere,
// becomes the three bytes that WTF-8 gives it, so that nothing is lost and no two texts become one.
[[nodiscard]] std::string to_utf8(std::u16string_view text);

// What a code of GetLastError says, in words where it is one of those that are met here: "access is
// denied (error 5)".
[[nodiscard]] std::string error_text(std::uint32_t code);

// ASCII only.
[[nodiscard]] std::u16string from_ascii(std::string_view text);

// A command line as its arguments, each ended by NUL, as CommandLineToArgvW splits it: the first
// up to its closing quote or a blank, without escapes; in the others 2n backslashes and a quote are
// n backslashes and a delimiter, 2n+1 are n and a quote, and two quotes within quotes are one.
// An empty line has no arguments; a line that begins with a blank has an empty first one.
[[nodiscard]] std::string split_command_line(std::u16string_view line);

// An environment block (entries ended by NUL, then one more NUL) as UTF-8 entries, each ended by
// NUL. nullopt: the block is cut, its end is not in it.
[[nodiscard]] std::optional<std::string> decode_environment(std::u16string_view block);

// A working directory without its closing backslash, which is kept of a root ("C:\", "\\?\C:\").
[[nodiscard]] std::u16string_view trim_directory(std::u16string_view path);

// Where the fields of a PEB and of its RTL_USER_PROCESS_PARAMETERS lie, in bytes, and how wide a
// pointer is. Not documented by Microsoft; unchanged since Windows Vista (environment_size; the
// rest since NT 4), and what Wine has too.
struct ParameterLayout {
  std::size_t pointer;
  std::size_t peb_parameters;  // PEB.ProcessParameters
  std::size_t current_directory;
  std::size_t command_line;
  std::size_t environment;
  std::size_t environment_size;
  std::size_t group;  // ProcessGroupId
  std::size_t size;   // up to the last field that is read
};
[[nodiscard]] const ParameterLayout& parameter_layout(bool narrow);

// A UNICODE_STRING of the other process: `bytes` of UTF-16 at `address`.
struct RemoteText {
  std::uint64_t address = 0;
  std::uint16_t bytes = 0;
};
struct Parameters {
  RemoteText current_directory;
  RemoteText command_line;
  std::uint64_t environment = 0;
  std::uint64_t environment_size = 0;
  std::uint32_t group = 0;
  friend bool operator==(const Parameters&, const Parameters&);
};
// `bytes`: layout.size of them.
[[nodiscard]] Parameters decode_parameters(const ParameterLayout& layout,
                                           const std::vector<std::byte>& bytes);
[[nodiscard]] std::uint64_t decode_pointer(std::size_t width, const std::byte* bytes);

// An IP address and port. IPv4 stands in its v4-mapped form, so that one comparison serves both.
struct Endpoint {
  std::array<std::uint8_t, 16> address{};
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};
[[nodiscard]] Endpoint v4_endpoint(const std::uint8_t* address, std::uint16_t port);
[[nodiscard]] Endpoint v6_endpoint(const std::uint8_t* address, std::uint16_t port);

// One end of a socket.
enum class Family : std::uint8_t { kOther, kV4, kV6, kUnix };
struct SocketName {
  Family family = Family::kOther;
  Endpoint endpoint;
};

// 127.0.0.0/8 of an IPv4 socket, or ::1.
[[nodiscard]] bool is_loopback(const SocketName& name);
// "127.0.0.1:80", "[::1]:80".
[[nodiscard]] std::string show(const SocketName& name);

// One row of the TCP table. Source: MIB_TCPROW_OWNER_PID and MIB_TCP6ROW_OWNER_PID.
struct TcpRow {
  Endpoint local;
  Endpoint remote;
  bool listening = false;  // MIB_TCP_STATE_LISTEN
  bool v6 = false;         // of the IPv6 table
  std::uint32_t pid = 0;   // whose it is; 0: nobody's any more
};

// Whether this listener could have taken a connection to `door`: the same address, its family's
// wildcard, or the IPv6 wildcard for IPv4 too, since the table does not say which are IPv6 only.
[[nodiscard]] bool could_have_taken(const TcpRow& listener, const Endpoint& door);

}  // namespace rollcall::windows_backend
