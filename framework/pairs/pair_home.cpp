// A directory of pairs: reading it, and re-binding a controller under a lock.
#include <algorithm>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "core/paths.hpp"
#include "core/private_files.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "liveness/machine.hpp"
#include "pairs/boot_seconds.hpp"
#include "pairs/pair_files.hpp"
#include "rollcall/pairs.hpp"
#include "rollcall/record.hpp"

namespace rollcall::pairs {
namespace {

constexpr std::string_view kLockFile = "pairs.lock";
constexpr std::int64_t kNsPerMs = 1'000'000;

tl::unexpected<Error> refuse_parent(std::int64_t pid, std::string_view why) {
  return fail(ErrorCode::kRefused, fmt::format("pid {} cannot be bound: {}", pid, why));
}

}  // namespace

class PairHome::Impl {
 public:
  explicit Impl(Options its_options) : options_(std::move(its_options)) {}

  // nullopt: there is no such directory.
  [[nodiscard]] Result<std::optional<core::PrivateDir>> open_dir() const {
    return core::PrivateDir::open(options_.dir,
                                  options_.expect_owner.value_or(core::current_owner()));
  }
  [[nodiscard]] Result<Here> here(const Call& call) const {
    return read_here(*options_.probe, home_kind(), call);
  }
  // Fills in the verdicts of all sentinels, with one reading of the processes.
  [[nodiscard]] Status judge(const std::vector<SentinelFact*>& sentinels, const Here& here,
                             const Call& call) const;
  // The facts of one pair, judged. kNotFound: nothing of it is there.
  [[nodiscard]] Result<PairFacts> facts_of(const core::PrivateDir& dir, std::string_view id,
                                           const Here& here, const Call& call) const;
  [[nodiscard]] PairView view_of(std::string_view id, const PairFacts& facts) const {
    const std::int64_t now = options_.clock->unix_ns();
    return {std::string(id), decide_terminal(facts, now), decide_controller(facts, now)};
  }
  [[nodiscard]] Result<RebindReport> rebind_locked(const core::PrivateDir& dir, std::string_view id,
                                                   std::optional<std::int64_t> parent_pid,
                                                   const Call& call) const;
  [[nodiscard]] const Options& options() const { return options_; }

 private:
  [[nodiscard]] HomeKind home_kind() const;
  [[nodiscard]] Result<ProcessIdentity> parent_identity(std::optional<std::int64_t> pid,
                                                        const ProcessIdentity& self,
                                                        const Call& call) const;
  [[nodiscard]] Result<std::int64_t> parent_of(std::int64_t pid, const Call& call) const;
  [[nodiscard]] Status bind(const core::PrivateDir& dir, std::string_view id,
                            const ProcessIdentity& parent) const;
  void step(std::string_view name) const {
    if (options_.before_step) options_.before_step(name);
  }

  Options options_;
};

HomeKind PairHome::Impl::home_kind() const {
  return core::is_on_local_file_system(options_.dir) ? HomeKind::kLocal : HomeKind::kShared;
}

Status PairHome::Impl::judge(const std::vector<SentinelFact*>& sentinels, const Here& here,
                             const Call& call) const {
  if (sentinels.empty()) return {};
  std::vector<Ask> asks;
  for (const SentinelFact* fact : sentinels) {
    asks.push_back({fact->identity->pid, wants_for(*fact->identity)});
  }
  std::vector<Observation> read(asks.size());
  if (auto status = options_.probe->observe(asks, read, call); !status) {
    return wrap("cannot read processes", status.error());
  }
  const auto boot = options_.boot_seconds ? options_.boot_seconds() : boot_seconds();
  for (std::size_t i = 0; i < sentinels.size(); ++i) {
    auto verdict = judge_sentinel(*sentinels[i]->identity, read[i], here, boot);
    sentinels[i]->verdict = verdict.state;
    sentinels[i]->reason = std::move(verdict.reason);
  }
  return {};
}

Result<PairFacts> PairHome::Impl::facts_of(const core::PrivateDir& dir, std::string_view id,
                                           const Here& here, const Call& call) const {
  const auto entries = list_entries(dir);
  if (!entries) return tl::unexpected(entries.error());
  const auto found = entries->find(id);
  if (found == entries->end()) return PairFacts{};
  PairFacts facts = read_facts(dir, id, found->second, options_.keys);
  if (auto judged = judge(sentinels_of(facts), here, call); !judged) {
    return tl::unexpected(judged.error());
  }
  return facts;
}

Result<std::int64_t> PairHome::Impl::parent_of(std::int64_t pid, const Call& call) const {
  const auto text = options_.probe->read(pid, ReadWhat::kParent, call);
  if (!text) {
    return fail(ErrorCode::kUnreadable,
                fmt::format("our own parent could not be read: {}", text.error().message));
  }
  std::int64_t parent = 0;
  const auto [end, error] = std::from_chars(text->data(), text->data() + text->size(), parent);
  if (error != std::errc{} || end != text->data() + text->size()) {
    return fail(ErrorCode::kUnreadable, "our own parent could not be read: it is no number");
  }
  return parent;
}

// The identity that a sentinel of it holds. A parent of ours is asked for twice: one that went
// away in between leaves us to another.
Result<ProcessIdentity> PairHome::Impl::parent_identity(std::optional<std::int64_t> pid,
                                                        const ProcessIdentity& self,
                                                        const Call& call) const {
  const bool ours = !pid;
  if (ours) {
    const auto parent = parent_of(self.pid, call);
    if (!parent) return tl::unexpected(parent.error());
    pid = *parent;
  }
  if (*pid == 1 || !is_possible_pid(*pid)) {
    return refuse_parent(*pid, "whoever started this is gone, or it is the system's own process");
  }
  if (*pid == self.pid) return refuse_parent(*pid, "it is this very process");
  Observation reads[2];
  const Ask asks[] = {{*pid, kWantStartToken | kWantAge}, {self.pid, kWantStartToken | kWantAge}};
  if (auto status = options_.probe->observe(asks, reads, call); !status) {
    return fail(ErrorCode::kUnreadable,
                fmt::format("pid {} could not be read: {}", *pid, status.error().message));
  }
  const Observation& read = reads[0];
  if (read.presence == Presence::kAbsent || read.presence == Presence::kExited) {
    return refuse_parent(*pid, "it is gone");
  }
  if (read.presence != Presence::kPresent || read.start_token.empty()) {
    return fail(ErrorCode::kUnreadable, fmt::format("pid {}'s start time could not be read{}{}",
                                                    *pid, read.reason.empty() ? "" : ": ",
                                                    text::for_terminal(read.reason.view())));
  }
  if (ours) {
    const auto again = parent_of(self.pid, call);
    if (!again) return tl::unexpected(again.error());
    // A parent is older than its child; a younger process holds the pid of one that is gone.
    const bool younger = read.age_ns && reads[1].age_ns && *read.age_ns < *reads[1].age_ns;
    if (*again != *pid || younger) return refuse_parent(*pid, "it is gone");
  }
  ProcessIdentity identity;
  identity.pid = *pid;
  identity.boot_id = self.boot_id;
  identity.start_token = std::string(read.start_token.view());
  return identity;
}

// Writes the sentinel beside its name and puts it there in one step, then takes away what says that
// the one before has ended.
Status PairHome::Impl::bind(const core::PrivateDir& dir, std::string_view id,
                            const ProcessIdentity& parent) const {
  const auto sentinel = format_sentinel(parent);
  if (!sentinel) return tl::unexpected(sentinel.error());
  const auto random = core::random_u64();
  if (!random) return tl::unexpected(random.error());
  const std::string file = file_name_of(id, PairFile::kControllerPid);
  const std::string staged = fmt::format(".{}.{:016x}.tmp", file, *random);
  step("stage");
  const auto made = dir.create(staged, *sentinel + "\n", {});
  if (!made) return tl::unexpected(made.error());
  step("rename");
  auto placed = dir.rename_over(staged, dir, file);
  if (!placed) {
    static_cast<void>(dir.remove(staged));
    return placed;
  }
  step("remove");
  for (const PairFile other : {PairFile::kControllerExited, PairFile::kDeadSeen}) {
    const auto removed = dir.remove(file_name_of(id, other));
    if (!removed && removed.error().code != ErrorCode::kNotFound) {
      return wrap("the controller is bound, but what says that the last one has ended is left",
                  removed.error());
    }
  }
  // Not made to last: what a crash of the machine undoes is of an earlier boot, and dead either
  // way.
  return {};
}

Result<RebindReport> PairHome::Impl::rebind_locked(const core::PrivateDir& dir, std::string_view id,
                                                   std::optional<std::int64_t> parent_pid,
                                                   const Call& call) const {
  const auto who = options_.probe->whoami(call);
  if (!who) return wrap("cannot read this machine's identity", who.error());
  const auto facts = facts_of(dir, id, here_of(*who, home_kind()), call);
  if (!facts) return tl::unexpected(facts.error());
  if (facts->record.state == FileState::kAbsent) return RebindReport{};
  if (facts->record.state == FileState::kUnreadable) {
    return fail(ErrorCode::kUnreadable, facts->record.problem);
  }
  if (!who->self.boot_id || who->self.boot_id->empty()) {
    return fail(ErrorCode::kUnreadable,
                fmt::format("the boot id could not be read: {}", who->boot_id_why));
  }
  const SideView controller = decide_controller(*facts, options_.clock->unix_ns());
  if (controller.state == Liveness::kAlive) {
    return RebindReport{RebindOutcome::kControllerAlive, controller.process};
  }
  if (controller.is_contradicted) {
    return fail(ErrorCode::kRefused,
                fmt::format("pair {} may have a controller, which cannot be told: {}", id,
                            controller.reason));
  }
  auto parent = parent_identity(parent_pid, who->self, call);
  if (!parent) return tl::unexpected(parent.error());
  if (auto bound = bind(dir, id, *parent); !bound) return tl::unexpected(bound.error());
  return RebindReport{RebindOutcome::kRebound, std::move(*parent)};
}

PairHome::PairHome(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
PairHome::~PairHome() = default;

Result<std::unique_ptr<PairHome>> PairHome::open(Options options) {
  if (!options.probe || !options.clock) {
    return fail(ErrorCode::kInvalid, "a home of pairs needs a process probe and a clock");
  }
  if (!core::is_absolute_path(options.dir)) {
    return fail(ErrorCode::kInvalid,
                fmt::format("the home of pairs must be an absolute path: {}", options.dir));
  }
  return std::unique_ptr<PairHome>(new PairHome(std::make_unique<Impl>(std::move(options))));
}

Result<PairList> PairHome::list(const Call& call) const {
  PairList list;
  const auto dir = impl_->open_dir();
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) return list;
  const auto machine = impl_->here(call);
  if (!machine) return tl::unexpected(machine.error());
  const auto entries = list_entries(**dir);
  if (!entries) return tl::unexpected(entries.error());
  std::vector<std::pair<std::string_view, PairFacts>> all;
  for (const auto& [id, files] : *entries) {
    PairFacts facts = read_facts(**dir, id, files, impl_->options().keys);
    if (facts.record.state == FileState::kUnreadable) {
      list.broken.push_back({file_name_of(id, PairFile::kRecord), facts.record.problem});
    }
    if (facts.record.state != FileState::kAbsent) all.emplace_back(id, std::move(facts));
  }
  std::vector<SentinelFact*> sentinels;
  for (auto& [id, facts] : all) {
    for (SentinelFact* fact : sentinels_of(facts)) sentinels.push_back(fact);
  }
  if (auto judged = impl_->judge(sentinels, *machine, call); !judged) {
    return tl::unexpected(judged.error());
  }
  for (const auto& [id, facts] : all) list.pairs.push_back(impl_->view_of(id, facts));
  return list;
}

Result<PairView> PairHome::show(std::string_view id, const Call& call) const {
  if (auto valid = check_session_id(id); !valid) return tl::unexpected(valid.error());
  const auto not_found = fail(ErrorCode::kNotFound, fmt::format("no pair {}", id));
  const auto dir = impl_->open_dir();
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) return not_found;
  const auto machine = impl_->here(call);
  if (!machine) return tl::unexpected(machine.error());
  const auto facts = impl_->facts_of(**dir, id, *machine, call);
  if (!facts) return tl::unexpected(facts.error());
  if (facts->record.state == FileState::kAbsent) return not_found;
  return impl_->view_of(id, *facts);
}

Result<RebindReport> PairHome::rebind(std::string_view id, std::optional<std::int64_t> parent_pid,
                                      const Call& call) const {
  if (auto valid = check_session_id(id); !valid) return tl::unexpected(valid.error());
  const auto dir = impl_->open_dir();
  if (!dir) return tl::unexpected(dir.error());
  // Before the lock, which leaves a file.
  if (!*dir) return RebindReport{};
  const auto record = (*dir)->stat(file_name_of(id, PairFile::kRecord));
  if (!record && record.error().code == ErrorCode::kNotFound) return RebindReport{};
  const Clock& clock = *impl_->options().clock;
  const std::int64_t until = clock.monotonic_ns() + impl_->options().lock_timeout_ms * kNsPerMs;
  const auto lock = (*dir)->lock(kLockFile, clock, std::min(until, call.deadline_ns), call.cancel);
  if (!lock) return tl::unexpected(lock.error());
  return impl_->rebind_locked(**dir, id, parent_pid, call);
}

}  // namespace rollcall::pairs
