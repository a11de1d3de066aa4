#include "registry/file_store_impl.hpp"

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/random.hpp"
#include "core/text.hpp"
#include "registry/home.hpp"
#include "registry/staging_name.hpp"

namespace rollcall {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::size_t kVersionParts = 5;
constexpr std::size_t kCtimePart = 2;

bool same_file(const core::FileContent& a, const core::FileContent& b) {
  return a.stamp.device == b.stamp.device && a.stamp.inode == b.stamp.inode && a.bytes == b.bytes;
}

// A version (version_of) whose ctime counts for nothing.
std::string without_ctime(std::string_view version) {
  std::string rest(version);
  if (rest.size() == kVersionParts * sizeof(std::uint64_t)) {
    rest.erase(kCtimePart * sizeof(std::uint64_t), sizeof(std::uint64_t));
  }
  return rest;
}

}  // namespace

std::string version_of(const core::FileStamp& stamp, std::string_view bytes) {
  const std::uint64_t parts[kVersionParts] = {stamp.device, stamp.inode,
                                              static_cast<std::uint64_t>(stamp.changed_ns),
                                              stamp.size, std::hash<std::string_view>{}(bytes)};
  std::string version(sizeof parts, '\0');
  std::memcpy(version.data(), parts, sizeof parts);
  return version;
}

std::string_view id_of(std::string_view file, std::string_view suffix) {
  if (!file.ends_with(suffix)) return {};
  const std::string_view id = file.substr(0, file.size() - suffix.size());
  return check_session_id(id) ? id : std::string_view();
}

Status not_found(std::string_view id) {
  return fail(ErrorCode::kNotFound,
              fmt::format("there is no record of session {}", text::for_terminal(id)));
}

Status conflict(std::string_view id) {
  return fail(ErrorCode::kConflict,
              fmt::format("the record of session {} is another one by now; it was left alone",
                          text::for_terminal(id)));
}

FileStore::Impl::Impl(Options given) : options(std::move(given)) {
  owner = options.expect_owner.value_or(core::current_owner());
}

Result<std::optional<core::PrivateDir>> FileStore::Impl::open_dir(std::string_view name) const {
  auto home = core::PrivateDir::open(options.home, owner);
  if (!home || !*home) return home;
  return (*home)->open_child(name);
}

Result<StoredRecord> FileStore::Impl::read_record(const core::PrivateDir& dir, std::string_view id,
                                                  core::FileKind hint) const {
  auto content = dir.read(file_name(id, kRecordSuffix), kMaxRecordBytes, hint);
  StoredRecord record;
  record.name = id;
  if (content) {
    record.version = version_of(content->stamp, content->bytes);
    record.bytes = std::move(content->bytes);
    record.owner_uid = content->stamp.owner;
    return record;
  }
  const ErrorCode code = content.error().code;
  if (code != ErrorCode::kUnreadable && code != ErrorCode::kTooLarge) {
    return tl::unexpected(std::move(content.error()));
  }
  record.problem = std::move(content.error().message);
  return record;
}

Result<Change> FileStore::Impl::begin(const Call& call, Missing missing) const {
  if (options.read_only) {
    return fail(ErrorCode::kRefused,
                fmt::format("{} is opened for reading only", text::for_terminal(options.home)));
  }
  if (missing == Missing::kNotFound) {
    const auto there = open_dir(options.folder);
    if (!there) return tl::unexpected(there.error());
    if (!*there) return fail(ErrorCode::kNotFound, "there are no records");
  }
  auto home = core::PrivateDir::make(options.home, owner);
  if (!home) return tl::unexpected(home.error());
  if (auto ours = registry::check_is_home(*home); !ours) return tl::unexpected(ours.error());
  auto running = home->make_child(options.folder);
  if (!running) return tl::unexpected(running.error());
  const std::int64_t most = options.clock->monotonic_ns() + options.lock_timeout_ms * kNsPerMs;
  auto lock = home->lock(kLockFile, *options.clock, std::min(most, call.deadline_ns), call.cancel);
  if (!lock) return tl::unexpected(lock.error());
  // Last: where no change can be made, no permission is taken away either.
  for (const core::PrivateDir* dir : {&*home, &*running}) {
    if (auto tight = dir->tighten(); !tight) return tl::unexpected(tight.error());
  }
  return Change{std::move(*home), std::move(*running), std::move(*lock)};
}

Result<core::PrivateDir> FileStore::Impl::make_dir(const Change& change,
                                                   std::string_view name) const {
  auto dir = change.home.make_child(name);
  if (!dir) return dir;
  if (auto tight = dir->tighten(); !tight) return tl::unexpected(tight.error());
  return dir;
}

Result<std::string> FileStore::Impl::stage(const core::PrivateDir& dir, std::string_view bytes,
                                           const core::PrivateDir::CreateOptions& how) const {
  const auto random = core::random_u64();
  if (!random) return tl::unexpected(random.error());
  std::string name;
  {
    const std::lock_guard guard(mutex);
    name = registry::staging_name(*random, writer);
  }
  auto made = dir.create(name, bytes, how);
  if (!made) return tl::unexpected(made.error());
  return name;
}

Result<Aside> FileStore::Impl::take_aside(const Change& change, const std::string& file,
                                          std::string_view version, Compare compare) const {
  const auto differs = [&] {
    return fail(ErrorCode::kConflict,
                fmt::format("{} is another file by now; it was left alone",
                            text::for_terminal(change.running.path_of(file))));
  };
  auto judged = change.running.read(file, kMaxRecordBytes);
  if (!judged) {
    const ErrorCode code = judged.error().code;
    if (code == ErrorCode::kNotFound || code == ErrorCode::kIo) {
      return tl::unexpected(judged.error());
    }
    return differs();
  }
  const std::string found = version_of(judged->stamp, judged->bytes);
  const bool same =
      compare == Compare::kAll ? found == version : without_ctime(found) == without_ctime(version);
  if (!same) return differs();
  const auto random = core::random_u64();
  if (!random) return tl::unexpected(random.error());
  Aside aside{file, registry::aside_name(*random, file), std::move(*judged)};
  step("take aside");
  // One step, under a name that nobody else has: where a file system cannot rename without
  // replacing, link and unlink would take a record that came in between.
  auto moved = change.running.rename_over(file, change.running, aside.name);
  if (!moved) return tl::unexpected(moved.error());
  step("compare");
  // The rename may have moved the ctime, so it was compared before; inode and bytes are, now.
  const auto taken = change.running.read(aside.name, kMaxRecordBytes);
  if (taken && same_file(*taken, aside.content)) return aside;
  step("put back");
  put_back(change, aside.name, file);
  return differs();
}

void FileStore::Impl::put_back(const Change& change, std::string_view aside,
                               std::string_view file) const {
  const auto back = change.running.rename_new(aside, change.running, file);
  if (back || back.error().code != ErrorCode::kExists) return;
  static_cast<void>(move_to_quarantine(change, aside, file, nullptr));
}

Status FileStore::Impl::swap_in(const Change& change, const std::string& staged,
                                const std::string& file, const core::FileContent& judged) const {
  return swap_in(change, staged, file, [&] {
    const auto out = change.running.read(staged, kMaxRecordBytes);
    return out && same_file(*out, judged);
  });
}

Status FileStore::Impl::replace_link(const Change& change, const std::string& staged,
                                     const std::string& file) const {
  auto placed = swap_in(change, staged, file, [&] {
    const auto out = change.running.stat(staged);
    return out && out->kind == core::FileKind::kSymlink;
  });
  if (placed || placed.error().code != ErrorCode::kUnsupported) return placed;
  return change.running.rename_over(staged, change.running, file);
}

Status FileStore::Impl::swap_in(const Change& change, const std::string& staged,
                                const std::string& file,
                                const std::function<bool()>& came_out_as_expected) const {
  const core::PrivateDir& running = change.running;
  const auto ours = running.stat(staged);
  if (!ours) return tl::unexpected(ours.error());
  if (auto swapped = running.exchange(staged, file); !swapped) return swapped;
  // A foreign writer takes no lock: what came out must be what was judged.
  if (came_out_as_expected()) return running.remove(staged);
  step("swap back");
  const auto back = running.exchange(staged, file);
  const auto now_staged = running.stat(staged);
  if (back && now_staged && now_staged->inode != ours->inode) {
    // Yet another record was written over ours meanwhile. It is the newest: it stays.
    static_cast<void>(running.exchange(staged, file));
    static_cast<void>(move_to_quarantine(change, staged, file, nullptr));
  }
  return fail(ErrorCode::kConflict,
              fmt::format("{} is another file by now", text::for_terminal(running.path_of(file))));
}

void FileStore::Impl::recover(const Change& change) const {
  std::vector<std::string> leftovers;
  const auto looked = change.running.each([&](const core::DirEntry& entry) {
    if (registry::aside_file(entry.name)) leftovers.emplace_back(entry.name);
    return true;
  });
  if (!looked) return;
  for (const std::string& name : leftovers) {
    const std::string_view file = *registry::aside_file(name);
    if (!id_of(file, kRecordSuffix).empty() || !id_of(file, kControlSuffix).empty()) {
      put_back(change, name, file);
    }
  }
}

void FileStore::Impl::remove_control_with(const Change& change, std::string_view id) const {
  const std::string file = file_name(id, kControlSuffix);
  const auto control = change.running.stat(file);
  if (!control || control->kind == core::FileKind::kDirectory) return;
  static_cast<void>(change.running.remove(file));
}

}  // namespace rollcall
