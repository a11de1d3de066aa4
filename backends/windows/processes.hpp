// The process table of one snapshot, and who descends from whom in it.
#pragma once

#include <cstdint>
#include <optional>
#include <unordered_map>
#include <vector>

#include "system.hpp"

namespace rollcall::windows_backend {

// Windows hands no orphans on: a process names who made it for ever, and that number may have
// become another's. So a parent counts only if it was made before its child, or at the same tick.
// Not for several threads at once.
class ProcessTable {
 public:
  enum class Kin : std::uint8_t { kNo, kYes, kUnknown };
  struct Parent {
    Kin kin = Kin::kNo;    // kYes: it is; kNo: it has gone; kUnknown: a start could not be read
    std::int64_t pid = 0;  // the number that the child names
  };

  explicit ProcessTable(const System& system) : system_(system) {}

  // Takes the snapshot, by CreateToolhelp32Snapshot.
  [[nodiscard]] Code read();
  [[nodiscard]] const std::vector<ProcessRow>& rows() const { return rows_; }
  [[nodiscard]] const ProcessRow* find(std::int64_t pid) const;  // null: it is not in it

  [[nodiscard]] Parent parent_of(std::int64_t pid);
  // Whether `pid` is `ancestor` or a descendant of it.
  [[nodiscard]] Kin descends(std::int64_t pid, std::int64_t ancestor);

 private:
  std::optional<std::uint64_t> created(std::uint32_t pid);

  const System& system_;
  std::vector<ProcessRow> rows_;
  std::unordered_map<std::uint32_t, std::size_t> index_;
  std::unordered_map<std::uint32_t, std::optional<std::uint64_t>> created_;
};

}  // namespace rollcall::windows_backend
