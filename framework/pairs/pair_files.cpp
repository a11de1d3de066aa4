#include "pairs/pair_files.hpp"

#include <utility>

#include <fmt/format.h>

#include "pairs/pair_record.hpp"

namespace rollcall::pairs {
namespace {

constexpr std::size_t kMaxSentinelBytes = 4096;

FileFact unreadable(std::string_view name, std::string_view why) {
  FileFact fact;
  fact.state = FileState::kUnreadable;
  fact.problem = fmt::format("{}: {}", name, why);
  return fact;
}

FileFact present(const core::FileStamp& stamp) {
  FileFact fact;
  fact.state = FileState::kPresent;
  fact.modified_unix_ns = stamp.modified_ns;
  return fact;
}

FileFact failed(std::string_view name, const Error& error) {
  return error.code == ErrorCode::kNotFound ? FileFact{} : unreadable(name, error.message);
}

// For its time. Nothing is read of it.
FileFact stat_fact(const core::PrivateDir& dir, const std::string& name) {
  const auto stamp = dir.stat(name);
  if (!stamp) return failed(name, stamp.error());
  if (stamp->kind != core::FileKind::kRegular) {
    return unreadable(name, fmt::format("it is {}", core::describe(stamp->kind)));
  }
  return present(*stamp);
}

// For being there: readable, whatever it holds.
FileFact mark_fact(const core::PrivateDir& dir, const PairEntry& entry) {
  const auto content = dir.read(entry.name, kMaxSentinelBytes, entry.kind);
  if (content) return present(content->stamp);
  if (content.error().code == ErrorCode::kTooLarge) return stat_fact(dir, entry.name);
  return failed(entry.name, content.error());
}

SentinelFact sentinel_fact(const core::PrivateDir& dir, const PairEntry& entry) {
  SentinelFact fact;
  const auto content = dir.read(entry.name, kMaxSentinelBytes, entry.kind);
  if (!content) {
    fact.file = failed(entry.name, content.error());
    return fact;
  }
  fact.file = present(content->stamp);
  auto identity = parse_sentinel(content->bytes);
  if (identity) {
    fact.identity = std::move(*identity);
    fact.reason = "its process was not read";
  } else {
    fact.reason = fmt::format("{}: {}", entry.name, identity.error().message);
  }
  return fact;
}

void read_record(const core::PrivateDir& dir, std::string_view id, const PairEntry& entry,
                 const RecordKeys& keys, PairFacts& facts) {
  const auto content = dir.read(entry.name, kMaxPairRecordBytes, entry.kind);
  if (!content) {
    facts.record = failed(entry.name, content.error());
    return;
  }
  const auto record = parse_pair_record(content->bytes, id, keys);
  if (!record) {
    facts.record = unreadable(entry.name, record.error().message);
    return;
  }
  facts.record = present(content->stamp);
  facts.has_tab = record->has_tab;
  facts.has_controller = record->has_controller;
  facts.generation = record->generation;
}

GenerationFacts& generation_of(PairFacts& facts, std::uint64_t number) {
  for (GenerationFacts& generation : facts.generations) {
    if (generation.number == number) return generation;
  }
  GenerationFacts& added = facts.generations.emplace_back();
  added.number = number;
  return added;
}

void read_terminal_file(const core::PrivateDir& dir, const PairEntry& entry, PairFacts& facts) {
  GenerationFacts& generation = generation_of(facts, entry.generation);
  if (entry.file == PairFile::kTuiPid) generation.tui_pid = sentinel_fact(dir, entry);
  if (entry.file == PairFile::kTuiExited) generation.exited = mark_fact(dir, entry);
  if (entry.file == PairFile::kWrapperSh) generation.wrapper_sh = stat_fact(dir, entry.name);
  if (entry.file == PairFile::kWrapperPs1) generation.wrapper_ps1 = stat_fact(dir, entry.name);
}

}  // namespace

Result<PairEntries> list_entries(const core::PrivateDir& dir) {
  PairEntries entries;
  const auto listed = dir.each([&](const core::DirEntry& entry) {
    if (const auto parsed = parse_file_name(entry.name)) {
      entries[std::string(parsed->id)].push_back(
          {std::string(entry.name), parsed->file, parsed->generation, entry.kind});
    }
    return true;
  });
  if (!listed) return tl::unexpected(listed.error());
  return entries;
}

PairFacts read_facts(const core::PrivateDir& dir, std::string_view id,
                     const std::vector<PairEntry>& entries, const RecordKeys& keys) {
  PairFacts facts;
  for (const PairEntry& entry : entries) {
    switch (entry.file) {
      case PairFile::kRecord:
        read_record(dir, id, entry, keys, facts);
        break;
      case PairFile::kControllerPid:
        facts.controller_pid = sentinel_fact(dir, entry);
        break;
      case PairFile::kControllerExited:
        facts.controller_exited = mark_fact(dir, entry);
        break;
      case PairFile::kResumeLock:
        facts.resume_lock = stat_fact(dir, entry.name);
        break;
      case PairFile::kDeadSeen:
        break;
      case PairFile::kTuiPid:
      case PairFile::kTuiExited:
      case PairFile::kWrapperSh:
      case PairFile::kWrapperPs1:
        read_terminal_file(dir, entry, facts);
        break;
    }
  }
  return facts;
}

std::vector<SentinelFact*> sentinels_of(PairFacts& facts) {
  std::vector<SentinelFact*> all;
  for (GenerationFacts& generation : facts.generations) {
    if (generation.tui_pid.identity) all.push_back(&generation.tui_pid);
  }
  if (facts.controller_pid.identity) all.push_back(&facts.controller_pid);
  return all;
}

}  // namespace rollcall::pairs
