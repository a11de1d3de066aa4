// ELF: elf(5).
#include "plugin/library_symbols.hpp"

#include <dlfcn.h>
#include <elf.h>
#include <fmt/format.h>
#include <link.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "plugin/shared_library.hpp"

namespace rollcall::loader {
namespace {

// A struct at an offset of the file's bytes, if it is all there.
template <class T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string text_at(std::string_view bytes, std::uint64_t offset) {
  if (offset >= bytes.size()) return {};
  const std::string_view rest = bytes.substr(offset);
  return std::string(rest.substr(0, rest.find('\0')));
}

void collect_symbols(std::string_view bytes, const ElfW(Shdr) & table, const ElfW(Shdr) & strings,
                     std::vector<std::string>& names) {
  for (std::uint64_t at = 0; at + sizeof(ElfW(Sym)) <= table.sh_size; at += sizeof(ElfW(Sym))) {
    const auto symbol = read_at<ElfW(Sym)>(bytes, table.sh_offset + at);
    if (!symbol) return;
    const unsigned bind = ELF64_ST_BIND(symbol->st_info);
    const unsigned visibility = ELF64_ST_VISIBILITY(symbol->st_other);
    const bool defined = symbol->st_shndx != SHN_UNDEF && symbol->st_shndx != SHN_ABS;
    if (defined && bind != STB_LOCAL && visibility != STV_HIDDEN && visibility != STV_INTERNAL) {
      names.push_back(text_at(bytes, strings.sh_offset + symbol->st_name));
    }
  }
}

}  // namespace

std::size_t symbol_size(const void* address) {
  Dl_info info{};
  const ElfW(Sym)* symbol = nullptr;
  void* extra = nullptr;
  if (::dladdr1(address, &info, &extra, RTLD_DL_SYMENT) == 0) return 0;
  symbol = static_cast<const ElfW(Sym)*>(extra);
  return symbol == nullptr || info.dli_saddr != address ? 0 : symbol->st_size;
}

Result<std::vector<std::string>> exported_symbols(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::kIo, fmt::format("cannot open {}", path));
  const std::string bytes((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const auto header = read_at<ElfW(Ehdr)>(bytes, 0);
  if (!header || std::memcmp(header->e_ident, ELFMAG, SELFMAG) != 0) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} is no ELF file", path));
  }
  std::vector<std::string> names;
  for (std::uint64_t i = 0; i < header->e_shnum; ++i) {
    const auto section = read_at<ElfW(Shdr)>(bytes, header->e_shoff + i * header->e_shentsize);
    if (!section || section->sh_type != SHT_DYNSYM) continue;
    const auto strings =
        read_at<ElfW(Shdr)>(bytes, header->e_shoff + section->sh_link * header->e_shentsize);
    if (strings) collect_symbols(bytes, *section, *strings, names);
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace rollcall::loader
