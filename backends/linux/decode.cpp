#include "decode.hpp"

#include <algorithm>
#include <bit>
#include <climits>
#include <cstring>

namespace rollcall::linux_backend {
namespace {

constexpr std::uint64_t kKernelThread = 0x00200000;  // PF_KTHREAD, include/linux/sched.h

std::optional<std::int64_t> parse_signed(std::string_view text) {
  const bool negative = !text.empty() && text.front() == '-';
  if (negative) text.remove_prefix(1);
  const auto value = parse_decimal(text);
  if (!value || *value > static_cast<std::uint64_t>(INT64_MAX)) return std::nullopt;
  const auto number = static_cast<std::int64_t>(*value);
  return negative ? -number : number;
}

// The fields behind the name, each ended by one blank or the final newline.
class Fields {
 public:
  explicit Fields(std::string_view rest) : rest_(rest) {}

  // The next whole field; empty: there is none.
  std::string_view next() {
    if (rest_.empty() || rest_.front() != ' ') return {};
    std::size_t end = 1;
    while (end < rest_.size() && rest_[end] != ' ' && rest_[end] != '\n') ++end;
    if (end == rest_.size()) return {};  // cut: its end was not seen
    const auto field = rest_.substr(1, end - 1);
    rest_.remove_prefix(end);
    return field;
  }

  // Passes over `count` fields; false: there are not as many.
  bool skip(int count) {
    while (count-- > 0) {
      if (next().empty()) return false;
    }
    return true;
  }

 private:
  std::string_view rest_;
};

bool read_start(std::string_view field, Stat& stat) {
  if (field.empty()) return false;
  const auto ticks = parse_decimal(field);
  if (ticks && *ticks != 0) {
    stat.start = field;
    stat.start_ticks = *ticks;
  }
  return true;
}

template <class T>
bool take(std::optional<T> value, T& out) {
  if (!value) return false;
  out = *value;
  return true;
}

int hex_digit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'A' && c <= 'F') return c - 'A' + 10;
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return -1;
}

std::optional<std::uint32_t> parse_hex(std::string_view text) {
  if (text.empty() || text.size() > 8) return std::nullopt;
  std::uint32_t value = 0;
  for (const char c : text) {
    const int digit = hex_digit(c);
    if (digit < 0) return std::nullopt;
    value = (value << 4) | static_cast<std::uint32_t>(digit);
  }
  return value;
}

constexpr std::size_t kV4At = 12;  // where an IPv4 address stands in its mapped form

// "0100007F:1F90", or with 32 digits for IPv6: words of 32 bits as the machine stores them.
std::optional<Endpoint> parse_endpoint(std::string_view text) {
  const auto colon = text.find(':');
  if (colon != 8 && colon != 32) return std::nullopt;
  Endpoint endpoint;
  std::size_t at = colon == 8 ? kV4At : 0;
  if (colon == 8) endpoint.address[10] = endpoint.address[11] = 0xFF;
  for (std::size_t i = 0; i < colon; i += 8, at += 4) {
    const auto word = parse_hex(text.substr(i, 8));
    if (!word) return std::nullopt;
    std::memcpy(&endpoint.address[at], &*word, sizeof *word);
  }
  const auto port = parse_hex(text.substr(colon + 1));
  if (!port || *port > 0xFFFF) return std::nullopt;
  endpoint.port = static_cast<std::uint16_t>(*port);
  return endpoint;
}

// The next word of a line whose columns are set apart by any number of blanks.
std::string_view next_word(std::string_view& line) {
  const auto start = line.find_first_not_of(' ');
  if (start == std::string_view::npos) return line = {};
  line.remove_prefix(start);
  const auto word = line.substr(0, line.find(' '));
  line.remove_prefix(word.size());
  return word;
}

}  // namespace

std::optional<Stat> decode_stat(std::string_view line) {
  const auto open = line.find('(');
  const auto close = line.rfind(')');
  if (open == std::string_view::npos || close == std::string_view::npos || close < open) {
    return std::nullopt;
  }
  Stat stat;
  stat.name = line.substr(open + 1, close - open - 1);
  Fields fields(line.substr(close + 1));
  const auto state = fields.next();  // 3
  if (state.size() != 1) return std::nullopt;
  stat.state = state.front();
  const bool whole = take(parse_signed(fields.next()), stat.parent) &&     // 4
                     fields.skip(4) &&                                     // 5..8
                     take(parse_decimal(fields.next()), stat.flags) &&     // 9
                     fields.skip(10) &&                                    // 10..19
                     take(parse_signed(fields.next()), stat.threads) &&    // 20
                     fields.skip(1) &&                                     // 21
                     read_start(fields.next(), stat) &&                    // 22
                     fields.skip(15) &&                                    // 23..37
                     take(parse_signed(fields.next()), stat.exit_signal);  // 38
  if (!whole) return std::nullopt;
  return stat;
}

bool has_exited(const Stat& stat) {
  return stat.state == 'X' || stat.state == 'x' || (stat.state == 'Z' && stat.threads <= 1);
}

bool is_kernel_thread(const Stat& stat) { return (stat.flags & kKernelThread) != 0; }

std::optional<std::array<std::uint64_t, 4>> decode_uids(std::string_view status) {
  constexpr std::string_view kLabel = "\nUid:";
  const std::size_t at = status.find(kLabel);
  if (at == std::string_view::npos) return std::nullopt;
  std::string_view line = status.substr(at + kLabel.size());
  const std::size_t end = line.find('\n');
  if (end == std::string_view::npos) return std::nullopt;  // cut
  line = line.substr(0, end);
  std::array<std::uint64_t, 4> uids{};
  for (std::uint64_t& uid : uids) {
    if (line.empty() || line.front() != '\t') return std::nullopt;
    line.remove_prefix(1);
    const auto number = parse_decimal(line.substr(0, line.find('\t')));
    if (!number) return std::nullopt;
    uid = *number;
    line.remove_prefix(std::min(line.find('\t'), line.size()));
  }
  return uids;
}

std::optional<std::uint64_t> parse_decimal(std::string_view text) {
  if (text.empty() || text.size() > 20) return std::nullopt;
  std::uint64_t value = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return std::nullopt;
    const auto digit = static_cast<std::uint64_t>(c - '0');
    if (value > (UINT64_MAX - digit) / 10) return std::nullopt;
    value = value * 10 + digit;
  }
  return value;
}

std::optional<std::int64_t> parse_pid(std::string_view name) {
  if (name.empty() || name.front() == '0') return std::nullopt;
  const auto value = parse_decimal(name);
  if (!value || *value > INT32_MAX) return std::nullopt;
  return static_cast<std::int64_t>(*value);
}

std::string_view trim(std::string_view text) {
  constexpr std::string_view kBlanks = " \t\r\n\v\f";
  const auto first = text.find_first_not_of(kBlanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(kBlanks) - first + 1);
}

std::optional<std::string_view> bracketed(std::string_view link, std::string_view kind) {
  if (link.size() < kind.size() + 4 || link.substr(0, kind.size()) != kind ||
      link.substr(kind.size(), 2) != ":[" || link.back() != ']') {
    return std::nullopt;
  }
  const auto number = link.substr(kind.size() + 2, link.size() - kind.size() - 3);
  if (!parse_decimal(number)) return std::nullopt;
  return number;
}

bool is_v4(const Endpoint& endpoint) {
  static constexpr std::uint8_t kMapped[kV4At] = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::memcmp(endpoint.address.data(), kMapped, kV4At) == 0;
}

bool is_wildcard(const Endpoint& endpoint) {
  for (std::size_t i = is_v4(endpoint) ? kV4At : 0; i < endpoint.address.size(); ++i) {
    if (endpoint.address[i] != 0) return false;
  }
  return true;
}

std::optional<TcpSocket> decode_net_tcp(std::string_view line) {
  constexpr std::uint32_t kListen = 0x0A;  // TCP_LISTEN
  TcpSocket socket;
  next_word(line);  // sl
  const auto local_word = next_word(line);
  const auto local = parse_endpoint(local_word);
  const auto remote = parse_endpoint(next_word(line));
  const auto state = parse_hex(next_word(line));
  for (int i = 0; i < 3; ++i) next_word(line);  // queues, timer, retransmits
  const auto uid = parse_decimal(next_word(line));
  next_word(line);  // timeout
  const auto inode = parse_decimal(next_word(line));
  if (!local || !remote || !state || !uid || !inode) return std::nullopt;
  socket.local = *local;
  socket.remote = *remote;
  socket.listening = *state == kListen;
  socket.takes_v4 = true;
  socket.uid = static_cast<std::int64_t>(*uid);
  socket.inode = *inode;
  return socket;
}

bool could_have_taken(const TcpSocket& listener, const Endpoint& door) {
  if (!listener.listening || listener.local.port != door.port) return false;
  if (listener.local.address == door.address) return true;
  if (!is_wildcard(listener.local)) return false;
  const bool v4_listener = is_v4(listener.local);
  if (is_v4(door)) return v4_listener || listener.takes_v4;
  return !v4_listener;
}

std::optional<std::int64_t> age_ns(std::uint64_t ticks, std::int64_t ticks_per_second,
                                   std::int64_t since_boot_ns) {
  constexpr std::int64_t kSecond = 1'000'000'000;
  if (ticks_per_second <= 0 || ticks_per_second > kSecond) return std::nullopt;
  const std::int64_t tick = kSecond / ticks_per_second;
  if (ticks > static_cast<std::uint64_t>(INT64_MAX / tick)) return std::nullopt;
  const std::int64_t age = since_boot_ns - static_cast<std::int64_t>(ticks) * tick;
  if (age < 0) return std::nullopt;
  return age;
}

}  // namespace rollcall::linux_backend
