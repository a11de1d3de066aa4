// Which files may become code of this process. Constructors run while a library is being loaded,
// so this is settled before.
//
// A file is trusted when it is a regular file, not a symbolic link, and it and every folder above
// it belong to root or to the effective user and can be written by nobody else. A root-owned
// sticky folder (/tmp) may stand above a folder that obeys the rule. Folders are walked from the
// root by descriptor, so that nothing checked can be exchanged under the check by anybody but root
// and ourselves, whom these rules trust anyway.
//
// On Windows the owner is the current user, SYSTEM, the Administrators or TrustedInstaller, and no
// entry of the access list gives anybody else a right to write, delete or take over. Above the
// plugin's own folder others may add, as everybody may to the root of a disk, and not exchange.
// Paths are walked from the drive down: what stood the check, nobody else can put another in place
// of. No reparse point is passed, and the disk is this machine's own.
#pragma once

#include <cstddef>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/result.hpp"

namespace rollcall::loader {

struct TrustRules {
  bool accept_untrusted = false;  // the loud flag: owners and modes are not looked at
};

// A plugin's library or manifest, held open. Move-only.
class TrustedFile {
 public:
  TrustedFile(TrustedFile&&) noexcept;
  TrustedFile& operator=(TrustedFile&&) noexcept;
  ~TrustedFile();

  [[nodiscard]] const std::string& path() const;  // absolute, canonical
  // The whole file. Errors: kTooLarge, kIo.
  [[nodiscard]] Result<std::string> read(std::size_t limit) const;
  // Whether the path still leads to this very file. Asked again after a library was loaded by its
  // path. (Loading through /proc/self/fd would name the library after a descriptor number, by
  // which the dynamic linker would then take the next one for the same, and would break $ORIGIN.)
  // Errors: kDenied: it was exchanged.
  [[nodiscard]] Status still_there() const;

 private:
  friend class TrustedFolder;
  struct State;
  explicit TrustedFile(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// A folder of plugins, walked and held open. Move-only. Threads: one at a time.
class TrustedFolder {
 public:
  TrustedFolder(TrustedFolder&&) noexcept;
  TrustedFolder& operator=(TrustedFolder&&) noexcept;
  ~TrustedFolder();

  // `path` is absolute; links above its end are resolved first, and what they lead to is walked.
  // Errors: kNotFound, kInvalid (relative), kDenied (with the folder, its fault and the command
  // that mends it), kIo.
  [[nodiscard]] static Result<TrustedFolder> open(const std::string& path, const TrustRules& rules);

  [[nodiscard]] const std::string& path() const;  // absolute, canonical
  // Names in the folder, in byte order. Errors: kIo.
  [[nodiscard]] Result<std::vector<std::string>> list() const;
  // Opens a file of the folder; never blocks and opens nothing but regular files.
  // Errors: kNotFound, kInvalid (the name), kDenied, kIo.
  [[nodiscard]] Result<TrustedFile> open_file(std::string_view name) const;

 private:
  struct State;
  explicit TrustedFolder(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// The names in a folder that is not trusted, so that what was refused can be listed. Nothing is
// opened but the folder itself. Empty where it cannot be read.
[[nodiscard]] std::vector<std::string> peek_names(const std::string& path);

// The canonical form of a folder's path; empty where there is none.
[[nodiscard]] std::string canonical_folder(const std::string& path);

}  // namespace rollcall::loader
