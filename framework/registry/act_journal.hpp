// What the journal is told of one act on a session. Not installed.
#pragma once

#include <vector>

#include "registry/registry_impl.hpp"
#include "rollcall/journal.hpp"

namespace rollcall::registry {

// Threads: one.
class ActJournal {
 public:
  // Reads who asks. `impl` and `view` outlive it.
  ActJournal(const Registry::Impl& impl, const SessionView& view, const StopOptions& asked,
             std::vector<Signal> planned, const Call& call);

  // That it is asked for; before anything is sent, so that who asked is known whatever becomes of
  // the asking process. Takes a moment at most, and where it fails the act goes on.
  void begin(const Call& call) const;
  // What came of it. Where this fails, `report.journal_problem` says why.
  void settle(StopReport& report) const;

 private:
  const Registry::Impl& impl_;
  Event event_;  // what is the same in both
};

}  // namespace rollcall::registry
