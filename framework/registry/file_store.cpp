// FileStore as a RecordStore: reading, creating, replacing, removing.
#include "rollcall/file_store.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/paths.hpp"
#include "core/private_files.hpp"
#include "core/text.hpp"
#include "registry/file_store_impl.hpp"
#include "registry/staging_name.hpp"

namespace rollcall {
namespace {

Status check_call(const Clock& clock, const Call& call) {
  if (call.cancel.cancelled()) return fail(ErrorCode::kCancelled, "cancelled");
  if (call.deadline_ns != kNoDeadline && clock.monotonic_ns() >= call.deadline_ns) {
    return fail(ErrorCode::kTimeout, "the deadline passed while records were read");
  }
  return {};
}

char folded(char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; }

bool same_but_for_case(std::string_view a, std::string_view b) {
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [](char x, char y) { return folded(x) == folded(y); });
}

enum class Place : std::uint8_t { kFree, kLink };

// A record under this name or, on a file system that folds case, under the same file. A symbolic
// link is no record: nobody reads through it.
Result<Place> check_name_is_free(const core::PrivateDir& running, std::string_view id) {
  const std::string wanted = file_name(id, kRecordSuffix);
  std::string taken;
  const auto looked = running.each([&](const core::DirEntry& entry) {
    if (same_but_for_case(entry.name, wanted)) taken = entry.name;
    return taken.empty();
  });
  if (!looked) return tl::unexpected(looked.error());
  if (taken.empty()) return Place::kFree;
  if (taken == wanted) {
    const auto stamp = running.stat(wanted);
    if (stamp && stamp->kind == core::FileKind::kSymlink) return Place::kLink;
    return fail(ErrorCode::kExists, fmt::format("session {} is already registered", id));
  }
  return fail(ErrorCode::kExists,
              fmt::format("cannot register session {}: {} is registered, and the two differ in "
                          "case only",
                          id, id_of(taken, kRecordSuffix)));
}

Status check_bytes(std::string_view id, std::string_view bytes) {
  if (auto valid = check_session_id(id); !valid) return valid;
  if (bytes.size() <= kMaxRecordBytes) return {};
  return fail(ErrorCode::kTooLarge, fmt::format("the record of session {} takes {} bytes, more "
                                                "than {}",
                                                id, bytes.size(), kMaxRecordBytes));
}

}  // namespace

FileStore::FileStore(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
FileStore::~FileStore() = default;

Result<std::shared_ptr<FileStore>> FileStore::open(Options options) {
  if (!core::is_absolute_path(options.home)) {
    return fail(ErrorCode::kInvalid, fmt::format("the home '{}' is not an absolute path",
                                                 text::for_terminal(options.home)));
  }
  if (options.home.find('\0') != std::string::npos) {
    return fail(ErrorCode::kInvalid, "the home holds a zero byte");
  }
  options.home = core::clean_path(std::move(options.home));
  if (core::is_root_path(options.home)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the home cannot be {}", text::for_terminal(options.home)));
  }
  if (!options.clock) return fail(ErrorCode::kInvalid, "a file store needs a clock");
  if (options.folder != kRecordsFolder && options.folder != kReceiptsFolder) {
    return fail(ErrorCode::kInvalid,
                fmt::format("a store stands on {} or {}, not on '{}'", kRecordsFolder,
                            kReceiptsFolder, text::for_terminal(options.folder)));
  }
  return std::shared_ptr<FileStore>(new FileStore(std::make_unique<Impl>(std::move(options))));
}

const std::string& FileStore::home() const { return impl_->options.home; }

const std::string& FileStore::folder() const { return impl_->options.folder; }

bool FileStore::read_only() const { return impl_->options.read_only; }

HomeKind FileStore::home_kind() const {
  return core::is_on_local_file_system(core::join_path(home(), folder())) ? HomeKind::kLocal
                                                                          : HomeKind::kShared;
}

void FileStore::set_writer(const ProcessIdentity& self) {
  const std::lock_guard guard(impl_->mutex);
  if (impl_->writer != self) impl_->writer = self;
}

std::optional<StorePlace> FileStore::place() const {
  return StorePlace{core::join_path(impl_->options.home, impl_->options.folder), true};
}

Result<std::vector<StoredRecord>> FileStore::list(const Call& call) {
  std::vector<StoredRecord> records;
  const auto running = impl_->open_dir(impl_->options.folder);
  if (!running) return tl::unexpected(running.error());
  if (!*running) return records;
  std::vector<std::pair<std::string, core::FileKind>> found;
  const auto looked = (*running)->each([&](const core::DirEntry& entry) {
    const std::string_view id = id_of(entry.name, kRecordSuffix);
    if (!id.empty()) found.emplace_back(id, entry.kind);
    return true;
  });
  if (!looked) return tl::unexpected(looked.error());
  std::sort(found.begin(), found.end(), [](const auto& a, const auto& b) { return b < a; });
  // A directory that is written to while it is read may show a name twice.
  found.erase(std::unique(found.begin(), found.end(),
                          [](const auto& a, const auto& b) { return a.first == b.first; }),
              found.end());
  records.reserve(found.size());
  for (const auto& [id, kind] : found) {
    if (auto going = check_call(*impl_->options.clock, call); !going) {
      return tl::unexpected(going.error());
    }
    auto record = impl_->read_record(**running, id, kind);
    if (record) {
      records.push_back(std::move(*record));
    } else if (record.error().code != ErrorCode::kNotFound) {  // else it went meanwhile
      return tl::unexpected(record.error());
    }
  }
  return records;
}

Result<StoredRecord> FileStore::read(std::string_view name, const Call& call) {
  if (auto valid = check_session_id(name); !valid) return tl::unexpected(valid.error());
  if (auto going = check_call(*impl_->options.clock, call); !going) {
    return tl::unexpected(going.error());
  }
  const auto running = impl_->open_dir(impl_->options.folder);
  if (!running) return tl::unexpected(running.error());
  if (!*running) return tl::unexpected(not_found(name).error());
  auto record = impl_->read_record(**running, name, core::FileKind::kUnknown);
  if (!record && record.error().code == ErrorCode::kNotFound) {
    return tl::unexpected(not_found(name).error());
  }
  return record;
}

Status FileStore::create_if_absent(std::string_view name, std::string_view bytes,
                                   const Call& call) {
  if (auto valid = check_bytes(name, bytes); !valid) return valid;
  auto change = impl_->begin(call, Impl::Missing::kMake);
  if (!change) return tl::unexpected(change.error());
  const core::PrivateDir& running = change->running;
  impl_->recover(*change);
  const auto place = check_name_is_free(running, name);
  if (!place) return tl::unexpected(place.error());
  const auto staged = impl_->stage(running, bytes, {});
  if (!staged) return tl::unexpected(staged.error());
  impl_->step("rename");
  const std::string file = file_name(name, kRecordSuffix);
  auto placed = *place == Place::kLink ? impl_->replace_link(*change, *staged, file)
                                       : running.rename_new(*staged, running, file);
  if (!placed) {
    static_cast<void>(running.remove(*staged));
    const ErrorCode code = placed.error().code;
    if (code != ErrorCode::kExists && code != ErrorCode::kConflict) return placed;
    return fail(ErrorCode::kExists, fmt::format("session {} is already registered", name));
  }
  if (auto synced = running.sync(); !synced) {
    static_cast<void>(running.remove(file));
    return synced;
  }
  return {};
}

Status FileStore::replace_if(std::string_view name, std::string_view version,
                             std::string_view bytes, const Call& call) {
  if (auto valid = check_bytes(name, bytes); !valid) return valid;
  auto change = impl_->begin(call, Impl::Missing::kNotFound);
  if (!change) return tl::unexpected(change.error());
  const core::PrivateDir& running = change->running;
  impl_->recover(*change);
  const std::string file = file_name(name, kRecordSuffix);
  const auto judged = running.read(file, kMaxRecordBytes);
  if (!judged) {
    if (judged.error().code == ErrorCode::kNotFound) return not_found(name);
    return judged.error().code == ErrorCode::kIo ? tl::unexpected(judged.error()) : conflict(name);
  }
  if (version_of(judged->stamp, judged->bytes) != version) return conflict(name);
  const auto staged = impl_->stage(running, bytes, {});
  if (!staged) return tl::unexpected(staged.error());
  impl_->step("swap");
  auto placed = impl_->swap_in(*change, *staged, file, *judged);
  if (!placed && placed.error().code == ErrorCode::kUnsupported) {
    // No swap on this file system: never a moment without a record. What came since it was read,
    // which is mostly while ours was written, is seen; of two in the moment left the last wins.
    const auto now = running.read(file, kMaxRecordBytes);
    placed = now && version_of(now->stamp, now->bytes) == version
                 ? running.rename_over(*staged, running, file)
                 : conflict(name);
  }
  if (!placed) {
    static_cast<void>(running.remove(*staged));
    const ErrorCode code = placed.error().code;
    return code == ErrorCode::kNotFound || code == ErrorCode::kConflict ? conflict(name) : placed;
  }
  return running.sync();
}

Status FileStore::remove_if(std::string_view name, std::string_view version, const Call& call) {
  return impl_->remove_record(name, version, Impl::Compare::kAll, call);
}

Status FileStore::remove_own_if(std::string_view name, std::string_view version, const Call& call) {
  return impl_->remove_record(name, version, Impl::Compare::kAllButCtime, call);
}

Status FileStore::Impl::remove_record(std::string_view name, std::string_view version,
                                      Compare compare, const Call& call) const {
  if (auto valid = check_session_id(name); !valid) return valid;
  auto change = begin(call, Missing::kNotFound);
  if (!change) return tl::unexpected(change.error());
  const auto aside = take_aside(*change, file_name(name, kRecordSuffix), version, compare);
  if (!aside) {
    if (aside.error().code == ErrorCode::kNotFound) return not_found(name);
    return tl::unexpected(aside.error());
  }
  if (auto removed = change->running.remove(aside->name); !removed) {
    put_back(*change, aside->name, aside->file);
    return removed;
  }
  remove_control_with(*change, name);
  return {};
}

}  // namespace rollcall
