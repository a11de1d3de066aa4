// Library files of Windows, read on any system.
#include "plugin/pe_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdint>

namespace rollcall::loader {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

// A file with one section, at 0x200 in the file and 0x1000 in memory, made by hand.
class PeBytes {
 public:
  PeBytes() {
    put16(0, 0x5A4D);
    put32(0x3C, 0x80);
    put32(0x80, 0x4550);
    put16(0x84, 0x8664);
    put16(0x86, 1);     // sections
    put16(0x94, 0xF0);  // size of the optional header
    put16(0x98, 0x20B);
    put32(0x98 + 108, 16);  // directories
    const std::size_t section = 0x98 + 0xF0;
    put32(section + 12, 0x1000);
    put32(section + 16, 0x400);
    put32(section + 20, 0x200);
  }
  void put16(std::size_t at, unsigned value) {
    bytes_[at] = static_cast<char>(value & 0xFFU);
    bytes_[at + 1] = static_cast<char>(value >> 8U & 0xFFU);
  }
  void put32(std::size_t at, std::uint32_t value) {
    put16(at, value & 0xFFFFU);
    put16(at + 2, value >> 16U);
  }
  // By addresses in memory.
  void word(std::uint32_t address, std::uint32_t value) { put32(address - 0xE00, value); }
  void half(std::uint32_t address, unsigned value) { put16(address - 0xE00, value); }
  void text(std::uint32_t address, std::string_view value) {
    bytes_.replace(address - 0xE00, value.size(), value);
  }
  void directory(int index, std::uint32_t address) {
    put32(0x98 + 112 + static_cast<std::size_t>(8 * index), address);
  }
  // Two functions, of which the second has a number only.
  void add_exports() {
    directory(0, 0x1000);
    word(0x1000 + 16, 5);
    word(0x1000 + 20, 2);
    word(0x1000 + 24, 1);
    word(0x1000 + 28, 0x1100);
    word(0x1000 + 32, 0x1110);
    word(0x1000 + 36, 0x1120);
    word(0x1100, 0x1200);
    word(0x1104, 0x1204);
    word(0x1110, 0x1130);
    half(0x1120, 0);
    text(0x1130, "rollcall_plugin_v1");
  }
  void add_imports() {
    directory(1, 0x1300);
    word(0x1300 + 12, 0x1340);
    word(0x1314 + 12, 0x1350);
    text(0x1340, "KERNEL32.dll");
    text(0x1350, "other.dll");
  }
  [[nodiscard]] std::string& bytes() { return bytes_; }

 private:
  std::string bytes_ = std::string(0x600, '\0');
};

TEST(PeFile, NamesWhatIsExportedAndWhatIsNeeded) {
  PeBytes made;
  made.add_exports();
  made.add_imports();
  const auto file = parse_pe_file(made.bytes());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_EQ(machine_name(file->machine), "x86-64");
  EXPECT_THAT(file->exports, ElementsAre("#6", "rollcall_plugin_v1"));
  EXPECT_THAT(file->imports, ElementsAre("KERNEL32.dll", "other.dll"));
}

TEST(PeFile, MayExportAndNeedNothing) {
  const auto file = parse_pe_file(PeBytes().bytes());
  ASSERT_TRUE(file) << file.error().message;
  EXPECT_TRUE(file->exports.empty());
  EXPECT_TRUE(file->imports.empty());
}

TEST(PeFile, IsNoOtherFile) {
  for (const std::string& bytes :
       {std::string(), std::string("MZ"), std::string("\177ELF"), std::string(4096, 'M')}) {
    const auto file = parse_pe_file(bytes);
    ASSERT_FALSE(file);
    EXPECT_THAT(file.error().message, HasSubstr("no PE file"));
  }
}

TEST(PeFile, WhoseTablesLeadOutOfItIsDamaged) {
  PeBytes exports;
  exports.add_exports();
  exports.word(0x1000 + 32, 0x7FFFFFF0);
  EXPECT_THAT(parse_pe_file(exports.bytes()).error().message, HasSubstr("exports"));
  PeBytes many;
  many.add_exports();
  many.word(0x1000 + 24, 0xFFFFFFFF);
  EXPECT_THAT(parse_pe_file(many.bytes()).error().message, HasSubstr("exports"));
  PeBytes imports;
  imports.add_imports();
  imports.word(0x1300 + 12, 0x5000);
  EXPECT_THAT(parse_pe_file(imports.bytes()).error().message, HasSubstr("imports"));
}

// Every byte changed, and every cut: none may lead outside of the bytes (the sanitizers look).
TEST(PeFile, TakesAnyDamageForDamageOrForAnotherFile) {
  PeBytes made;
  made.add_exports();
  made.add_imports();
  std::size_t refused = 0;
  for (std::size_t at = 0; at < made.bytes().size(); ++at) {
    for (const char value : {'\0', '\x7f', '\xff'}) {
      std::string changed = made.bytes();
      changed[at] = value;
      if (!parse_pe_file(changed)) ++refused;
    }
    if (!parse_pe_file(std::string_view(made.bytes()).substr(0, at))) ++refused;
  }
  EXPECT_GT(refused, 100U);
}

}  // namespace
}  // namespace rollcall::loader
