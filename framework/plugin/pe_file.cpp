#include "plugin/pe_file.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <optional>

namespace rollcall::loader {
namespace {

constexpr std::uint32_t kMaxEntries = 65536;  // of any table
constexpr std::uint16_t kNoIndex = 0xFFFF;
constexpr std::uint32_t kMaxSections = 96;  // what the system's own loader takes
constexpr std::size_t kMaxName = 4096;
constexpr std::size_t kSectionSize = 40;
constexpr std::size_t kImportSize = 20;
// Offsets in the optional header, by its magic: PE32 and PE32+.
constexpr std::uint16_t kPe32 = 0x10b;
constexpr std::uint16_t kPe32Plus = 0x20b;

tl::unexpected<Error> corrupt(std::string_view why) {
  return fail(ErrorCode::kCorrupt, std::string(why));
}

struct Section {
  std::uint32_t address = 0;  // once loaded, from the image's begin
  std::uint32_t size = 0;     // of its bytes in the file
  std::uint32_t offset = 0;   // of them in the file
};

struct Directory {
  std::uint32_t address = 0;
  std::uint32_t size = 0;
};

class Reader {
 public:
  explicit Reader(std::string_view bytes) : bytes_(bytes) {}

  // Little-endian, as the machines of this format are. nullopt: not in the file.
  template <class T>
  [[nodiscard]] std::optional<T> number(std::uint64_t offset) const {
    if (offset > bytes_.size() || bytes_.size() - offset < sizeof(T)) return std::nullopt;
    T value = 0;
    for (std::size_t i = sizeof(T); i-- > 0;) {
      value = static_cast<T>(static_cast<std::uint64_t>(value) << 8U |
                             static_cast<unsigned char>(bytes_[offset + i]));
    }
    return value;
  }
  [[nodiscard]] std::uint32_t word(std::uint64_t offset) const {
    return number<std::uint32_t>(offset).value_or(0);
  }

  // Where an address of the loaded image lies in the file.
  [[nodiscard]] std::optional<std::uint64_t> place(std::uint64_t address) const {
    for (const Section& section : sections) {
      if (address >= section.address && address - section.address < section.size) {
        return section.offset + (address - section.address);
      }
    }
    return std::nullopt;
  }
  [[nodiscard]] std::optional<std::string> text(std::uint64_t address) const {
    const auto at = place(address);
    if (!at || *at >= bytes_.size()) return std::nullopt;
    const std::string_view rest = bytes_.substr(*at, kMaxName);
    const std::size_t end = rest.find('\0');
    if (end == rest.npos) return std::nullopt;
    return std::string(rest.substr(0, end));
  }

  std::vector<Section> sections;
  Directory exports;
  Directory imports;

 private:
  std::string_view bytes_;
};

bool read_directories(Reader& file, std::uint64_t optional, std::uint16_t optional_size) {
  const auto magic = file.number<std::uint16_t>(optional);
  if (!magic || (*magic != kPe32 && *magic != kPe32Plus)) return false;
  const std::uint64_t count_at = optional + (*magic == kPe32 ? 92 : 108);
  const std::uint32_t count = file.word(count_at);
  const auto directory = [&](std::uint32_t index) -> Directory {
    const std::uint64_t at = count_at + 4 + std::uint64_t{8} * index;
    if (index >= count || at + 8 > optional + optional_size) return {};
    return {file.word(at), file.word(at + 4)};
  };
  file.exports = directory(0);
  file.imports = directory(1);
  return true;
}

bool read_headers(Reader& file, PeFile& out) {
  if (file.number<std::uint16_t>(0) != 0x5A4D) return false;  // "MZ"
  const std::uint64_t head = file.word(0x3C);
  if (file.word(head) != 0x0000'4550) return false;  // "PE\0\0"
  const auto machine = file.number<std::uint16_t>(head + 4);
  const auto section_count = file.number<std::uint16_t>(head + 6);
  const auto optional_size = file.number<std::uint16_t>(head + 20);
  if (!machine || !section_count || !optional_size || *section_count > kMaxSections) return false;
  out.machine = *machine;
  const std::uint64_t optional = head + 24;
  if (!read_directories(file, optional, *optional_size)) return false;
  for (std::uint64_t i = 0; i < *section_count; ++i) {
    const std::uint64_t at = optional + *optional_size + i * kSectionSize;
    if (!file.number<std::uint32_t>(at + 20)) return false;
    file.sections.push_back({file.word(at + 12), file.word(at + 16), file.word(at + 20)});
  }
  return true;
}

// The export directory: 20 first number, addresses and names counted at 20 and 24, their tables at
// 28, 32 and 36.
bool read_exports(const Reader& file, std::vector<std::string>& names) {
  if (file.exports.address == 0) return true;
  const auto at = file.place(file.exports.address);
  if (!at) return false;
  const std::uint32_t address_count = file.word(*at + 20);
  const std::uint32_t name_count = file.word(*at + 24);
  if (address_count >= kNoIndex || name_count > kMaxEntries) return false;
  std::vector<bool> named(address_count, false);
  const std::uint64_t addresses = file.word(*at + 28);
  const std::uint64_t all_names = file.word(*at + 32);
  const std::uint64_t indices = file.word(*at + 36);
  for (std::uint64_t i = 0; i < name_count; ++i) {
    const auto name_at = file.place(all_names + 4 * i);
    const auto index_at = file.place(indices + 2 * i);
    if (!name_at || !index_at) return false;
    auto name = file.text(file.word(*name_at));
    const std::size_t index = file.number<std::uint16_t>(*index_at).value_or(kNoIndex);
    if (!name || index >= address_count) return false;
    named[index] = true;
    names.push_back(std::move(*name));
  }
  for (std::uint32_t i = 0; i < address_count; ++i) {
    const auto entry = file.place(addresses + std::uint64_t{4} * i);
    if (!entry) return false;
    if (!named[i] && file.word(*entry) != 0) {
      names.push_back(fmt::format("#{}", std::uint64_t{file.word(*at + 16)} + i));
    }
  }
  std::sort(names.begin(), names.end());
  return true;
}

// A row for each library, its name at 12; a row without one ends them.
bool read_imports(const Reader& file, std::vector<std::string>& libraries) {
  if (file.imports.address == 0) return true;
  for (std::uint32_t i = 0; i < kMaxEntries; ++i) {
    const auto row = file.place(std::uint64_t{file.imports.address} + kImportSize * i);
    if (!row) return false;
    const std::uint32_t name_at = file.word(*row + 12);
    if (name_at == 0) return true;
    auto name = file.text(name_at);
    if (!name) return false;
    libraries.push_back(std::move(*name));
  }
  return false;
}

}  // namespace

Result<PeFile> parse_pe_file(std::string_view bytes) {
  Reader file(bytes);
  PeFile out;
  if (!read_headers(file, out)) return corrupt("it is no library of Windows (no PE file)");
  if (!read_exports(file, out.exports)) return corrupt("its table of exports is damaged");
  if (!read_imports(file, out.imports)) return corrupt("its table of imports is damaged");
  return out;
}

std::string machine_name(std::uint16_t machine) {
  switch (machine) {
    case 0x8664:
      return "x86-64";
    case 0x014C:
      return "x86";
    case 0xAA64:
      return "ARM64";
    default:
      return fmt::format("machine {:#x}", machine);
  }
}

}  // namespace rollcall::loader
