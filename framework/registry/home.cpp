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

// Others leave files of pairs there (docs/pairs.md), perhaps before there is any record.
constexpr std::string_view kPairsFolder = "pairs";

// What may stand in a home before its first record does; also an editor's copy of it.
bool is_of_an_unused_home(std::string_view name) {
  return name == kLockFile || name.starts_with("config.json") || name.starts_with(".config.json") ||
         name == "lost+found" || name == kJournalFolder || name == kPairsFolder;
}

}  // namespace

Result<std::string> foreign_entry(const core::PrivateDir& home) {
  const auto is_folder = [&](std::string_view name) {
    const auto stamp = home.stat(name);
    return stamp && stamp->kind == core::FileKind::kDirectory;
  };
  constexpr std::string_view kFolders[] = {kRecordsFolder, kReceiptsFolder, kGoneDir,
                                           kQuarantineDir};
  const auto is_home = [&] {
    return std::any_of(std::begin(kFolders), std::end(kFolders), is_folder);
  };
  std::string foreign;
  if (is_home()) return foreign;
  const auto looked = home.each([&](const core::DirEntry& entry) {
    if (!is_of_an_unused_home(entry.name)) foreign = entry.name;
    return foreign.empty();
  });
  if (!looked) return tl::unexpected(looked.error());
  // Another process may have made the home in between.
  if (!foreign.empty() && is_home()) foreign.clear();
  return foreign;
}

Status check_is_home(const core::PrivateDir& home) {
  const auto foreign = foreign_entry(home);
  if (!foreign) return tl::unexpected(foreign.error());
  if (foreign->empty()) return {};
  return fail(
      ErrorCode::kDenied,
      fmt::format("refusing to use {} as a home: it is no home of Rollcall and not empty (it "
                  "holds {}); nothing was changed; name a new or an empty directory",
                  text::for_terminal(home.path()), text::for_terminal(*foreign)));
}

}  // namespace rollcall::registry
