#include "decode.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <utility>

namespace rollcall::windows_backend {
namespace {

constexpr ParameterLayout kWide = {.pointer = 8,
                                   .peb_parameters = 0x20,
                                   .current_directory = 0x38,
                                   .command_line = 0x70,
                                   .environment = 0x80,
                                   .environment_size = 0x3F0,
                                   .group = 0x408,
                                   .size = 0x40C};
constexpr ParameterLayout kNarrow = {.pointer = 4,
                                     .peb_parameters = 0x10,
                                     .current_directory = 0x24,
                                     .command_line = 0x40,
                                     .environment = 0x48,
                                     .environment_size = 0x290,
                                     .group = 0x29C,
                                     .size = 0x2A0};

bool is_blank(char16_t c) { return c == u' ' || c == u'\t'; }

bool is_v4(const Endpoint& endpoint) {
  constexpr std::array<std::uint8_t, 12> kMapped = {0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0xFF, 0xFF};
  return std::equal(kMapped.begin(), kMapped.end(), endpoint.address.begin());
}

bool is_zero(const std::uint8_t* first, const std::uint8_t* last) {
  return std::all_of(first, last, [](std::uint8_t byte) { return byte == 0; });
}

void append_utf8(std::string& out, std::uint32_t c) {
  const auto byte = [&](std::uint32_t value) { out += static_cast<char>(value); };
  if (c < 0x80) {
    byte(c);
  } else if (c < 0x800) {
    byte(0xC0 | (c >> 6));
    byte(0x80 | (c & 0x3F));
  } else if (c < 0x10000) {
    byte(0xE0 | (c >> 12));
    byte(0x80 | ((c >> 6) & 0x3F));
    byte(0x80 | (c & 0x3F));
  } else {
    byte(0xF0 | (c >> 18));
    byte(0x80 | ((c >> 12) & 0x3F));
    byte(0x80 | ((c >> 6) & 0x3F));
    byte(0x80 | (c & 0x3F));
  }
}

// The program's name: up to its closing quote, or to the first blank.
std::u16string_view take_program(std::u16string_view& line) {
  const bool quoted = line.front() == u'"';
  if (quoted) line.remove_prefix(1);
  const auto end = quoted ? line.find(u'"') : line.find_first_of(u" \t");
  const std::u16string_view program = line.substr(0, end);
  line.remove_prefix(program.size());
  if (quoted && !line.empty()) line.remove_prefix(1);
  return program;
}

// One further argument, up to the blank that ends it.
std::u16string take_argument(std::u16string_view& line) {
  std::u16string argument;
  bool quoted = false;
  std::size_t backslashes = 0;
  std::size_t at = 0;
  for (; at < line.size() && (quoted || !is_blank(line[at])); ++at) {
    const char16_t c = line[at];
    if (c == u'\\') {
      ++backslashes;
      continue;
    }
    if (c != u'"') {
      argument.append(std::exchange(backslashes, 0), u'\\');
      argument += c;
      continue;
    }
    argument.append(backslashes / 2, u'\\');
    const bool literal = std::exchange(backslashes, 0) % 2 == 1;
    if (literal) {
      argument += u'"';
    } else if (quoted && at + 1 < line.size() && line[at + 1] == u'"') {
      argument += u'"';
      ++at;
      quoted = false;  // CommandLineToArgvW: the pair is a quote, and ends the quoting
    } else {
      quoted = !quoted;
    }
  }
  argument.append(backslashes, u'\\');
  line.remove_prefix(at);
  return argument;
}

}  // namespace

std::optional<std::string> start_token(std::uint64_t creation_time) {
  if (creation_time == 0) return std::nullopt;
  return std::to_string(creation_time);
}

std::optional<std::int64_t> unix_ns(std::uint64_t filetime) {
  constexpr std::uint64_t kLast =
      static_cast<std::uint64_t>(kUnixEpoch + std::numeric_limits<std::int64_t>::max() / 100);
  if (filetime < static_cast<std::uint64_t>(kUnixEpoch) || filetime > kLast) return std::nullopt;
  return (static_cast<std::int64_t>(filetime) - kUnixEpoch) * 100;
}

std::optional<std::string> boot_id(std::uint64_t boot, std::uint64_t bias) {
  const auto ns = unix_ns(boot - bias);
  if (!ns) return std::nullopt;
  const std::int64_t seconds = *ns / 1'000'000'000;
  return std::to_string(seconds - seconds % 60);
}

std::string to_utf8(std::u16string_view text) {
  std::string out;
  out.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    std::uint32_t c = text[i];
    const bool high = c >= 0xD800 && c < 0xDC00;
    if (high && i + 1 < text.size() && text[i + 1] >= 0xDC00 && text[i + 1] < 0xE000) {
      c = 0x10000 + ((c - 0xD800) << 10) + (std::uint32_t{text[++i]} - 0xDC00);
    }
    append_utf8(out, c);
  }
  return out;
}

std::string error_text(std::uint32_t code) {
  const char* words = nullptr;
  switch (code) {
    case 2:
      words = "there is no such object";
      break;
    case 5:
      words = "access is denied";
      break;
    case 6:
      words = "the handle is not valid";
      break;
    case 87:
      words = "a parameter is not valid";
      break;
    case 299:
      words = "only part of the memory could be read";
      break;
    case 998:
      words = "there is no memory at this address";
      break;
    case 1455:
      words = "the paging file is too small";
      break;
    case 10038:
      words = "it is no socket";
      break;
    case 10057:
      words = "it is not connected";
      break;
    default:
      return "error " + std::to_string(code);
  }
  return std::string(words) + " (error " + std::to_string(code) + ")";
}

std::u16string from_ascii(std::string_view text) { return {text.begin(), text.end()}; }

std::string split_command_line(std::u16string_view line) {
  line = line.substr(0, line.find(u'\0'));
  std::string out;
  if (line.empty()) return out;
  out += to_utf8(take_program(line)) + '\0';
  for (;;) {
    while (!line.empty() && is_blank(line.front())) line.remove_prefix(1);
    if (line.empty()) return out;
    out += to_utf8(take_argument(line)) + '\0';
  }
}

std::optional<std::string> decode_environment(std::u16string_view block) {
  std::string out;
  for (;;) {
    const auto end = block.find(u'\0');
    if (end == std::u16string_view::npos) return std::nullopt;
    if (end == 0) return out;
    out += to_utf8(block.substr(0, end)) + '\0';
    block.remove_prefix(end + 1);
  }
}

std::u16string_view trim_directory(std::u16string_view path) {
  const std::size_t size = path.size();
  if (size < 2 || path.back() != u'\\' || path[size - 2] == u':') return path;
  return path.substr(0, size - 1);
}

const ParameterLayout& parameter_layout(bool narrow) { return narrow ? kNarrow : kWide; }

bool operator==(const Parameters& a, const Parameters& b) {
  const auto same = [](const RemoteText& x, const RemoteText& y) {
    return x.address == y.address && x.bytes == y.bytes;
  };
  return same(a.current_directory, b.current_directory) && same(a.command_line, b.command_line) &&
         a.environment == b.environment && a.environment_size == b.environment_size &&
         a.group == b.group;
}

std::uint64_t decode_pointer(std::size_t width, const std::byte* bytes) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes, width);  // both machines are little-endian
  return value;
}

Parameters decode_parameters(const ParameterLayout& layout, const std::vector<std::byte>& bytes) {
  const auto text = [&](std::size_t at) {
    RemoteText out;
    std::memcpy(&out.bytes, bytes.data() + at, sizeof out.bytes);  // UNICODE_STRING.Length
    out.address = decode_pointer(layout.pointer, bytes.data() + at + layout.pointer);
    return out;
  };
  Parameters out;
  out.current_directory = text(layout.current_directory);
  out.command_line = text(layout.command_line);
  out.environment = decode_pointer(layout.pointer, bytes.data() + layout.environment);
  out.environment_size = decode_pointer(layout.pointer, bytes.data() + layout.environment_size);
  std::memcpy(&out.group, bytes.data() + layout.group, sizeof out.group);
  return out;
}

Endpoint v4_endpoint(const std::uint8_t* address, std::uint16_t port) {
  Endpoint endpoint{.port = port};
  endpoint.address[10] = endpoint.address[11] = 0xFF;
  std::memcpy(&endpoint.address[12], address, 4);
  return endpoint;
}

Endpoint v6_endpoint(const std::uint8_t* address, std::uint16_t port) {
  Endpoint endpoint{.port = port};
  std::memcpy(endpoint.address.data(), address, 16);
  return endpoint;
}

bool is_loopback(const SocketName& name) {
  const auto& address = name.endpoint.address;
  if (name.family == Family::kV4) return address[12] == 127;
  return name.family == Family::kV6 && is_zero(&address[0], &address[15]) && address[15] == 1;
}

std::string show(const SocketName& name) {
  const auto& address = name.endpoint.address;
  const std::string port = ":" + std::to_string(name.endpoint.port);
  std::string out;
  if (name.family == Family::kV4) {
    for (std::size_t i = 12; i < 16; ++i) {
      out += (i == 12 ? "" : ".") + std::to_string(int{address[i]});
    }
    return out + port;
  }
  if (is_loopback(name)) return "[::1]" + port;
  constexpr char kDigits[] = "0123456789abcdef";
  for (std::size_t i = 0; i < 16; ++i) {
    if (i > 0 && i % 2 == 0) out += ':';
    out += kDigits[address[i] >> 4];
    out += kDigits[address[i] & 15];
  }
  return "[" + out + "]" + port;
}

bool could_have_taken(const TcpRow& listener, const Endpoint& door) {
  if (!listener.listening || listener.local.port != door.port) return false;
  if (listener.local.address == door.address) return true;
  const auto& address = listener.local.address;
  if (!listener.v6) return is_v4(door) && is_zero(&address[12], &address[15] + 1);
  return is_zero(&address[0], &address[15] + 1);
}

}  // namespace rollcall::windows_backend
