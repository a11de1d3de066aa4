#include "registry/home.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "core/text.hpp"
#include "registry/file_store_impl.hpp"
#include "rollcall/journal.hpp"

namespace rollcall::registry {
namespace {

// What may stand in a home before its first record does; also an editor's copy of it.
bool is_of_an_unused_home(std::string_view name) {
  return name == kLockFile || name.starts_with("config.json") || name.starts_with(".config.json") ||
         name == "lost+found" || name == kJournalFolder;
}

}  // namespace

Status check_is_home(const core::PrivateDir& home) {
  const auto is_folder = [&](std::string_view name) {
    const auto stamp = home.stat(name);
    return stamp && stamp->kind == core::FileKind::kDirectory;
  };
  constexpr std::string_view kFolders[] = {kRecordsFolder, kReceiptsFolder, kGoneDir,
                                           kQuarantineDir};
  if (std::any_of(std::begin(kFolders), std::end(kFolders), is_folder)) return {};
  std::string foreign;
  const auto looked = home.each([&](const core::DirEntry& entry) {
    if (!is_of_an_unused_home(entry.name)) foreign = entry.name;
    return foreign.empty();
  });
  if (!looked || foreign.empty()) return looked;
  // Another process may have made the home in between.
  if (std::any_of(std::begin(kFolders), std::end(kFolders), is_folder)) return {};
  return fail(
      ErrorCode::kDenied,
      fmt::format("refusing to use {} as a home: it is no home of Rollcall and not empty (it "
                  "holds {}); nothing was changed; name a new or an empty directory",
                  text::for_terminal(home.path()), text::for_terminal(foreign)));
}

}  // namespace rollcall::registry
