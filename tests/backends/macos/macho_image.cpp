#include "macho_image.hpp"

#include <sys/mman.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <iterator>
#include <stdexcept>
#include <utility>

namespace rollcall::testing {
namespace {

// Numbers and layouts of Apple's mach-o/loader.h and mach-o/nlist.h.
constexpr std::uint32_t kMagic64 = 0xFEEDFACF;
constexpr std::uint32_t kCpuX8664 = 0x01000007;
constexpr std::uint32_t kLcSegment64 = 0x19;
constexpr std::uint32_t kLcSymtab = 0x2;
constexpr std::uint32_t kLcDyldInfoOnly = 0x80000022;
constexpr std::uint32_t kLcChainedFixups = 0x80000034;
constexpr std::uint32_t kInitialisers = 9;         // S_MOD_INIT_FUNC_POINTERS
constexpr std::uint32_t kFirstThreadLocal = 0x11;  // S_THREAD_LOCAL_REGULAR
constexpr std::uint8_t kExternal = 1;              // N_EXT
constexpr std::uint8_t kTypeMask = 0x0E;           // N_TYPE
constexpr std::uint8_t kInSection = 0x0E;          // N_SECT
constexpr std::size_t kHeader = 32;
constexpr std::size_t kSegmentHead = 72;
constexpr std::size_t kSection = 80;
constexpr std::size_t kNlist = 16;
constexpr std::size_t kPage = 4096;
constexpr std::uint64_t kMostBytes = 1U << 28;

[[noreturn]] void fail(const std::string& why) { throw std::runtime_error(why); }

// A value at an offset of the file.
template <class T>
T read_at(const std::string& bytes, std::uint64_t at) {
  if (at > bytes.size() || bytes.size() - at < sizeof(T)) fail("the file is cut");
  T value;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

// Walks a stream of opcodes.
class Stream {
 public:
  explicit Stream(std::string_view bytes) : rest_(bytes) {}
  [[nodiscard]] bool empty() const { return rest_.empty(); }

  std::uint8_t byte() {
    if (rest_.empty()) fail("a stream of opcodes is cut");
    const auto value = static_cast<std::uint8_t>(rest_.front());
    rest_.remove_prefix(1);
    return value;
  }
  std::uint64_t uleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64; shift += 7) {
      const std::uint8_t one = byte();
      value |= std::uint64_t{one & 0x7FU} << shift;
      if ((one & 0x80U) == 0) return value;
    }
    fail("a number in a stream of opcodes is too long");
  }
  std::int64_t sleb() {
    std::uint64_t value = 0;
    for (unsigned shift = 0; shift < 64;) {
      const std::uint8_t one = byte();
      value |= std::uint64_t{one & 0x7FU} << shift;
      shift += 7;
      if ((one & 0x80U) != 0) continue;
      if ((one & 0x40U) != 0 && shift < 64) value |= ~std::uint64_t{0} << shift;
      return static_cast<std::int64_t>(value);
    }
    fail("a number in a stream of opcodes is too long");
  }
  std::string text() {
    const auto end = rest_.find('\0');
    if (end == std::string_view::npos) fail("a name in a stream of opcodes is cut");
    std::string value(rest_.substr(0, end));
    rest_.remove_prefix(end + 1);
    return value;
  }

 private:
  std::string_view rest_;
};

std::string_view part(const std::string& bytes, std::uint32_t offset, std::uint32_t size) {
  if (offset > bytes.size() || bytes.size() - offset < size) fail("the file is cut");
  return std::string_view(bytes).substr(offset, size);
}

}  // namespace

MachoImage::MachoImage(const std::string& file, Resolver resolver) : resolver_(resolver) {
  std::ifstream in(file, std::ios::binary);
  bytes_.assign(std::istreambuf_iterator<char>(in), {});
  read_commands();
  read_symbols();
  map_segments();
  rebase(rebase_);
  bind(bind_, false);
  bind(lazy_bind_, true);
  protect();
  construct();
}

MachoImage::~MachoImage() {
  if (base_ != nullptr) ::munmap(base_, mapped_);
}

void MachoImage::read_commands() {
  if (read_at<std::uint32_t>(bytes_, 0) != kMagic64 ||
      read_at<std::uint32_t>(bytes_, 4) != kCpuX8664) {
    fail("this is no Mach-O file for x86-64");
  }
  const auto count = read_at<std::uint32_t>(bytes_, 16);
  std::uint64_t at = kHeader;
  for (std::uint32_t i = 0; i < count; ++i) {
    const auto command = read_at<std::uint32_t>(bytes_, at);
    const auto size = read_at<std::uint32_t>(bytes_, at + 4);
    if (size < 8) fail("a load command has no size");
    if (command == kLcChainedFixups) fail("chained fixups are not supported");
    if (command == kLcSegment64) read_segment(at);
    if (command == kLcSymtab) {
      symbols_ = {read_at<std::uint32_t>(bytes_, at + 8), read_at<std::uint32_t>(bytes_, at + 12)};
      strings_ = {read_at<std::uint32_t>(bytes_, at + 16), read_at<std::uint32_t>(bytes_, at + 20)};
    }
    if (command == kLcDyldInfoOnly) {
      rebase_ = {read_at<std::uint32_t>(bytes_, at + 8), read_at<std::uint32_t>(bytes_, at + 12)};
      bind_ = {read_at<std::uint32_t>(bytes_, at + 16), read_at<std::uint32_t>(bytes_, at + 20)};
      lazy_bind_ = {read_at<std::uint32_t>(bytes_, at + 32),
                    read_at<std::uint32_t>(bytes_, at + 36)};
    }
    at += size;
  }
  if (segments_.empty()) fail("the file has no segments");
}

void MachoImage::read_segment(std::size_t at) {
  Segment segment;
  segment.name = std::string(part(bytes_, static_cast<std::uint32_t>(at + 8), 16).data(), 16);
  segment.name.resize(std::strlen(segment.name.c_str()));
  segment.address = read_at<std::uint64_t>(bytes_, at + 24);
  segment.size = read_at<std::uint64_t>(bytes_, at + 32);
  segment.offset = read_at<std::uint64_t>(bytes_, at + 40);
  segment.file_size = read_at<std::uint64_t>(bytes_, at + 48);
  segment.protection = read_at<std::int32_t>(bytes_, at + 60);
  const bool fits = segment.address <= kMostBytes && segment.size <= kMostBytes &&
                    segment.file_size <= segment.size && segment.offset <= bytes_.size() &&
                    segment.file_size <= bytes_.size() - segment.offset;
  if (!fits || segment.address % kPage != 0) fail("segment " + segment.name + " makes no sense");
  const auto sections = read_at<std::uint32_t>(bytes_, at + 64);
  for (std::uint32_t i = 0; i < sections; ++i) {
    const std::uint64_t section = at + kSegmentHead + i * kSection;
    const auto kind = read_at<std::uint32_t>(bytes_, section + 64) & 0xFFU;
    if (kind >= kFirstThreadLocal) fail("it has thread-local variables");
    if (kind != kInitialisers) continue;
    segment.initialisers.push_back(read_at<std::uint64_t>(bytes_, section + 32));
    segment.initialisers.push_back(read_at<std::uint64_t>(bytes_, section + 40));
  }
  segments_.push_back(std::move(segment));
}

void MachoImage::read_symbols() {
  const std::string_view strings = part(bytes_, strings_.offset, strings_.size);
  for (std::uint32_t i = 0; i < symbols_.size; ++i) {
    const std::uint64_t at = symbols_.offset + std::uint64_t{i} * kNlist;
    const auto name = read_at<std::uint32_t>(bytes_, at);
    const auto type = read_at<std::uint8_t>(bytes_, at + 4);
    if ((type & kTypeMask) != kInSection || (type & kExternal) == 0) continue;
    if (name >= strings.size()) fail("a symbol's name lies outside of the names");
    const auto text = strings.substr(name, strings.find('\0', name) - name);
    exported_[std::string(text)] = read_at<std::uint64_t>(bytes_, at + 8);
  }
}

void MachoImage::map_segments() {
  for (const Segment& segment : segments_) {
    mapped_ = std::max<std::size_t>(mapped_, segment.address + segment.size);
  }
  mapped_ = (mapped_ + kPage - 1) / kPage * kPage;
  void* memory =
      ::mmap(nullptr, mapped_, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (memory == MAP_FAILED) fail("no memory for the image");
  base_ = static_cast<unsigned char*>(memory);
  for (const Segment& segment : segments_) {
    std::memcpy(base_ + segment.address, bytes_.data() + segment.offset, segment.file_size);
  }
}

std::uint64_t MachoImage::at_segment(std::size_t index, std::uint64_t offset) const {
  if (index >= segments_.size()) fail("an opcode names a segment that is not there");
  return segments_[index].address + offset;
}

void MachoImage::store(std::uint64_t address, std::uint64_t value) {
  if (address > mapped_ - sizeof value) fail("an opcode points outside of the image");
  std::memcpy(base_ + address, &value, sizeof value);
}

void MachoImage::add_base(std::uint64_t address) {
  if (address > mapped_ - sizeof address) fail("an opcode points outside of the image");
  std::uint64_t value = 0;
  std::memcpy(&value, base_ + address, sizeof value);
  store(address, value + reinterpret_cast<std::uint64_t>(base_));
}

// REBASE_OPCODE_*: the upper half of a byte is the opcode, the lower an immediate value.
void MachoImage::rebase(Range range) {
  Stream stream(part(bytes_, range.offset, range.size));
  std::uint64_t at = 0;
  const auto repeat = [&](std::uint64_t count, std::uint64_t skip) {
    for (; count > 0; --count, at += 8 + skip) add_base(at);
  };
  while (!stream.empty()) {
    const std::uint8_t opcode = stream.byte();
    const std::uint8_t immediate = opcode & 0x0F;
    switch (opcode >> 4) {
      case 0:  // DONE
        return;
      case 1:  // SET_TYPE_IMM: pointers
        if (immediate != 1) fail("only pointers are rebased");
        break;
      case 2:  // SET_SEGMENT_AND_OFFSET_ULEB
        at = at_segment(immediate, stream.uleb());
        break;
      case 3:  // ADD_ADDR_ULEB
        at += stream.uleb();
        break;
      case 4:  // ADD_ADDR_IMM_SCALED
        at += std::uint64_t{immediate} * 8;
        break;
      case 5:  // DO_REBASE_IMM_TIMES
        repeat(immediate, 0);
        break;
      case 6:  // DO_REBASE_ULEB_TIMES
        repeat(stream.uleb(), 0);
        break;
      case 7:  // DO_REBASE_ADD_ADDR_ULEB
        repeat(1, stream.uleb());
        break;
      case 8: {  // DO_REBASE_ULEB_TIMES_SKIPPING_ULEB
        const std::uint64_t count = stream.uleb();
        repeat(count, stream.uleb());
        break;
      }
      default:
        fail("an unknown rebase opcode");
    }
  }
}

// BIND_OPCODE_*. Among the lazy ones each import ends with DONE. All are bound at once.
void MachoImage::bind(Range range, bool lazy) {
  Stream stream(part(bytes_, range.offset, range.size));
  std::uint64_t at = 0;
  std::int64_t addend = 0;
  std::string name;
  const auto repeat = [&](std::uint64_t count, std::uint64_t skip) {
    auto& target = imported_[name];
    if (target == nullptr) target = resolver_(name);
    if (target == nullptr) fail("nothing stands for the import " + name);
    const auto value = reinterpret_cast<std::uint64_t>(target) + static_cast<std::uint64_t>(addend);
    for (; count > 0; --count, at += 8 + skip) store(at, value);
  };
  while (!stream.empty()) {
    const std::uint8_t opcode = stream.byte();
    const std::uint8_t immediate = opcode & 0x0F;
    switch (opcode >> 4) {
      case 0:  // DONE
        if (!lazy) return;
        break;
      case 1:  // SET_DYLIB_ORDINAL_IMM
      case 3:  // SET_DYLIB_SPECIAL_IMM
        break;
      case 2:  // SET_DYLIB_ORDINAL_ULEB
        (void)stream.uleb();
        break;
      case 4:  // SET_SYMBOL_TRAILING_FLAGS_IMM
        name = stream.text();
        break;
      case 5:  // SET_TYPE_IMM: pointers
        if (immediate != 1) fail("only pointers are bound");
        break;
      case 6:  // SET_ADDEND_SLEB
        addend = stream.sleb();
        break;
      case 7:  // SET_SEGMENT_AND_OFFSET_ULEB
        at = at_segment(immediate, stream.uleb());
        break;
      case 8:  // ADD_ADDR_ULEB
        at += stream.uleb();
        break;
      case 9:  // DO_BIND
        repeat(1, 0);
        break;
      case 0xA:  // DO_BIND_ADD_ADDR_ULEB
        repeat(1, stream.uleb());
        break;
      case 0xB:  // DO_BIND_ADD_ADDR_IMM_SCALED
        repeat(1, std::uint64_t{immediate} * 8);
        break;
      case 0xC: {  // DO_BIND_ULEB_TIMES_SKIPPING_ULEB
        const std::uint64_t count = stream.uleb();
        repeat(count, stream.uleb());
        break;
      }
      default:
        fail("an unknown bind opcode");
    }
  }
}

// VM_PROT_READ, WRITE and EXECUTE have the values of PROT_*.
void MachoImage::protect() {
  for (const Segment& segment : segments_) {
    if (segment.size == 0) continue;
    const std::size_t size = (segment.size + kPage - 1) / kPage * kPage;
    if (::mprotect(base_ + segment.address, size, segment.protection) != 0) {
      fail("segment " + segment.name + " cannot be protected");
    }
  }
}

void MachoImage::construct() const {
  for (const Segment& segment : segments_) {
    for (std::size_t i = 0; i + 1 < segment.initialisers.size(); i += 2) {
      for (std::uint64_t at = 0; at + 8 <= segment.initialisers[i + 1]; at += 8) {
        void (*constructor)(int, char**, char**) = nullptr;
        std::memcpy(&constructor, base_ + segment.initialisers[i] + at, sizeof constructor);
        constructor(0, nullptr, nullptr);
      }
    }
  }
}

void* MachoImage::symbol(const std::string& name) const {
  const auto it = exported_.find(name);
  return it == exported_.end() ? nullptr : base_ + it->second;
}

std::vector<std::string> MachoImage::exported() const {
  std::vector<std::string> names;
  for (const auto& [name, address] : exported_) names.push_back(name);
  return names;
}

std::vector<std::string> MachoImage::imported() const {
  std::vector<std::string> names;
  for (const auto& [name, address] : imported_) names.push_back(name);
  return names;
}

}  // namespace rollcall::testing
