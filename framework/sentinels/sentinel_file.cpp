#include "rollcall/sentinel.hpp"

#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "core/private_files.hpp"
#include "core/random.hpp"
#include "core/text.hpp"
#include "liveness/machine.hpp"

namespace rollcall {
namespace {

constexpr std::size_t kMaxBytes = 4096;
constexpr int kAttempts = 16;  // as often as others may come in between

using core::PrivateDir;

struct Place {
  PrivateDir dir;
  std::string name;
};

// Folder and name; nullopt: it names no file.
std::optional<std::pair<std::string, std::string>> split(const std::string& path) {
  try {
    const std::filesystem::path file(std::u8string(path.begin(), path.end()));
    const std::u8string name = file.filename().u8string();
    const std::u8string folder = file.parent_path().u8string();
    if (name.empty() || name == u8"." || name == u8".." || path.find('\0') != std::string::npos) {
      return std::nullopt;
    }
    return std::pair(folder.empty() ? std::string(".") : std::string(folder.begin(), folder.end()),
                     std::string(name.begin(), name.end()));
  } catch (const std::system_error&) {
    return std::nullopt;  // Windows: it is not UTF-8
  }
}

// The folder of a file and its name in it. nullopt: there is no such folder.
Result<std::optional<Place>> place_of(const std::string& path) {
  const auto parts = split(path);
  if (!parts) {
    return fail(ErrorCode::kInvalid, fmt::format("'{}' names no file", text::for_terminal(path)));
  }
  const auto& [folder, name] = *parts;
  auto dir = PrivateDir::open_any(folder, PrivateDir::Links::kFollow);
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) return std::optional<Place>();
  return std::optional(Place{std::move(**dir), name});
}

SentinelReport unknown(std::string why) {
  return {SentinelState::kUnknown, Reason::kUnreadable, std::move(why), std::nullopt};
}

// The verdict on a file's content; `path` tells what file system it is on.
SentinelReport judge(std::string_view bytes, const std::string& path, ProcessProbe& probe,
                     const Call& call) {
  auto identity = parse_sentinel(bytes);
  if (!identity) return unknown(identity.error().message);
  const HomeKind home = core::is_on_local_file_system(path) ? HomeKind::kLocal : HomeKind::kShared;
  const auto here = read_here(probe, home, call);
  const auto judged = here ? judge_process(probe, *identity, *here, call)
                           : Result<Judged>(tl::unexpected(here.error()));
  if (!judged) {
    auto report = unknown(judged.error().message);
    report.identity = std::move(*identity);
    return report;
  }
  SentinelReport report;
  report.code = judged->process.reason;
  report.reason = reason_text(judged->process, *identity, judged->read, *here);
  report.identity = std::move(*identity);
  switch (judged->process.state) {
    case ProcessState::kAlive:
      report.state = SentinelState::kAlive;
      break;
    case ProcessState::kGone:
      report.state = SentinelState::kDead;
      break;
    case ProcessState::kUnverified:
      report.state = SentinelState::kUnknown;
      break;
  }
  return report;
}

// What stands in the place of a sentinel.
struct Standing {
  SentinelReport report;
  core::FileKind kind = core::FileKind::kUnknown;
  std::optional<core::FileContent> content;  // of a file that could be read
};

Standing look(const Place& place, ProcessProbe& probe, const Call& call) {
  Standing standing;
  const auto stamp = place.dir.stat(place.name);
  if (!stamp) {
    if (stamp.error().code != ErrorCode::kNotFound) {
      standing.report = unknown(stamp.error().message);
    } else {
      standing.report.state = SentinelState::kNone;
    }
    return standing;
  }
  standing.kind = stamp->kind;
  auto content = place.dir.read(place.name, kMaxBytes, stamp->kind);
  if (content) {
    standing.report = judge(content->bytes, place.dir.path_of(place.name), probe, call);
    standing.content = std::move(*content);
  } else if (content.error().code == ErrorCode::kNotFound) {
    standing.report.state = SentinelState::kNone;  // it went meanwhile
  } else {
    standing.report = unknown(content.error().message);
  }
  return standing;
}

bool is_same(const core::FileContent& a, const core::FileContent& b) {
  return a.stamp.device == b.stamp.device && a.stamp.inode == b.stamp.inode && a.bytes == b.bytes;
}

// Puts `staged` in the place of the very file that was judged. kConflict: another one stands there.
Status replace_judged(const Place& place, const std::string& staged,
                      const core::FileContent& judged) {
  const PrivateDir& dir = place.dir;
  const auto conflict = [] { return fail(ErrorCode::kConflict, "it is another file by now"); };
  auto swapped = dir.exchange(staged, place.name);
  if (swapped) {
    const auto out = dir.read(staged, kMaxBytes);
    if (out && is_same(*out, judged)) return dir.remove(staged);
    static_cast<void>(dir.exchange(staged, place.name));
    return conflict();
  }
  if (swapped.error().code != ErrorCode::kUnsupported) return swapped;
  // No swap on this file system: the judged one goes aside, and the place is taken if it is free.
  const std::string aside = staged + ".old";
  if (auto moved = dir.rename_over(place.name, dir, aside); !moved) return moved;
  const auto out = dir.read(aside, kMaxBytes);
  if (!out || !is_same(*out, judged)) {
    static_cast<void>(dir.rename_new(aside, dir, place.name));
    return conflict();
  }
  static_cast<void>(dir.remove(aside));
  auto placed = dir.rename_new(staged, dir, place.name);
  if (!placed && placed.error().code == ErrorCode::kExists) return conflict();
  return placed;
}

bool is_file_or_link(core::FileKind kind) {
  return kind == core::FileKind::kRegular || kind == core::FileKind::kSymlink;
}

tl::unexpected<Error> taken(const std::string& path, const SentinelReport& report) {
  const std::string pid = report.identity ? std::to_string(report.identity->pid) : "";
  return fail(ErrorCode::kExists,
              report.state == SentinelState::kAlive
                  ? fmt::format("{} names pid {}, which runs", text::for_terminal(path), pid)
                  : fmt::format("{} is there, and whether its process runs cannot be told: {}",
                                text::for_terminal(path), report.reason));
}

// One attempt to put `staged` in its place. kConflict: others came in between.
Status place_once(const Place& place, const std::string& path, const std::string& staged,
                  SentinelReplace replace, ProcessProbe& probe, const Call& call) {
  const Standing standing = look(place, probe, call);
  if (standing.report.state == SentinelState::kNone) {
    auto placed = place.dir.rename_new(staged, place.dir, place.name);
    if (!placed && placed.error().code == ErrorCode::kExists) {
      return fail(ErrorCode::kConflict, placed.error().message);
    }
    return placed;
  }
  if (standing.kind != core::FileKind::kUnknown && !is_file_or_link(standing.kind)) {
    return fail(ErrorCode::kDenied,
                fmt::format("{} is {}; it is not replaced", text::for_terminal(path),
                            core::describe(standing.kind)));
  }
  if (replace == SentinelReplace::kAlways) {
    return place.dir.rename_over(staged, place.dir, place.name);
  }
  if (standing.report.state != SentinelState::kDead || !standing.content) {
    return taken(path, standing.report);
  }
  auto placed = replace_judged(place, staged, *standing.content);
  if (!placed && placed.error().code == ErrorCode::kNotFound) {
    return fail(ErrorCode::kConflict, placed.error().message);
  }
  return placed;
}

}  // namespace

std::string_view to_text(SentinelState state) {
  switch (state) {
    case SentinelState::kAlive:
      return "alive";
    case SentinelState::kDead:
      return "dead";
    case SentinelState::kNone:
      return "none";
    case SentinelState::kUnknown:
      break;
  }
  return "unknown";
}

SentinelReport check_sentinel(const std::string& path, ProcessProbe& probe, const Call& call) {
  const auto place = place_of(path);
  if (!place) return unknown(place.error().message);
  if (!*place) return {SentinelState::kNone, Reason::kNone, {}, std::nullopt};
  return look(**place, probe, call).report;
}

Status write_sentinel(const std::string& path, const ProcessIdentity& identity,
                      SentinelReplace replace, ProcessProbe& probe, const Call& call) {
  const auto text = format_sentinel(identity);
  if (!text) return tl::unexpected(text.error());
  const auto place = place_of(path);
  if (!place) return tl::unexpected(place.error());
  if (!*place) {
    return fail(ErrorCode::kNotFound,
                fmt::format("there is no folder to write {} in", text::for_terminal(path)));
  }
  const PrivateDir& dir = (*place)->dir;
  const auto random = core::random_u64();
  if (!random) return tl::unexpected(random.error());
  const std::string staged = fmt::format(".{:016x}.tmp", *random);
  auto made = dir.create(staged, *text + "\n", {.readable = true});
  if (!made) return tl::unexpected(made.error());
  Status placed;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    placed = place_once(**place, path, staged, replace, probe, call);
    if (placed || placed.error().code != ErrorCode::kConflict) break;
  }
  if (!placed) {
    static_cast<void>(dir.remove(staged));
    return placed;
  }
  return dir.sync();
}

Status remove_sentinel(const std::string& path, const ProcessIdentity& identity) {
  const auto text = format_sentinel(identity);
  if (!text) return tl::unexpected(text.error());
  const auto place = place_of(path);
  if (!place) return tl::unexpected(place.error());
  if (!*place) return fail(ErrorCode::kNotFound, "there is no such file");
  const PrivateDir& dir = (*place)->dir;
  const std::string& name = (*place)->name;
  const auto is_ours = [&](std::string_view file) -> Result<bool> {
    const auto content = dir.read(file, kMaxBytes);
    if (!content) return tl::unexpected(content.error());
    const auto found = parse_sentinel(content->bytes);
    return found && *format_sentinel(*found) == *text;
  };
  const auto another = [&] {
    return fail(ErrorCode::kConflict,
                fmt::format("{} is another process's by now", text::for_terminal(path)));
  };
  const auto ours = is_ours(name);
  if (!ours) return tl::unexpected(ours.error());
  if (!*ours) return another();
  const auto random = core::random_u64();
  if (!random) return tl::unexpected(random.error());
  const std::string aside = fmt::format(".{:016x}.tmp", *random);
  if (auto moved = dir.rename_over(name, dir, aside); !moved) return moved;
  const auto still = is_ours(aside);
  if (still && *still) return dir.remove(aside);
  static_cast<void>(dir.rename_new(aside, dir, name));
  return another();
}

}  // namespace rollcall
