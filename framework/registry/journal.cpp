// The journal's files: "<base>.jsonl", where <base> is the cursor before the file's first byte, in
// 19 digits. A cursor is so many bytes behind the base of the first file that ever was, so that it
// needs no counter, and lives on when a file is removed. A journal that is begun anew begins at the
// microseconds since 1970: nobody writes a byte a microsecond, so cursors grow for ever.
#include "rollcall/journal.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include <fmt/format.h>

#include "core/paths.hpp"
#include "core/private_files.hpp"
#include "core/text.hpp"
#include "registry/home.hpp"
#include "registry/journal_entry.hpp"
#include "registry/json_text.hpp"

namespace rollcall {
namespace {

constexpr std::string_view kSuffix = ".jsonl";
constexpr std::string_view kLock = "lock";
constexpr std::size_t kDigits = 19;
constexpr std::int64_t kNsPerMs = 1'000'000;
constexpr std::int64_t kNsPerUs = 1'000;
constexpr std::size_t kReadBytes = 256 * 1024;  // at least one entry
static_assert(kReadBytes > registry::kMaxEntryBytes);

std::string segment_name(Cursor base) { return fmt::format("{:019}{}", base, kSuffix); }

std::optional<Cursor> base_of(std::string_view name) {
  if (name.size() != kDigits + kSuffix.size() || !name.ends_with(kSuffix)) return std::nullopt;
  name.remove_suffix(kSuffix.size());
  name.remove_prefix(std::min(name.find_first_not_of('0'), kDigits - 1));
  return registry::plain_decimal(name);
}

// The bases of the files that are there, oldest first. Errors: kIo.
Result<std::vector<Cursor>> list_segments(const core::PrivateDir& dir) {
  std::vector<Cursor> bases;
  auto status = dir.each([&](const core::DirEntry& entry) {
    if (const auto base = base_of(entry.name)) bases.push_back(*base);
    return true;
  });
  if (!status) return tl::unexpected(status.error());
  std::sort(bases.begin(), bases.end());
  return bases;
}

// Takes the entries of whole lines, up to `limit`. Gives how many bytes it went through.
std::size_t take_lines(std::string_view bytes, Cursor begin, std::size_t limit, JournalPage& page) {
  std::size_t at = 0;
  while (page.entries.size() < limit) {
    const std::size_t end = bytes.find('\n', at);
    if (end == std::string_view::npos) break;
    const std::string_view line = bytes.substr(at, end - at);
    at = end + 1;
    if (line.empty()) continue;  // what ended a line that had been cut
    auto entry = registry::parse_entry(line);
    if (!entry) {
      ++page.damaged;
      continue;
    }
    entry->cursor = begin + at;
    page.entries.push_back(std::move(*entry));
  }
  return at;
}

}  // namespace

class Journal::Impl {
 public:
  explicit Impl(Options given)
      : options(std::move(given)), owner(options.expect_owner.value_or(core::current_owner())) {}

  // For reading. nullopt: there is no journal.
  [[nodiscard]] Result<std::optional<core::PrivateDir>> open_dir() const {
    auto home = core::PrivateDir::open(options.home, owner);
    if (!home || !*home) return home;
    return (*home)->open_child(kJournalFolder);
  }

  struct Change {
    core::PrivateDir dir;
    core::FileLock lock;
    std::vector<Cursor> segments;
  };
  enum class Home : std::uint8_t { kMake, kMustBeThere };
  [[nodiscard]] Result<core::PrivateDir> open_home() const {
    auto home = core::PrivateDir::open(options.home, owner);
    if (!home) return tl::unexpected(home.error());
    if (*home) return std::move(**home);
    return fail(ErrorCode::kNotFound,
                fmt::format("{} is not there any more", text::for_terminal(options.home)));
  }
  [[nodiscard]] Result<Change> begin(Home wanted, const Call& call) const {
    if (options.read_only) {
      return fail(ErrorCode::kRefused,
                  fmt::format("{} is opened for reading only", text::for_terminal(options.home)));
    }
    auto home = wanted == Home::kMake ? core::PrivateDir::make(options.home, owner) : open_home();
    if (!home) return tl::unexpected(home.error());
    if (auto ours = registry::check_is_home(*home); !ours) return tl::unexpected(ours.error());
    auto dir = home->make_child(kJournalFolder);
    if (!dir) return tl::unexpected(dir.error());
    const std::int64_t most = options.clock->monotonic_ns() + options.lock_timeout_ms * kNsPerMs;
    auto lock = dir->lock(kLock, *options.clock, std::min(most, call.deadline_ns), call.cancel);
    if (!lock) return tl::unexpected(lock.error());
    if (auto tight = dir->tighten(); !tight) return tl::unexpected(tight.error());
    auto segments = list_segments(*dir);
    if (!segments) return tl::unexpected(segments.error());
    return Change{std::move(*dir), std::move(*lock), std::move(*segments)};
  }

  [[nodiscard]] Result<std::vector<JournalEntry>> append(Change& change,
                                                         std::span<const Event> events,
                                                         Status& failure) const;
  [[nodiscard]] Result<JournalPage> read(const core::PrivateDir& dir,
                                         const std::vector<Cursor>& segments, Cursor after,
                                         std::size_t limit) const;
  [[nodiscard]] Result<Cursor> end(const core::PrivateDir& dir,
                                   const std::vector<Cursor>& segments) const;

  const Options options;
  const std::uint64_t owner;

 private:
  [[nodiscard]] Result<Cursor> segment_for(Change& change, std::size_t bytes) const;
};

Result<Cursor> Journal::Impl::end(const core::PrivateDir& dir,
                                  const std::vector<Cursor>& segments) const {
  if (segments.empty()) return Cursor{0};
  const auto stamp = dir.stat(segment_name(segments.back()));
  if (!stamp) return tl::unexpected(stamp.error());
  return segments.back() + stamp->size;
}

// The file that takes `bytes` more, begun where the last one is full; then the oldest go.
Result<Cursor> Journal::Impl::segment_for(Change& change, std::size_t bytes) const {
  auto& segments = change.segments;
  if (segments.empty()) {
    segments.push_back(
        static_cast<Cursor>(std::max<std::int64_t>(options.clock->unix_ns() / kNsPerUs, 1)));
    return segments.back();
  }
  const auto end = this->end(change.dir, segments);
  if (!end) return end;
  const Cursor size = *end - segments.back();
  if (size == 0 || size + bytes <= static_cast<Cursor>(options.segment_bytes)) {
    return segments.back();
  }
  segments.push_back(*end);
  while (segments.size() > static_cast<std::size_t>(options.segments)) {
    const auto removed = change.dir.remove(segment_name(segments.front()));
    if (!removed && removed.error().code != ErrorCode::kNotFound) {
      return tl::unexpected(removed.error());
    }
    segments.erase(segments.begin());
  }
  return segments.back();
}

// One write for as many entries as stand in one file.
Result<std::vector<JournalEntry>> Journal::Impl::append(Change& change,
                                                        std::span<const Event> events,
                                                        Status& failure) const {
  std::vector<JournalEntry> appended;
  const std::int64_t now = options.clock->unix_ns();
  std::vector<std::string> lines;
  for (const Event& given : events) {
    JournalEntry& entry = appended.emplace_back();
    entry.event = given;
    if (entry.event.unix_ns == 0) entry.event.unix_ns = now;
    entry.kind = to_text(entry.event.kind);
    lines.push_back(registry::entry_line(entry.event));
  }
  for (std::size_t next = 0; next < lines.size();) {
    std::string bytes = lines[next];
    std::size_t last = next + 1;
    while (last < lines.size() &&
           bytes.size() + lines[last].size() <= static_cast<std::size_t>(options.segment_bytes)) {
      bytes += lines[last++];
    }
    const auto base = segment_for(change, bytes.size());
    auto done =
        base ? change.dir.append_lines(segment_name(*base), bytes) : tl::unexpected(base.error());
    if (!done) {
      failure = tl::unexpected(done.error());
      appended.resize(next);
      return appended;
    }
    Cursor cursor = *base + done->begin;
    for (; next < last && cursor + lines[next].size() <= *base + done->end; ++next) {
      cursor += lines[next].size();
      appended[next].cursor = cursor;
    }
    if (next == last) continue;
    failure = done->failure;
    appended.resize(next);
    break;
  }
  return appended;
}

Result<JournalPage> Journal::Impl::read(const core::PrivateDir& dir,
                                        const std::vector<Cursor>& segments, Cursor after,
                                        std::size_t limit) const {
  JournalPage page;
  page.next = after;
  for (std::size_t i = 0; i < segments.size(); ++i) {
    const Cursor base = segments[i];
    if (i + 1 < segments.size() && segments[i + 1] <= page.next) continue;
    if (page.next < base) {
      page.lost = page.lost || page.next != 0;
      page.next = base;
    }
    // A place in the middle of a line is of no entry: one byte before it must be a line's end.
    if (page.next == after && after > base) {
      const auto before = dir.read_part(segment_name(base), after - base - 1, 1);
      if (!before) return tl::unexpected(before.error());
      if (before->bytes != "\n") {
        return read(dir, segments, 0, limit).map([](JournalPage whole) {
          whole.lost = true;
          return whole;
        });
      }
    }
    while (true) {
      if (page.entries.size() >= limit) {
        const auto all = end(dir, segments);
        page.more = all && page.next < *all;
        return page;
      }
      const auto part = dir.read_part(segment_name(base), page.next - base, kReadBytes);
      if (!part) return tl::unexpected(part.error());
      const std::size_t took = take_lines(part->bytes, page.next, limit, page);
      page.next += took;
      if (took > 0) continue;
      if (part->bytes.size() == kReadBytes) {  // no entry is so long
        page.next += part->bytes.size();
        ++page.damaged;
        continue;
      }
      // A line that nobody ended, in a file that is done with: it never will be.
      if (i + 1 < segments.size() && !part->bytes.empty()) {
        page.next += part->bytes.size();
        ++page.damaged;
      }
      break;
    }
  }
  return page;
}

Journal::Journal(std::unique_ptr<Impl> impl) : impl_(std::move(impl)) {}
Journal::~Journal() = default;

Result<std::shared_ptr<Journal>> Journal::open(Options options) {
  if (!core::is_absolute_path(options.home)) {
    return fail(ErrorCode::kInvalid, fmt::format("the home {} is not an absolute path",
                                                 text::for_terminal(options.home)));
  }
  if (!options.clock || options.segment_bytes < 1 || options.segments < 1) {
    return fail(ErrorCode::kInvalid, "a journal needs a clock, and a size and number of its parts");
  }
  options.home = core::clean_path(std::move(options.home));
  return std::shared_ptr<Journal>(new Journal(std::make_unique<Impl>(std::move(options))));
}

Result<Cursor> Journal::append(std::span<const Event> events, const Call& call,
                               std::size_t* written) {
  if (written != nullptr) *written = 0;
  auto change = impl_->begin(Impl::Home::kMake, call);
  if (!change) return tl::unexpected(change.error());
  Status failure;
  const auto appended = impl_->append(*change, events, failure);
  if (!appended) return tl::unexpected(appended.error());
  if (written != nullptr) *written = appended->size();
  if (!failure) return tl::unexpected(failure.error());
  if (appended->empty()) return impl_->end(change->dir, change->segments);
  return appended->back().cursor;
}

Result<Journal::Exchange> Journal::exchange(Cursor since,
                                            const std::function<void(const JournalEntry&)>& heard,
                                            const std::function<std::vector<Event>()>& say,
                                            const Call& call) {
  auto change = impl_->begin(Impl::Home::kMustBeThere, call);
  if (!change) return tl::unexpected(change.error());
  Exchange done;
  done.lost = since != 0 && change->segments.empty();
  constexpr std::size_t kPage = 1024;
  for (bool more = true; more;) {
    const auto page = impl_->read(change->dir, change->segments, since, kPage);
    if (!page) return tl::unexpected(page.error());
    for (const JournalEntry& entry : page->entries) heard(entry);
    done.lost = done.lost || page->lost;
    since = page->next;
    more = page->more;
  }
  done.next = since;
  const std::vector<Event> events = say();
  auto appended = impl_->append(*change, events, done.failure);
  if (!appended) return tl::unexpected(appended.error());
  done.appended = std::move(*appended);
  if (!done.appended.empty()) done.next = done.appended.back().cursor;
  return done;
}

Result<JournalPage> Journal::read(Cursor after, std::size_t limit, const Call& call) {
  // A file that is removed while it is read: then what is left is read anew.
  constexpr int kAttempts = 5;
  Result<JournalPage> page = JournalPage{};
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    if (call.cancel.cancelled()) return fail(ErrorCode::kCancelled, "cancelled");
    const auto dir = impl_->open_dir();
    if (!dir) return tl::unexpected(dir.error());
    JournalPage none;
    none.next = after;
    none.lost = after != 0;
    if (!*dir) return none;
    const auto segments = list_segments(**dir);
    if (!segments) return tl::unexpected(segments.error());
    if (segments->empty()) return none;
    const auto end = impl_->end(**dir, *segments);
    if (end && after > *end) {
      // It was begun anew on a clock that was set back, or this is no cursor of it.
      page = impl_->read(**dir, *segments, 0, limit);
      if (page) page->lost = true;
    } else {
      page = impl_->read(**dir, *segments, after, limit);
    }
    if (page || page.error().code != ErrorCode::kNotFound) return page;
  }
  return page;
}

Result<Cursor> Journal::end() {
  const auto dir = impl_->open_dir();
  if (!dir) return tl::unexpected(dir.error());
  if (!*dir) return Cursor{0};
  const auto segments = list_segments(**dir);
  if (!segments) return tl::unexpected(segments.error());
  auto end = impl_->end(**dir, *segments);
  // Removed between the two: nothing is there.
  if (!end && end.error().code == ErrorCode::kNotFound) return Cursor{0};
  if (!end || segments->empty()) return end;
  // Behind the last whole line: what a crash cut short is no entry.
  const Cursor base = segments->back();
  const Cursor begin = *end - std::min<Cursor>(*end - base, kReadBytes);
  const auto tail = (*dir)->read_part(segment_name(base), begin - base, kReadBytes);
  if (!tail) return tl::unexpected(tail.error());
  const std::size_t last = tail->bytes.rfind('\n');
  return last == std::string::npos ? begin : begin + last + 1;
}

}  // namespace rollcall
