#include "rollcall/process_dirs.hpp"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "core/paths.hpp"
#include "core/private_files.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "liveness/machine.hpp"

namespace rollcall {
namespace {

using core::PrivateDir;

constexpr std::string_view kDigits = "0123456789";
constexpr std::string_view kAsidePrefix = ".swept~";
constexpr std::size_t kFraction = 6;

bool is_plain_decimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of(kDigits) == std::string_view::npos &&
         (text.size() == 1 || text.front() != '0');
}

// Linux: ticks; Windows: a FILETIME; macOS: seconds, a point and six digits.
bool is_start(std::string_view text) {
  const auto point = text.find('.');
  if (point == std::string_view::npos) return is_plain_decimal(text);
  const auto fraction = text.substr(point + 1);
  return is_plain_decimal(text.substr(0, point)) && fraction.size() == kFraction &&
         fraction.find_first_not_of(kDigits) == std::string_view::npos;
}

bool is_boot_id(std::string_view text) {
  return !text.empty() && std::ranges::all_of(text, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') || c == '-';
  });
}

// The NAME of ".swept~NAME~RANDOM"; any other name as it is.
std::string_view own_name(std::string_view name) {
  if (!name.starts_with(kAsidePrefix)) return name;
  const auto tilde = name.rfind('~');
  if (tilde < kAsidePrefix.size()) return name;
  return name.substr(kAsidePrefix.size(), tilde - kAsidePrefix.size());
}

// A folder that was found, and what is to become of it.
struct Candidate {
  std::string file;  // as it stands in the directory
  SweptDir shown;
  ProcessIdentity identity;
  core::FileStamp stamp;
};

SweptDir with_reason(SweptDir shown, std::string reason) {
  shown.code = Reason::kNone;
  shown.reason = std::move(reason);
  return shown;
}

class Sweeper {
 public:
  Sweeper(const PrivateDir& dir, ProcessProbe& probe, Here here, const Call& call)
      : dir_(dir), probe_(probe), here_(std::move(here)), call_(call) {}

  Result<DirSweep> run(bool dry_run) {
    auto candidates = find();
    if (!candidates) return tl::unexpected(candidates.error());
    for (Candidate& candidate : *candidates) {
      const bool gone = is_gone(candidate);
      if (gone && !dry_run) {
        remove(candidate);
      } else {
        (gone ? sweep_.removed : sweep_.kept).push_back(std::move(candidate.shown));
      }
    }
    return std::move(sweep_);
  }

 private:
  // Everything of the right shape, by name; what is no folder is kept.
  Result<std::vector<Candidate>> find() {
    std::vector<Candidate> found;
    const auto looked = dir_.each([&](const core::DirEntry& entry) {
      const std::string_view name = own_name(entry.name);
      if (auto identity = parse_process_dir(name)) {
        Candidate candidate;
        candidate.file = std::string(entry.name);
        candidate.shown.name = std::string(name);
        candidate.shown.pid = identity->pid;
        candidate.identity = std::move(*identity);
        found.push_back(std::move(candidate));
      }
      return true;
    });
    if (!looked) return tl::unexpected(looked.error());
    std::ranges::sort(found, {}, &Candidate::file);
    std::erase_if(found, [&](Candidate& candidate) { return !is_folder(candidate); });
    return found;
  }

  bool is_folder(Candidate& candidate) {
    const auto stamp = dir_.stat(candidate.file);
    if (!stamp && stamp.error().code == ErrorCode::kNotFound) return false;  // it went meanwhile
    if (stamp && stamp->kind == core::FileKind::kDirectory) {
      candidate.stamp = *stamp;
      return true;
    }
    sweep_.kept.push_back(
        with_reason(std::move(candidate.shown),
                    stamp ? fmt::format("it is {}, not a directory", core::describe(stamp->kind))
                          : stamp.error().message));
    return false;
  }

  // Whether its process is proven gone now; says so in `shown`.
  bool is_gone(Candidate& candidate) {
    const auto judged = judge_process(probe_, candidate.identity, here_, call_);
    if (!judged) {
      candidate.shown.code = Reason::kUnreadable;
      candidate.shown.reason = judged.error().message;
      return false;
    }
    candidate.shown.code = judged->process.reason;
    candidate.shown.reason = reason_text(judged->process, candidate.identity, judged->read, here_);
    if (judged->process.state == ProcessState::kAlive) {
      candidate.shown.reason = fmt::format("pid {} runs", candidate.identity.pid);
    }
    return judged->process.state == ProcessState::kGone;
  }

  void keep(const Candidate& candidate, std::string why) {
    sweep_.kept.push_back(with_reason(candidate.shown, std::move(why)));
  }

  // Taken aside first: a process that gets the pid from here on finds no folder of that name, and
  // one that got it before shows in the second reading.
  void remove(Candidate& candidate) {
    const SweptDir verdict = candidate.shown;
    const auto random = core::random_u64();
    if (!random) return keep(candidate, random.error().message);
    const std::string aside =
        fmt::format("{}{}~{:016x}", kAsidePrefix, candidate.shown.name, *random);
    if (auto moved = dir_.rename_new(candidate.file, dir_, aside); !moved) {
      if (moved.error().code == ErrorCode::kNotFound) return;  // another sweep was first
      return keep(candidate, fmt::format("cannot take it aside: {}", moved.error().message));
    }
    if (!is_gone(candidate)) {
      put_back(candidate, aside);
      sweep_.kept.push_back(candidate.shown);
      return;
    }
    if (auto removed = dir_.remove_tree(aside, candidate.stamp); !removed) {
      put_back(candidate, aside);
      return keep(candidate, named(std::move(removed.error().message), aside, candidate));
    }
    sweep_.removed.push_back(verdict);
  }

  // Under its own name, also where a killed sweep had left it aside. Where another folder stands
  // there by now it stays aside, and the next sweep judges it again.
  void put_back(const Candidate& candidate, const std::string& aside) {
    static_cast<void>(dir_.rename_new(aside, dir_, candidate.shown.name));
  }

  // A message about what was aside, by the name under which it stands again.
  static std::string named(std::string message, const std::string& aside,
                           const Candidate& candidate) {
    if (const auto at = message.find(aside); at != std::string::npos) {
      message.replace(at, aside.size(), candidate.shown.name);
    }
    return message;
  }

  const PrivateDir& dir_;
  ProcessProbe& probe_;
  Here here_;
  const Call& call_;
  DirSweep sweep_;
};

}  // namespace

Result<std::string> format_process_dir(const ProcessIdentity& identity) {
  const std::string boot = identity.boot_id.value_or("");
  std::string name = fmt::format("{}-{}@{}", identity.pid, identity.start_token, boot);
  const auto read = parse_process_dir(name);
  if (read && read->start_token == identity.start_token && read->boot_id == identity.boot_id) {
    return name;
  }
  const bool missing = identity.start_token.empty() || boot.empty();
  return fail(missing ? ErrorCode::kUnreadable : ErrorCode::kInvalid,
              fmt::format("no folder can be named for pid {}: its {}", identity.pid,
                          missing ? "start time or boot id is not known"
                                  : "identity has parts that no such name can hold"));
}

std::optional<ProcessIdentity> parse_process_dir(std::string_view name) {
  const auto dash = name.find('-');
  if (dash == std::string_view::npos) return std::nullopt;
  const std::string_view digits = name.substr(0, dash);
  std::string_view start = name.substr(dash + 1);
  ProcessIdentity identity;
  if (const auto at = start.find('@'); at != std::string_view::npos) {
    const std::string_view boot = start.substr(at + 1);
    if (!is_boot_id(boot)) return std::nullopt;
    identity.boot_id = std::string(boot);
    start = start.substr(0, at);
  }
  if (!is_plain_decimal(digits) || !is_start(start)) return std::nullopt;
  const auto [end, error] =
      std::from_chars(digits.data(), digits.data() + digits.size(), identity.pid);
  if (error != std::errc{} || end != digits.data() + digits.size() ||
      !is_possible_pid(identity.pid)) {
    return std::nullopt;
  }
  if (start != "0") identity.start_token = std::string(start);
  return identity;
}

Result<DirSweep> sweep_process_dirs(const std::string& path, const DirSweepOptions& options,
                                    ProcessProbe& probe, const Call& call) {
  const std::string clean = core::clean_path(path);
  const auto dir = PrivateDir::open_any(clean, PrivateDir::Links::kRefuse);
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) return DirSweep{};
  const HomeKind home = core::is_on_local_file_system(clean) ? HomeKind::kLocal : HomeKind::kShared;
  auto here = read_here(probe, home, call);
  if (!here) return tl::unexpected(here.error());
  return Sweeper(**dir, probe, std::move(*here), call).run(options.dry_run);
}

}  // namespace rollcall
