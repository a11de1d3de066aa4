#include "core/remove_tree_windows.hpp"

#include <cstdint>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "core/handle_windows.hpp"
#include "core/list_dir_windows.hpp"
#include "core/native_windows.hpp"
#include "core/paths.hpp"
#include "core/text.hpp"
#include "core/text_windows.hpp"

namespace rollcall::core {
namespace {

constexpr int kMaxDepth = 256;  // a handle is held for each level
constexpr ACCESS_MASK kWalk = FILE_LIST_DIRECTORY | FILE_TRAVERSE | FILE_READ_ATTRIBUTES | DELETE;

tl::unexpected<Error> io_error(std::string_view verb, std::string_view path,
                               native::Status status) {
  const unsigned long code = native::to_win32(status);
  return fail(ErrorCode::kIo,
              fmt::format("cannot {} {}: {}", verb, text::for_terminal(path), error_text(code)),
              code);
}

// On its way out, or out already: somebody else removed it.
bool is_absent(native::Status status) {
  if (status == native::kDeletePending) return true;
  const unsigned long code = native::succeeded(status) ? ERROR_SUCCESS : native::to_win32(status);
  return code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND;
}

struct Entry {
  std::wstring name;
  DWORD attributes = 0;
  DWORD reparse_tag = 0;

  // A folder to walk, and not a link to one.
  [[nodiscard]] bool is_directory() const {
    return (attributes & FILE_ATTRIBUTE_DIRECTORY) != 0 &&
           (attributes & FILE_ATTRIBUTE_REPARSE_POINT) == 0;
  }
  // A disk, or another folder, that is joined in here: every reparse point that is a folder, but
  // for symbolic links.
  [[nodiscard]] bool is_mounted() const {
    constexpr DWORD kBoth = FILE_ATTRIBUTE_REPARSE_POINT | FILE_ATTRIBUTE_DIRECTORY;
    return (attributes & kBoth) == kBoth && reparse_tag != IO_REPARSE_TAG_SYMLINK;
  }
};

// All names first: what is removed while a directory is read may hide others from the reader.
Result<std::vector<Entry>> entries_of(HANDLE dir, const std::string& path) {
  std::vector<Entry> entries;
  const auto listed = list_dir(dir, path, [&](const FILE_ID_BOTH_DIR_INFO& info) {
    // A reparse point has its tag where other files have the size of their attributes.
    entries.push_back({std::wstring(name_of(info)), info.FileAttributes, info.EaSize});
    return true;
  });
  if (!listed) return tl::unexpected(listed.error());
  return entries;
}

enum class Step : std::uint8_t { kCheck, kRemove };

Status walk(Step step, HANDLE dir, const std::string& path, int depth);

Status walk_child(Step step, HANDLE dir, const Entry& entry, const std::string& path, int depth) {
  Handle child;
  const native::Status opened =
      native::open_at({.dir = dir, .name = entry.name, .access = kWalk}, child);
  if (is_absent(opened)) return {};
  if (!native::succeeded(opened)) return io_error("open the directory", path, opened);
  return walk(step, child.get(), path, depth + 1);
}

// A file system that does not know the newer request to remove a file refuses one that is
// read-only.
void make_writable(HANDLE file) {
  FILE_BASIC_INFO basic{};  // 0: leave the times as they are
  basic.FileAttributes = FILE_ATTRIBUTE_NORMAL;
  static_cast<void>(::SetFileInformationByHandle(file, FileBasicInfo, &basic, sizeof basic));
}

Status remove_entry(HANDLE dir, const Entry& entry, const std::string& path) {
  Handle file;
  const bool read_only = (entry.attributes & FILE_ATTRIBUTE_READONLY) != 0;
  native::Status status =
      native::open_at({.dir = dir,
                       .name = entry.name,
                       .access = read_only ? DWORD{DELETE | FILE_WRITE_ATTRIBUTES} : DWORD{DELETE}},
                      file);
  if (is_absent(status)) return {};
  if (native::succeeded(status)) {
    if (read_only) make_writable(file.get());
    status = native::while_busy([&] { return native::remove(file.get()); });
  }
  return native::succeeded(status) ? Status{} : io_error("remove", path, status);
}

// Everything in the open directory. What somebody else removed meanwhile is no failure.
Status walk(Step step, HANDLE dir, const std::string& path, int depth) {
  if (depth > kMaxDepth) {
    return fail(ErrorCode::kRefused, fmt::format("{} is nested deeper than {} levels",
                                                 text::for_terminal(path), kMaxDepth));
  }
  const auto entries = entries_of(dir, path);
  if (!entries) return tl::unexpected(entries.error());
  for (const Entry& entry : *entries) {
    const std::string inner = join_path(path, narrow_lossy(entry.name));
    if (entry.is_mounted()) {
      return fail(ErrorCode::kRefused,
                  fmt::format("something is mounted at {}", text::for_terminal(inner)));
    }
    if (entry.is_directory()) {
      if (auto done = walk_child(step, dir, entry, inner, depth); !done) return done;
    }
    if (step == Step::kCheck) continue;
    if (auto done = remove_entry(dir, entry, inner); !done) return done;
  }
  return {};
}

}  // namespace

Status remove_tree_of(HANDLE dir, const std::string& path) {
  for (const Step step : {Step::kCheck, Step::kRemove}) {
    if (auto done = walk(step, dir, path, 1); !done) return done;
  }
  const native::Status status = native::while_busy([&] { return native::remove(dir); });
  return native::succeeded(status) ? Status{} : io_error("remove", path, status);
}

}  // namespace rollcall::core
