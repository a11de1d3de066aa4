// Who owns an object of Windows, and who may do what to it. For *_windows.cpp files only.
// Threads: any.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <windows.h>
// After windows.h:
#include <accctrl.h>

#include "rollcall/result.hpp"

namespace rollcall::core {

// A copy of a security identifier.
class Sid {
 public:
  Sid() = default;
  explicit Sid(PSID sid);  // copies; nullptr or an invalid one: empty

  [[nodiscard]] bool empty() const { return bytes_.empty(); }
  [[nodiscard]] PSID get() const {
    return bytes_.empty() ? nullptr : const_cast<std::byte*>(bytes_.data());
  }
  // "S-1-5-21-...": for messages and for comparing texts.
  [[nodiscard]] std::string text() const;
  // A number made of the whole identifier, for equality only: the same on each run, below 2^63.
  [[nodiscard]] std::uint64_t number() const;

  friend bool operator==(const Sid& a, const Sid& b) { return a.bytes_ == b.bytes_; }

 private:
  std::vector<std::byte> bytes_;
};

// The user that this process runs as: of the thread's token where it impersonates one. Errors: kIo.
[[nodiscard]] Result<Sid> current_user();

// What a new object is created with, so that nobody but the user may touch it: owned by the user's
// own SID, one entry that gives that SID everything, and nothing inherited from the folder (the
// list is protected). The handle that is created with it is not inherited by children.
class OwnerOnly {
 public:
  enum class For : std::uint8_t {
    kObject,     // a file, a pipe, an event, ...
    kDirectory,  // what is made below it by others inherits the entry
  };
  // Errors: kIo.
  [[nodiscard]] static Result<OwnerOnly> make(For what = For::kObject);
  OwnerOnly(OwnerOnly&&) noexcept;
  OwnerOnly& operator=(OwnerOnly&&) noexcept;
  ~OwnerOnly();

  // For CreateFileW and its like; lives as long as this object.
  [[nodiscard]] SECURITY_ATTRIBUTES* attributes() const;
  [[nodiscard]] PSECURITY_DESCRIPTOR descriptor() const;
  [[nodiscard]] PACL list() const;

 private:
  struct Impl;
  explicit OwnerOnly(std::unique_ptr<Impl> impl);
  std::unique_ptr<Impl> impl_;
};

// Whose an open object is. The system's own: SYSTEM, the Administrators group and TrustedInstaller,
// who can take any object whatever its list says.
enum class OwnedBy : std::uint8_t { kUser, kSystem, kOther };

// What somebody other than the user and the system is given.
struct Grant {
  std::string who;          // for a message: "Everyone", or "S-1-5-..."
  ACCESS_MASK rights = 0;   // generic ones mapped to those of files
  bool only_below = false;  // not on the object itself, but on what is made below it
  std::string sid;          // "S-1-1-0"; empty for an entry of a kind that is not known
};

struct Access {
  Sid owner;
  OwnedBy owned_by = OwnedBy::kOther;
  std::vector<Grant> others;  // in the list's order; denials are not counted against them
};

// Rights over a file or folder by which it can be made another: written, deleted, taken over.
inline constexpr ACCESS_MASK kWriteRights = FILE_WRITE_DATA | FILE_APPEND_DATA | FILE_WRITE_EA |
                                            FILE_WRITE_ATTRIBUTES | FILE_DELETE_CHILD | DELETE |
                                            WRITE_DAC | WRITE_OWNER;
// Those of them by which what is in a folder already can be exchanged. Adding to a folder is none:
// everybody may add folders to the root of a disk.
inline constexpr ACCESS_MASK kExchangeRights = FILE_DELETE_CHILD | DELETE | WRITE_DAC | WRITE_OWNER;

// What an open object's owner and list say; no list gives Everyone everything. `handle` was opened
// with READ_CONTROL. Errors: kUnreadable.
[[nodiscard]] Result<Access> read_access(HANDLE handle, SE_OBJECT_TYPE type = SE_FILE_OBJECT);

// Who of the others has one of `rights` on the object itself; empty: nobody.
[[nodiscard]] std::string other_with(const Access& access, ACCESS_MASK rights);

// For a message: "Everyone" and a few other known groups, else the text of the SID. Never asks a
// server, as looking a name up would.
[[nodiscard]] std::string account_name(const Sid& sid);

}  // namespace rollcall::core
