// What the kernel's texts mean. Pure: bytes in, values out; any thread; nothing is allocated.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string_view>

namespace rollcall::linux_backend {

// The fields of /proc/PID/stat that identity rests on. Views point into the line.
// Source: proc(5), "/proc/[pid]/stat"; the numbers below are its field numbers.
struct Stat {
  std::string_view name;          // 2, without the outer parentheses; any bytes
  char state = 0;                 // 3
  std::int64_t parent = 0;        // 4
  std::uint64_t flags = 0;        // 9, PF_* of the kernel
  std::int64_t threads = 0;       // 20; 0 once the process is being released
  std::string_view start;         // 22, clock ticks since boot; empty: no plausible start time
  std::uint64_t start_ticks = 0;  // 22 as a number, for the age only
  std::int64_t exit_signal = 0;   // 38; -1: a thread that is no leader
};

// `line` is the whole file. Field 2 may hold blanks, newlines and ')', so fields are counted from
// the LAST ')'. A start time that is no decimal u64 or is all zeros (a sandboxed /proc gives 0 for
// every process) is left empty.
// nullopt: no ')', a state that is not one character, or fewer than 38 whole fields.
[[nodiscard]] std::optional<Stat> decode_stat(std::string_view line);

// Exited: X, x, or Z without other threads. A zombie leader whose threads run on has not exited.
// Every other letter, known or not, is held.
[[nodiscard]] bool has_exited(const Stat& stat);

// The number is the id of a thread of another process.
[[nodiscard]] inline bool is_thread(const Stat& stat) { return stat.exit_signal == -1; }

// Stopped by a signal (T) or a tracer (t).
[[nodiscard]] inline bool is_suspended(const Stat& stat) {
  return stat.state == 'T' || stat.state == 't';
}

// PF_KTHREAD of field 9: it has neither arguments nor an environment.
[[nodiscard]] bool is_kernel_thread(const Stat& stat);

// The real, effective, saved and file system uid in a whole /proc/PID/status. Source: proc(5),
// "/proc/[pid]/status", Uid. nullopt: no such line, or malformed.
[[nodiscard]] std::optional<std::array<std::uint64_t, 4>> decode_uids(std::string_view status);

// Plain decimal digits, no sign, no blanks; nullopt otherwise and on overflow.
[[nodiscard]] std::optional<std::uint64_t> parse_decimal(std::string_view text);

// A directory of /proc: plain decimal within 1..INT32_MAX without leading zeros.
[[nodiscard]] std::optional<std::int64_t> parse_pid(std::string_view name);

// The text without ASCII blanks at its ends.
[[nodiscard]] std::string_view trim(std::string_view text);

// The number in a link such as "socket:[12345]" or "pid:[4026531836]".
[[nodiscard]] std::optional<std::string_view> bracketed(std::string_view link,
                                                        std::string_view kind);

// An IP address and port. IPv4 stands in its v4-mapped form, so that one comparison serves both.
struct Endpoint {
  std::array<std::uint8_t, 16> address{};
  std::uint16_t port = 0;
  friend bool operator==(const Endpoint&, const Endpoint&) = default;
};

[[nodiscard]] bool is_v4(const Endpoint& endpoint);
// 0.0.0.0 or ::, each within its own family.
[[nodiscard]] bool is_wildcard(const Endpoint& endpoint);

// A TCP socket of the kernel's tables.
struct TcpSocket {
  Endpoint local;
  Endpoint remote;
  bool listening = false;
  bool takes_v4 = false;    // can take IPv4 connections
  std::int64_t uid = -1;    // the socket's owner
  std::uint64_t inode = 0;  // 0: nobody holds it (not accepted yet, or closed)
};

// One line of /proc/net/tcp or /proc/net/tcp6. Whether a v6 wildcard is v6-only does not stand
// there: it counts as one that takes IPv4 too.
// Source: proc(5), "/proc/net/tcp". nullopt: a heading, or malformed.
[[nodiscard]] std::optional<TcpSocket> decode_net_tcp(std::string_view line);

// Whether this listener could have taken a connection to `door`: the same address, the wildcard,
// or the dual-stack wildcard, on the same port.
[[nodiscard]] bool could_have_taken(const TcpSocket& listener, const Endpoint& door);

// The age in ns of a process that started `ticks` after boot; nullopt: in the future or nonsense.
[[nodiscard]] std::optional<std::int64_t> age_ns(std::uint64_t ticks, std::int64_t ticks_per_second,
                                                 std::int64_t since_boot_ns);

}  // namespace rollcall::linux_backend
