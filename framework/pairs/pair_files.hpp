// Reads the files of pairs, one listing of the directory for all.
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "core/private_files.hpp"
#include "pairs/file_names.hpp"
#include "rollcall/pairs.hpp"

namespace rollcall::pairs {

// A file of a pair that the directory lists.
struct PairEntry {
  std::string name;
  PairFile file = PairFile::kRecord;
  std::uint64_t generation = 0;
  core::FileKind kind = core::FileKind::kUnknown;
};
using PairEntries = std::map<std::string, std::vector<PairEntry>, std::less<>>;  // by id

// Errors: kIo, also half-way.
[[nodiscard]] Result<PairEntries> list_entries(const core::PrivateDir& dir);

// What the files say, but for the verdicts of the sentinels: those that hold an identity are still
// kUnknown. What the directory does not list any more is absent.
[[nodiscard]] PairFacts read_facts(const core::PrivateDir& dir, std::string_view id,
                                   const std::vector<PairEntry>& entries, const RecordKeys& keys);

// The sentinels of the facts that hold an identity.
[[nodiscard]] std::vector<SentinelFact*> sentinels_of(PairFacts& facts);

}  // namespace rollcall::pairs
