// The inside of FileStore: its directories, its lock, and compare-and-delete.
#pragma once

#include <cstdint>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>

#include "core/private_files.hpp"
#include "rollcall/file_store.hpp"

namespace rollcall {

// Suffixes of the files in running/.
inline constexpr std::string_view kRecordSuffix = ".json";
inline constexpr std::string_view kControlSuffix = ".control";

// The names of a home.
inline constexpr std::string_view kGoneDir = "gone";
inline constexpr std::string_view kQuarantineDir = "quarantine";
inline constexpr std::string_view kLockFile = "lock";

// The store's folder, for as long as the lock on the home is held.
struct Change {
  core::PrivateDir home;
  core::PrivateDir running;  // or the folder that stands in its place
  core::FileLock lock;
};

// A file that was taken aside, and proven to be the one that was judged.
struct Aside {
  std::string file;  // its own name
  std::string name;  // where it is now
  core::FileContent content;
};

// The opaque version of a file: device, inode, ctime, size and a hash of its bytes.
[[nodiscard]] std::string version_of(const core::FileStamp& stamp, std::string_view bytes);

[[nodiscard]] inline std::string file_name(std::string_view id, std::string_view suffix) {
  return std::string(id).append(suffix);
}

// The valid id of a file name with this suffix; empty: it is none.
[[nodiscard]] std::string_view id_of(std::string_view file, std::string_view suffix);

[[nodiscard]] Status not_found(std::string_view id);
[[nodiscard]] Status conflict(std::string_view id);

class FileStore::Impl {
 public:
  explicit Impl(Options options);

  // For reading. nullopt: the directory, or the home, is not there.
  [[nodiscard]] Result<std::optional<core::PrivateDir>> open_dir(std::string_view name) const;
  [[nodiscard]] Result<StoredRecord> read_record(const core::PrivateDir& dir, std::string_view id,
                                                 core::FileKind hint) const;

  enum class Missing : std::uint8_t { kMake, kNotFound };
  // Opens the home for a change and takes the lock. A directory that was there and is no home is
  // refused as it is; a home becomes private once all else is done. Errors: kRefused, kDenied,
  // kNotFound, kTimeout, kCancelled, kIo.
  [[nodiscard]] Result<Change> begin(const Call& call, Missing missing) const;

  // A directory of the home beside running/, private.
  [[nodiscard]] Result<core::PrivateDir> make_dir(const Change& change,
                                                  std::string_view name) const;

  // Writes a new file beside the others and says its name.
  [[nodiscard]] Result<std::string> stage(const core::PrivateDir& dir, std::string_view bytes,
                                          const core::PrivateDir::CreateOptions& options) const;

  // Takes `file` aside if it is of this version, and compares it once more: a foreign writer takes
  // no lock. Errors: kNotFound, kConflict (it stands where it stood), kIo.
  enum class Compare : std::uint8_t { kAll, kAllButCtime };
  [[nodiscard]] Result<Aside> take_aside(const Change& change, const std::string& file,
                                         std::string_view version,
                                         Compare compare = Compare::kAll) const;
  // remove_if() and remove_own_if().
  [[nodiscard]] Status remove_record(std::string_view name, std::string_view version,
                                     Compare compare, const Call& call) const;
  // Puts it back. Where another file stands there by now, that one stays, and the one that was
  // aside goes to quarantine/: nothing is lost.
  void put_back(const Change& change, std::string_view aside, std::string_view file) const;
  // Swaps `staged` with `file`, and back if what came out is not `judged`. On success `staged` is
  // gone; on failure `file` is what it was or newer. Errors: kConflict, kUnsupported, kNotFound.
  [[nodiscard]] Status swap_in(const Change& change, const std::string& staged,
                               const std::string& file, const core::FileContent& judged) const;
  // As above, for a `file` that is a symbolic link; its target is left alone.
  [[nodiscard]] Status replace_link(const Change& change, const std::string& staged,
                                    const std::string& file) const;
  // Puts back what a killed process had taken aside.
  void recover(const Change& change) const;

  // Removes <id>.control along with a record that was just removed. Who registers under the same id
  // at this moment has written a token before its record; its record then finds the old one gone
  // (kNotFound, kConflict), and its registration begins anew or fails.
  void remove_control_with(const Change& change, std::string_view id) const;

  [[nodiscard]] Status move_to_quarantine(const Change& change, std::string_view from,
                                          std::string_view file, std::string* moved_to) const;
  void bound_quarantine(const core::PrivateDir& quarantine) const;

  void step(std::string_view name) const {
    if (options.before_step) options.before_step(name);
  }
  [[nodiscard]] std::int64_t now_unix_ns() const { return options.clock->unix_ns(); }

  // `came_out_as_expected` looks at what stands under `staged` once the names are swapped.
  [[nodiscard]] Status swap_in(const Change& change, const std::string& staged,
                               const std::string& file,
                               const std::function<bool()>& came_out_as_expected) const;

  Options options;
  std::uint64_t owner = 0;
  mutable std::mutex mutex;  // guards the two below
  std::optional<ProcessIdentity> writer;
  std::optional<std::int64_t> gone_swept_ns;
};

}  // namespace rollcall
