// Mach-O: mach-o/loader.h, mach-o/nlist.h, mach-o/fat.h.
#include "plugin/library_symbols.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <mach-o/fat.h>
#include <mach-o/loader.h>
#include <mach-o/nlist.h>

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>

#include "plugin/shared_library.hpp"

namespace rollcall::loader {
namespace {

#if defined(__aarch64__)
constexpr cpu_type_t kOwnCpu = CPU_TYPE_ARM64;
#else
constexpr cpu_type_t kOwnCpu = CPU_TYPE_X86_64;
#endif

// A struct at an offset of the bytes, if it is all there.
template <class T>
std::optional<T> read_at(std::string_view bytes, std::uint64_t offset) {
  if (offset > bytes.size() || bytes.size() - offset < sizeof(T)) return std::nullopt;
  T value;
  std::memcpy(&value, bytes.data() + offset, sizeof(T));
  return value;
}

std::string_view slice(std::string_view bytes, std::uint64_t offset, std::uint64_t size) {
  if (offset > bytes.size()) return {};
  return bytes.substr(offset, size);
}

// Of a file for several processors our own's part; of another the whole.
std::string_view own_part(std::string_view bytes) {
  const auto fat = read_at<fat_header>(bytes, 0);
  if (!fat || fat->magic != FAT_CIGAM) return bytes;  // its numbers are big-endian
  const std::uint32_t count = __builtin_bswap32(fat->nfat_arch);
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto arch = read_at<fat_arch>(bytes, sizeof(fat_header) + i * sizeof(fat_arch));
    if (!arch) break;
    const auto cpu = __builtin_bswap32(static_cast<std::uint32_t>(arch->cputype));
    if (cpu != static_cast<std::uint32_t>(kOwnCpu)) continue;
    return slice(bytes, __builtin_bswap32(arch->offset), __builtin_bswap32(arch->size));
  }
  return {};
}

void collect_symbols(std::string_view bytes, const symtab_command& table,
                     std::vector<std::string>& names) {
  const std::string_view strings = slice(bytes, table.stroff, table.strsize);
  for (std::uint64_t i = 0; i < table.nsyms; ++i) {
    const auto symbol = read_at<nlist_64>(bytes, table.symoff + i * sizeof(nlist_64));
    if (!symbol) return;
    const unsigned type = symbol->n_type;
    const bool offered = (type & N_STAB) == 0 && (type & N_EXT) != 0 && (type & N_PEXT) == 0 &&
                         (type & N_TYPE) == N_SECT;
    if (!offered || symbol->n_un.n_strx >= strings.size()) continue;
    std::string_view name = strings.substr(symbol->n_un.n_strx);
    name = name.substr(0, name.find('\0'));
    if (!name.empty() && name.front() == '_') name.remove_prefix(1);  // C's own
    names.emplace_back(name);
  }
}

// How many bytes of this segment's section are left from the address on; 0: it is in none.
std::size_t left_of_section(const segment_command_64& segment, std::uintptr_t slide,
                            std::uintptr_t address) {
  const auto* section = reinterpret_cast<const section_64*>(&segment + 1);
  for (std::uint32_t i = 0; i < segment.nsects; ++i, ++section) {
    const std::uintptr_t begin = section->addr + slide;
    if (address >= begin && address - begin < section->size) {
      return section->size - (address - begin);
    }
  }
  return 0;
}

}  // namespace

std::size_t symbol_size(const void* address) {
  Dl_info info{};
  if (::dladdr(address, &info) == 0 || info.dli_saddr != address) return 0;
  const auto* header = static_cast<const mach_header_64*>(info.dli_fbase);
  if (header->magic != MH_MAGIC_64) return 0;
  const auto base = reinterpret_cast<std::uintptr_t>(header);
  std::uintptr_t slide = base;  // of a library, whose first segment is linked at 0
  const auto* at = reinterpret_cast<const char*>(header + 1);
  for (std::uint32_t i = 0; i < header->ncmds; ++i) {
    const auto* command = reinterpret_cast<const load_command*>(at);
    if (command->cmd == LC_SEGMENT_64) {
      const auto& segment = *reinterpret_cast<const segment_command_64*>(at);
      if (segment.fileoff == 0 && segment.filesize != 0) slide = base - segment.vmaddr;
      const std::size_t left =
          left_of_section(segment, slide, reinterpret_cast<std::uintptr_t>(address));
      if (left != 0) return left;
    }
    at += command->cmdsize;
  }
  return 0;
}

Result<std::vector<std::string>> exported_symbols(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) return fail(ErrorCode::kIo, fmt::format("cannot open {}", path));
  const std::string whole((std::istreambuf_iterator<char>(file)), std::istreambuf_iterator<char>());
  const std::string_view bytes = own_part(whole);
  const auto header = read_at<mach_header_64>(bytes, 0);
  if (!header || header->magic != MH_MAGIC_64 || header->cputype != kOwnCpu) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} is no Mach-O file of this processor", path));
  }
  std::vector<std::string> names;
  std::uint64_t at = sizeof(mach_header_64);
  for (std::uint32_t i = 0; i < header->ncmds; ++i) {
    const auto command = read_at<load_command>(bytes, at);
    if (!command || command->cmdsize < sizeof(load_command)) break;
    const auto table = read_at<symtab_command>(bytes, at);
    if (command->cmd == LC_SYMTAB && table) collect_symbols(bytes, *table, names);
    at += command->cmdsize;
  }
  std::sort(names.begin(), names.end());
  return names;
}

}  // namespace rollcall::loader
