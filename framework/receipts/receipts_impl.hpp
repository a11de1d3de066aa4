// The inside of Receipts: reading all or one, judging, removing.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rollcall/receipts.hpp"

namespace rollcall {

namespace receipts {

// A receipt, the file that it stands in, and the verdict on its process. The token is not in it.
struct Entry {
  Receipt receipt;
  StoredRecord stored;
  Classification process;
  std::string reason;  // empty when Alive
};

// What the removals of one call share. A lock that somebody else holds is waited for once: then
// `waited` says so, and nothing more is tried.
struct Removal {
  std::vector<std::string>& warnings;
  std::optional<Error> waited;
};

[[nodiscard]] ReceiptView view_of(const Entry& entry);

}  // namespace receipts

class Receipts::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {}

  [[nodiscard]] const Options& options() const { return options_; }

  // The calling process, whole; the store names it in what it stages from here on.
  [[nodiscard]] Result<ProcessIdentity> self(const Call& call) const;

  // Layers 1 and 2 for all of them, in one batch. Returns this machine.
  [[nodiscard]] Result<Here> judge(std::span<receipts::Entry> entries, const Call& call) const;

  struct Found {
    Here here;
    std::vector<receipts::Entry> entries;  // newest first, then by id
    ReceiptList list;                      // its `broken`
  };
  [[nodiscard]] Result<Found> read_all(const Call& call) const;

  // Reads once more, and removes the receipt only where the new reading too says Gone. False: it
  // stays, and where that is no matter of course `removal.warnings` says why.
  [[nodiscard]] bool remove_gone(receipts::Entry& entry, const Here& here,
                                 receipts::Removal& removal, const Call& call) const;

  // Whether there was one.
  [[nodiscard]] Result<bool> forget(const std::string& id, const Call& call) const;

  void quarantine(ReceiptList& list, bool dry_run, const Call& call) const;
  void sweep_leftovers(const Here& here, std::vector<std::string>& warnings,
                       const Call& call) const;

 private:
  Options options_;
};

}  // namespace rollcall
