// What the two sides of a pair are, from one reading of their files. Pure.
#include <algorithm>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "rollcall/pairs.hpp"

namespace rollcall::pairs {
namespace {

constexpr std::int64_t kNsPerS = 1'000'000'000;

bool exists(const FileFact& file) { return file.state != FileState::kAbsent; }

SideView side(Liveness state, std::string reason) {
  SideView view;
  view.state = state;
  view.reason = std::move(reason);
  return view;
}

// A file that is there and could not be read never counts as absent.
SideView contradicted(std::string problem) {
  SideView view = side(Liveness::kUnknown, std::move(problem));
  view.is_contradicted = true;
  return view;
}

// a - b, kept within what 64 bits hold.
constexpr std::int64_t difference(std::int64_t a, std::int64_t b) {
  const bool sinks = b > 0 && a < INT64_MIN + b;
  const bool soars = b < 0 && a > INT64_MAX + b;
  return sinks ? INT64_MIN : (soars ? INT64_MAX : a - b);
}

// `origin` says when the side began. `what` names that file.
SideView decide_by_origin(const FileFact& origin, std::string_view what, std::int64_t now_unix_ns) {
  if (origin.state == FileState::kUnreadable) return contradicted(origin.problem);
  if (origin.state == FileState::kAbsent) {
    return side(Liveness::kUnknown, "it has not written who it is, and nothing says when it began");
  }
  const std::int64_t age_ns = difference(now_unix_ns, origin.modified_unix_ns);
  if (age_ns < -kStartingNs) {
    return side(
        Liveness::kUnknown,
        fmt::format("it has not written who it is, and the time of {} lies in the future", what));
  }
  if (age_ns < kStartingNs) {
    return side(Liveness::kStarting,
                fmt::format("begun {} s ago", std::max<std::int64_t>(age_ns, 0) / kNsPerS));
  }
  return side(Liveness::kUnknown,
              fmt::format("begun {} s ago, and it has not written who it is", age_ns / kNsPerS));
}

const FileFact& wrapper_of(const GenerationFacts& generation) {
  return exists(generation.wrapper_sh) ? generation.wrapper_sh : generation.wrapper_ps1;
}

// Dead by its own word, or as its sentinel says. nullopt: neither file is there.
std::optional<SideView> decide_by_evidence(const FileFact& exited, const SentinelFact& sentinel) {
  std::optional<SideView> view;
  if (exited.state == FileState::kUnreadable) {
    view = contradicted(exited.problem);
  } else if (exited.state == FileState::kPresent) {
    view = side(Liveness::kDead, "it says that it has exited");
  } else if (sentinel.file.state == FileState::kUnreadable) {
    view = contradicted(sentinel.file.problem);
  } else if (sentinel.file.state == FileState::kPresent) {
    view = side(sentinel.verdict, sentinel.reason);
    view->is_contradicted = sentinel.verdict == Liveness::kUnknown;
  }
  if (view) view->process = sentinel.identity;
  return view;
}

SideView decide_generation(const GenerationFacts& generation, std::int64_t now_unix_ns) {
  if (auto view = decide_by_evidence(generation.exited, generation.tui_pid)) return *view;
  return decide_by_origin(wrapper_of(generation), "its wrapper", now_unix_ns);
}

// The facts of a generation; of one without a file, that there are none.
GenerationFacts facts_of(const PairFacts& facts, std::uint64_t number) {
  for (const GenerationFacts& generation : facts.generations) {
    if (generation.number == number) return generation;
  }
  GenerationFacts none;
  none.number = number;
  return none;
}

std::uint64_t used_generation(const PairFacts& facts) {
  if (exists(facts_of(facts, facts.generation).tui_pid.file)) return facts.generation;
  std::optional<std::uint64_t> highest;
  for (const GenerationFacts& generation : facts.generations) {
    if (exists(generation.tui_pid.file)) {
      highest = std::max(highest.value_or(0), generation.number);
    }
  }
  return highest.value_or(facts.generation);
}

// What the wanted generation says of itself where an older one is the last that wrote who it is.
std::optional<SideView> decide_by_wanted(const GenerationFacts& wanted, std::int64_t now_unix_ns) {
  if (exists(wanted.exited)) return decide_by_evidence(wanted.exited, {});
  if (!exists(wrapper_of(wanted))) return std::nullopt;
  SideView view = decide_by_origin(wrapper_of(wanted), "its wrapper", now_unix_ns);
  const bool counts = view.state == Liveness::kStarting || view.is_contradicted;
  return counts ? std::optional(std::move(view)) : std::nullopt;
}

}  // namespace

std::string_view to_text(Liveness state) {
  switch (state) {
    case Liveness::kUnknown:
      return "unknown";
    case Liveness::kNone:
      return "none";
    case Liveness::kStarting:
      return "starting";
    case Liveness::kAlive:
      return "alive";
    case Liveness::kDead:
      return "dead";
  }
  return "unknown";
}

std::string_view to_text(RebindOutcome outcome) {
  switch (outcome) {
    case RebindOutcome::kNoRecord:
      return "no_record";
    case RebindOutcome::kControllerAlive:
      return "controller_alive";
    case RebindOutcome::kRebound:
      return "rebound";
  }
  return "no_record";
}

SideView decide_terminal(const PairFacts& facts, std::int64_t now_unix_ns) {
  if (facts.record.state == FileState::kUnreadable) return contradicted(facts.record.problem);
  if (facts.record.state == FileState::kAbsent || !facts.has_tab) {
    return side(Liveness::kNone, {});
  }
  const std::uint64_t used = used_generation(facts);
  SideView view = decide_generation(facts_of(facts, used), now_unix_ns);
  view.generation = used;
  if (used == facts.generation || view.state == Liveness::kAlive) return view;
  auto wanted = decide_by_wanted(facts_of(facts, facts.generation), now_unix_ns);
  if (!wanted) return view;
  wanted->generation = facts.generation;
  return std::move(*wanted);
}

SideView decide_controller(const PairFacts& facts, std::int64_t now_unix_ns) {
  if (auto view = decide_by_evidence(facts.controller_exited, facts.controller_pid)) return *view;
  if (exists(facts.resume_lock)) {
    return decide_by_origin(facts.resume_lock, "its resume-lock", now_unix_ns);
  }
  if (facts.record.state == FileState::kUnreadable) return contradicted(facts.record.problem);
  if (facts.record.state == FileState::kAbsent || !facts.has_controller) {
    return side(Liveness::kNone, {});
  }
  return decide_by_origin(facts.record, "the record", now_unix_ns);
}

}  // namespace rollcall::pairs
