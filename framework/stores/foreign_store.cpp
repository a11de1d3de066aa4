// Record stores over what others wrote. Nothing here writes.
#include "rollcall/foreign_store.hpp"

#include <algorithm>
#include <map>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/paths.hpp"
#include "core/private_files.hpp"
#include "core/rfc3339.hpp"
#include "core/text.hpp"
#include "pairs/boot_seconds.hpp"
#include "pairs/pair_files.hpp"
#include "registry/file_store_impl.hpp"
#include "rollcall/record.hpp"
#include "stores/formats.hpp"

namespace rollcall {
namespace {

// What the reading of one file, or of one side of a pair, came to.
struct Found {
  std::string file;  // what tells it from others of the same session
  std::string name;
  std::string problem;
  std::optional<Record> record;
  core::FileStamp stamp;
};

class ForeignStore : public RecordStore {
 public:
  explicit ForeignStore(ForeignStoreOptions options) : options_(std::move(options)) {}

  [[nodiscard]] std::string id() const override { return options_.name; }
  [[nodiscard]] Result<std::vector<StoredRecord>> list(const Call& call) override;
  [[nodiscard]] std::optional<StorePlace> place() const override {
    return StorePlace{options_.dir, false};
  }
  [[nodiscard]] Result<StoredRecord> read(std::string_view name, const Call& call) override;
  [[nodiscard]] Status create_if_absent(std::string_view, std::string_view, const Call&) override {
    return refused();
  }
  [[nodiscard]] Status replace_if(std::string_view, std::string_view, std::string_view,
                                  const Call&) override {
    return refused();
  }
  [[nodiscard]] Status remove_if(std::string_view, std::string_view, const Call&) override {
    return refused();
  }

 protected:
  [[nodiscard]] virtual Result<std::vector<Found>> find(const core::PrivateDir& dir,
                                                        const Call& call) = 0;
  [[nodiscard]] const ForeignStoreOptions& options() const { return options_; }

 private:
  [[nodiscard]] Status refused() const {
    return fail(
        ErrorCode::kRefused,
        fmt::format("the store {} is another program's: nothing of it is changed", options_.name));
  }

  ForeignStoreOptions options_;
};

using Count = std::map<std::string, int, std::less<>>;

Count count_names(const std::vector<Found>& all) {
  Count seen;
  for (const Found& found : all) ++seen[found.name];
  return seen;
}

// Where a session is named by more than one file, each is told by its own. Of what has one name
// even so nothing is believed.
void tell_apart(std::vector<Found>& all) {
  Count seen = count_names(all);
  for (Found& found : all) {
    if (seen[found.name] < 2) continue;
    found.name += "." + found.file;
    if (found.record) found.record->session_id = found.name;
  }
  seen = count_names(all);
  for (Found& found : all) {
    if (seen[found.name] < 2 || !found.record) continue;
    found.record.reset();
    found.problem = fmt::format("{} is the name of another session, too (here that of {})",
                                found.name, found.file);
  }
}

StoredRecord stored_of(Found found) {
  StoredRecord stored;
  stored.name = found.name;
  stored.problem = std::move(found.problem);
  stored.owner_uid = found.stamp.owner;
  if (found.record) {
    if (auto valid = check_session_id(found.name); !valid) {
      stored.name = found.file;
      stored.problem = fmt::format("its session cannot be named: {}", valid.error().message);
    } else if (auto bytes = serialize_record(*found.record); bytes) {
      stored.bytes = std::move(*bytes);
    } else {
      stored.problem = bytes.error().message;
    }
  }
  stored.version = version_of(found.stamp, stored.bytes);
  return stored;
}

Result<std::vector<StoredRecord>> ForeignStore::list(const Call& call) {
  const auto dir =
      core::PrivateDir::open(options_.dir, options_.expect_owner.value_or(core::current_owner()));
  if (!dir) return tl::unexpected(dir.error());
  std::vector<StoredRecord> all;
  if (!*dir) return all;
  auto found = find(**dir, call);
  if (!found) return tl::unexpected(found.error());
  tell_apart(*found);
  for (Found& one : *found) all.push_back(stored_of(std::move(one)));
  std::sort(all.begin(), all.end(),
            [](const StoredRecord& a, const StoredRecord& b) { return a.name > b.name; });
  return all;
}

Result<StoredRecord> ForeignStore::read(std::string_view name, const Call& call) {
  auto all = list(call);
  if (!all) return tl::unexpected(all.error());
  for (StoredRecord& stored : *all) {
    if (stored.name == name) return std::move(stored);
  }
  return fail(ErrorCode::kNotFound,
              fmt::format("no session {} in the store {}", name, options_.name));
}

// One record a file.
class FilesStore final : public ForeignStore {
 public:
  using ForeignStore::ForeignStore;

 protected:
  [[nodiscard]] Result<std::vector<Found>> find(const core::PrivateDir& dir,
                                                const Call& call) override;

 private:
  [[nodiscard]] Result<Record> translate(std::string_view bytes,
                                         const stores::SourceFile& file) const;
  [[nodiscard]] std::optional<Found> read_file(const core::PrivateDir& dir, const std::string& name,
                                               core::FileKind kind) const;
};

Result<Record> FilesStore::translate(std::string_view bytes, const stores::SourceFile& file) const {
  switch (options().kind) {
    case ForeignKind::kThreeLayer:
      return stores::read_three_layer(bytes, file);
    case ForeignKind::kReceipts:
      return stores::read_receipt(bytes, file);
    case ForeignKind::kRows: {
      auto record = stores::read_row(bytes, options().row_keys);
      if (record) record->name = options().name;
      return record;
    }
    case ForeignKind::kJupyter:
      return stores::read_jupyter(bytes, file);
    case ForeignKind::kPairs:
      break;
  }
  return fail(ErrorCode::kInternal, "pairs are not one record a file");
}

// nullopt: it went away meanwhile.
std::optional<Found> FilesStore::read_file(const core::PrivateDir& dir, const std::string& name,
                                           core::FileKind kind) const {
  Found found;
  found.file = name.substr(0, name.size() - 5);
  found.name = found.file;
  const auto content = dir.read(name, kMaxRecordBytes, kind);
  if (!content && content.error().code == ErrorCode::kNotFound) return std::nullopt;
  if (!content) {
    found.problem = content.error().message;
    return found;
  }
  found.stamp = content->stamp;
  auto record = translate(content->bytes, {found.file, content->stamp.modified_ns});
  if (!record) {
    found.problem = record.error().message;
    return found;
  }
  found.name = record->session_id;
  found.record = std::move(*record);
  return found;
}

Result<std::vector<Found>> FilesStore::find(const core::PrivateDir& dir, const Call&) {
  std::vector<std::pair<std::string, core::FileKind>> names;
  const auto listed = dir.each([&](const core::DirEntry& entry) {
    if (stores::is_file_of(options().kind, entry.name)) {
      names.emplace_back(std::string(entry.name), entry.kind);
    }
    return true;
  });
  if (!listed) return tl::unexpected(listed.error());
  std::vector<Found> all;
  for (const auto& [name, kind] : names) {
    if (auto found = read_file(dir, name, kind)) all.push_back(std::move(*found));
  }
  return all;
}

// A record for each side of a pair that wrote who it is and has not said that it exited.
class PairStore final : public ForeignStore {
 public:
  using ForeignStore::ForeignStore;

 protected:
  [[nodiscard]] Result<std::vector<Found>> find(const core::PrivateDir& dir,
                                                const Call& call) override;
};

Found side_of(std::string_view pair, std::string_view side, const pairs::SentinelFact& sentinel) {
  Found found;
  found.name = fmt::format("{}.{}", pair, side);
  found.file = found.name;
  found.problem = sentinel.file.problem;
  found.stamp.modified_ns = sentinel.file.modified_unix_ns;
  if (!sentinel.identity) {
    if (found.problem.empty()) found.problem = sentinel.reason;
    return found;
  }
  Record record;
  record.session_id = found.name;
  record.process = *sentinel.identity;
  if (pairs::has_seconds_form(record.process)) {
    // Only `pairs` compares these; by a record they cannot be told.
    record.process.boot_id.reset();
    record.process.start_token.clear();
    if (!pairs::boot_seconds()) record.process.host_id = "macos (counts in seconds)";
  }
  record.name = std::string(side);
  record.started_at = core::format_rfc3339_utc(sentinel.file.modified_unix_ns);
  record.metadata["pair_id"] = std::string(pair);
  found.record = std::move(record);
  return found;
}

// The terminal's sentinel that counts: the wanted generation's, else the highest one's.
const pairs::GenerationFacts* used_generation(const pairs::PairFacts& facts) {
  const pairs::GenerationFacts* used = nullptr;
  for (const pairs::GenerationFacts& generation : facts.generations) {
    if (generation.tui_pid.file.state == pairs::FileState::kAbsent) continue;
    if (generation.number == facts.generation) return &generation;
    if (used == nullptr || generation.number > used->number) used = &generation;
  }
  return used;
}

Result<std::vector<Found>> PairStore::find(const core::PrivateDir& dir, const Call&) {
  const auto entries = pairs::list_entries(dir);
  if (!entries) return tl::unexpected(entries.error());
  std::vector<Found> all;
  for (const auto& [id, files] : *entries) {
    const auto facts = pairs::read_facts(dir, id, files, options().pair_keys);
    if (const auto* used = used_generation(facts);
        used != nullptr && used->exited.state != pairs::FileState::kPresent) {
      all.push_back(side_of(id, "terminal", used->tui_pid));
      if (all.back().record) all.back().record->version = fmt::format("g{}", used->number);
    }
    if (facts.controller_pid.file.state != pairs::FileState::kAbsent &&
        facts.controller_exited.state != pairs::FileState::kPresent) {
      all.push_back(side_of(id, "controller", facts.controller_pid));
    }
  }
  return all;
}

}  // namespace

Result<std::shared_ptr<RecordStore>> open_foreign_store(ForeignStoreOptions options) {
  if (!core::is_absolute_path(options.dir)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the store {} needs an absolute path: {}", options.name, options.dir));
  }
  if (options.kind == ForeignKind::kPairs) return std::make_shared<PairStore>(std::move(options));
  return std::make_shared<FilesStore>(std::move(options));
}

namespace {

// Launched as a script, argv[0] is the interpreter.
std::vector<std::string> jupyter_names() {
  std::vector<std::string> names;
  for (const std::string name : {"python", "python3", "pythonw", "jupyter", "jupyter-lab",
                                 "jupyter-notebook", "jupyter-server"}) {
    names.push_back(name);
    names.push_back(name + ".exe");
  }
  for (int minor = 7; minor <= 20; ++minor) names.push_back(fmt::format("python3.{}", minor));
  return names;
}

}  // namespace

TimeGuard default_guard(ForeignKind kind) {
  switch (kind) {
    case ForeignKind::kThreeLayer:
      return {{"murmur", "murmur.exe"}, false};
    case ForeignKind::kReceipts:
      return {{"supercode", "supercode.exe"}, true};
    case ForeignKind::kRows:
      return {{"claude", "claude.exe"}, false};
    case ForeignKind::kJupyter:
      return {jupyter_names(), true};
    case ForeignKind::kPairs:
      break;
  }
  return {};
}

HomeKind home_kind_of(const std::string& dir) {
  return core::is_on_local_file_system(dir) ? HomeKind::kLocal : HomeKind::kShared;
}

}  // namespace rollcall
