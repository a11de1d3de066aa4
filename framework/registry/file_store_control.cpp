// Control tokens: <id>.control beside <id>.json.
#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/paths.hpp"
#include "core/private_files.hpp"
#include "core/secret.hpp"
#include "registry/file_store_impl.hpp"

namespace rollcall {
namespace {

constexpr std::size_t kMaxControlBytes = 4096 + 2;  // a token, and a line ending by hand

}  // namespace

Result<std::string> FileStore::control_path(std::string_view session_id) const {
  if (auto valid = check_session_id(session_id); !valid) return tl::unexpected(valid.error());
  return core::join_path(core::join_path(home(), folder()), file_name(session_id, kControlSuffix));
}

Result<std::string> FileStore::write_control(std::string_view session_id, std::string_view token,
                                             bool replace, const Call& call) {
  if (auto valid = check_session_id(session_id); !valid) return tl::unexpected(valid.error());
  if (auto valid = check_token(token); !valid) return tl::unexpected(valid.error());
  auto change = impl_->begin(call, Impl::Missing::kMake);
  if (!change) return tl::unexpected(change.error());
  const core::PrivateDir& running = change->running;
  const auto staged = impl_->stage(running, token, {});
  if (!staged) return tl::unexpected(staged.error());
  const std::string file = file_name(session_id, kControlSuffix);
  auto placed = replace ? running.rename_over(*staged, running, file)
                        : running.rename_new(*staged, running, file);
  if (!placed) {
    static_cast<void>(running.remove(*staged));
    if (placed.error().code != ErrorCode::kExists) return tl::unexpected(placed.error());
    return fail(ErrorCode::kExists,
                fmt::format("session {} has a control token already", session_id));
  }
  const auto stamp = running.stat(file);
  const auto synced = running.sync();
  if (!stamp || !synced) {
    static_cast<void>(running.remove(file));
    return tl::unexpected(stamp ? synced.error() : stamp.error());
  }
  return version_of(*stamp, token);
}

Status FileStore::remove_control_if(std::string_view session_id, std::string_view version,
                                    const Call& call) {
  if (auto valid = check_session_id(session_id); !valid) return valid;
  auto change = impl_->begin(call, Impl::Missing::kNotFound);
  if (!change) return tl::unexpected(change.error());
  auto aside = impl_->take_aside(*change, file_name(session_id, kControlSuffix), version);
  if (!aside) return tl::unexpected(aside.error());
  core::wipe(aside->content.bytes);
  if (auto removed = change->running.remove(aside->name); !removed) {
    impl_->put_back(*change, aside->name, aside->file);
    return removed;
  }
  return {};
}

Result<std::optional<std::string>> FileStore::read_control(std::string_view session_id,
                                                           const Call& call) {
  static_cast<void>(call);
  if (auto valid = check_session_id(session_id); !valid) return tl::unexpected(valid.error());
  const auto running = impl_->open_dir(impl_->options.folder);
  if (!running) return tl::unexpected(running.error());
  if (!*running) return std::optional<std::string>();
  auto content = (*running)->read(file_name(session_id, kControlSuffix), kMaxControlBytes);
  if (!content) {
    if (content.error().code == ErrorCode::kNotFound) return std::optional<std::string>();
    return tl::unexpected(content.error());
  }
  std::string& token = content->bytes;
  if (token.ends_with('\n')) token.pop_back();
  if (token.ends_with('\r')) token.pop_back();
  if (!check_token(token)) {
    core::wipe(token);
    return fail(ErrorCode::kCorrupt,
                fmt::format("the control file of session {} holds no token", session_id));
  }
  return std::optional<std::string>(std::move(token));
}

Result<std::vector<std::string>> FileStore::list_orphan_controls(const Call& call) {
  static_cast<void>(call);
  std::vector<std::string> controls;
  std::set<std::string, std::less<>> records;
  const auto running = impl_->open_dir(impl_->options.folder);
  if (!running) return tl::unexpected(running.error());
  if (!*running) return controls;
  const auto looked = (*running)->each([&](const core::DirEntry& entry) {
    if (const auto id = id_of(entry.name, kRecordSuffix); !id.empty()) {
      records.emplace(id);
    } else if (const auto owner = id_of(entry.name, kControlSuffix); !owner.empty()) {
      controls.emplace_back(owner);
    }
    return true;
  });
  if (!looked) return tl::unexpected(looked.error());
  std::erase_if(controls, [&](const std::string& id) { return records.contains(id); });
  std::sort(controls.begin(), controls.end());
  return controls;
}

}  // namespace rollcall
