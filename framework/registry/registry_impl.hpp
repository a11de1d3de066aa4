// What the halves of Registry share. Not installed.
#pragma once

#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "doors/gate.hpp"
#include "rollcall/registry.hpp"

namespace rollcall {

class Registry::Impl {
 public:
  explicit Impl(Options options) : options_(std::move(options)) {}

  [[nodiscard]] const Options& options() const { return options_; }
  [[nodiscard]] Result<Here> here(const Call& call) const;
  // Whether this store may be cleaned by what was found in it.
  [[nodiscard]] bool may_prune() const;

  // A session's record, read anew, without readings yet. kNotFound, kUnreadable, kCorrupt, kInvalid
  // (the id).
  [[nodiscard]] Result<SessionView> read(std::string_view session_id, const Call& call) const;

  // Layers 1 and 2 for every view, in one batch: fills read, process, probe_plugin, read_unix_ns.
  [[nodiscard]] Status observe(std::span<SessionView* const> views, std::uint32_t extra_wants,
                               const Here& here, const Call& call) const;
  // Whether the store's time guard has a say over a record: it names no start token.
  [[nodiscard]] bool is_guarded(const ProcessIdentity& recorded) const;
  // classify(), and the guard's verdict; reads the process's command where that matters. `read` has
  // kWantStartToken and kWantAge.
  [[nodiscard]] Classification guarded_verdict(const Record& record, const Observation& read,
                                               const Here& here, const Call& call) const;

  // Asks the door of an observed session that is Alive to end it, within `total_ns`.
  [[nodiscard]] DoorReading ask_to_stop(const SessionView& view, const std::string& reason,
                                        std::int64_t total_ns, const Here& here,
                                        const Call& call) const;

  // Layer 3 for those that are Alive, have a door and are not suspended; then the verdicts.
  void finish(std::span<SessionView* const> views, bool ask_doors, const Here& here,
              const Call& call) const;

  // Reads once more, and removes the record only where the new reading too says Gone, and not by
  // time alone. True: removed. kConflict and kNotFound: somebody else changed it meanwhile.
  [[nodiscard]] Result<bool> remove_gone(SessionView& view, const Here& here,
                                         const Call& call) const;

 private:
  [[nodiscard]] DoorContext door_context() const;
  [[nodiscard]] DoorQuestion question_of(const SessionView& view, const Here& here) const;
  // Whether a new reading is of the process that `view` was judged by.
  [[nodiscard]] bool is_same(const SessionView& view, const Observation& now,
                             const Here& here) const;
  void lower_by_second_opinion(std::span<SessionView* const> views, const Here& here,
                               const Call& call) const;

  Options options_;
};

}  // namespace rollcall
