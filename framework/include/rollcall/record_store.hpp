// Where records are kept. The built-in store keeps files; plugins may keep them elsewhere.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/call.hpp"
#include "rollcall/result.hpp"

namespace rollcall {

// One entry as it was read, judged or not.
struct StoredRecord {
  std::string name;     // the session id that the store keeps it under
  std::string version;  // opaque; changes whenever the entry does (files: inode, ctime, bytes)
  std::string bytes;
  std::optional<std::uint64_t> owner_uid;
  std::string problem;  // non-empty: it is there and could not be read, and why
};

// A directory of this machine that shows every change of a store: in it, something changes with
// each.
struct StorePlace {
  std::string dir;             // absolute
  bool names_are_ids = false;  // its entries are "<id>.json", and nothing else is
};

// Threads: any.
class ROLLCALL_API RecordStore {
 public:
  virtual ~RecordStore() = default;
  [[nodiscard]] virtual std::string id() const = 0;
  // Newest first: names in descending byte order. A missing store is empty; an unusable one, or
  // one whose reading fails half-way, is an error that names the path and the reason.
  [[nodiscard]] virtual Result<std::vector<StoredRecord>> list(const Call& call) = 0;
  // kNotFound where there is none.
  [[nodiscard]] virtual Result<StoredRecord> read(std::string_view name, const Call& call) = 0;
  [[nodiscard]] virtual Status create_if_absent(std::string_view name, std::string_view bytes,
                                                const Call& call) = 0;  // kExists
  [[nodiscard]] virtual Status replace_if(std::string_view name, std::string_view version,
                                          std::string_view bytes,
                                          const Call& call) = 0;  // kConflict
  [[nodiscard]] virtual Status remove_if(std::string_view name, std::string_view version,
                                         const Call& call) = 0;  // kConflict, kNotFound
  // nullopt: it cannot be watched, only read again.
  [[nodiscard]] virtual std::optional<StorePlace> place() const { return std::nullopt; }
};

}  // namespace rollcall
