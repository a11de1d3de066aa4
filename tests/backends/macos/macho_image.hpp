// A small loader: maps an x86-64 Mach-O dylib into this Linux process and binds its imports to
// functions of the test's. Both systems pass arguments alike (System V), so its code just runs. No
// exception may leave or cross it, and it has no thread-local variables: such files are refused.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace rollcall::testing {

class MachoImage {
 public:
  // The address for an import's name ("_kill"); null: there is none, and loading fails.
  using Resolver = void* (*)(std::string_view name);

  // Throws std::runtime_error with what is wrong with the file, or the first import that is not
  // resolved. The code stays mapped for the life of the image.
  MachoImage(const std::string& file, Resolver resolver);
  ~MachoImage();
  MachoImage(const MachoImage&) = delete;
  MachoImage& operator=(const MachoImage&) = delete;

  // The address of what the image exports under this name; null: it does not.
  [[nodiscard]] void* symbol(const std::string& name) const;

  // The names of all that it exports, ascending.
  [[nodiscard]] std::vector<std::string> exported() const;

  // The names of all imports that were bound, ascending.
  [[nodiscard]] std::vector<std::string> imported() const;

 private:
  struct Segment {
    std::string name;
    std::uint64_t address = 0;  // in the image
    std::uint64_t size = 0;
    std::uint64_t offset = 0;  // in the file
    std::uint64_t file_size = 0;
    int protection = 0;
    std::vector<std::uint64_t> initialisers;  // of sections of constructors: address, size, ...
  };
  struct Range {
    std::uint32_t offset = 0;
    std::uint32_t size = 0;
  };

  void read_commands();
  void read_segment(std::size_t at);
  void read_symbols();
  void map_segments();
  void rebase(Range range);
  void bind(Range range, bool lazy);
  void protect();
  void construct() const;

  // Both check that eight bytes lie within a mapped segment.
  void add_base(std::uint64_t address);
  void store(std::uint64_t address, std::uint64_t value);
  [[nodiscard]] std::uint64_t at_segment(std::size_t index, std::uint64_t offset) const;

  std::string bytes_;
  Resolver resolver_;
  std::vector<Segment> segments_;
  Range rebase_;
  Range bind_;
  Range lazy_bind_;
  Range symbols_;  // size: how many
  Range strings_;
  unsigned char* base_ = nullptr;
  std::size_t mapped_ = 0;
  std::map<std::string, std::uint64_t> exported_;
  std::map<std::string, void*> imported_;
};

}  // namespace rollcall::testing
