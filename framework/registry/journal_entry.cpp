#include "registry/journal_entry.hpp"

#include <array>
#include <initializer_list>
#include <optional>
#include <utility>

#include "core/rfc3339.hpp"
#include "core/text.hpp"
#include "registry/json_events.hpp"
#include "registry/json_text.hpp"

namespace rollcall {
namespace {

constexpr std::array<std::pair<EventKind, std::string_view>, 10> kKinds = {{
    {EventKind::kAppeared, "appeared"},
    {EventKind::kChanged, "changed"},
    {EventKind::kLive, "live"},
    {EventKind::kAlive, "alive"},
    {EventKind::kUnreachable, "unreachable"},
    {EventKind::kGone, "gone"},
    {EventKind::kRemoved, "removed"},
    {EventKind::kStopRequested, "stop_requested"},
    {EventKind::kStopBegun, "stop_begun"},
    {EventKind::kPresent, "present"},
}};

}  // namespace

std::string_view to_text(EventKind kind) {
  for (const auto& [value, word] : kKinds) {
    if (value == kind) return word;
  }
  return "other";
}

std::optional<Cursor> parse_cursor(std::string_view text) { return registry::plain_decimal(text); }

}  // namespace rollcall

namespace rollcall::registry {
namespace {

constexpr std::size_t kMaxTextBytes = 512;

// Strict UTF-8, cut between two characters.
std::string bounded(std::string_view bytes) {
  // A character that this cuts begins behind the bound: its bytes go, too.
  std::string text = text::to_utf8(bytes.substr(0, kMaxTextBytes + 4));
  if (text.size() <= kMaxTextBytes) return text;
  std::size_t end = kMaxTextBytes;
  while (end > 0 && (static_cast<unsigned char>(text[end]) & 0xC0U) == 0x80U) --end;
  text.resize(end);
  return text;
}

class LineWriter {
 public:
  void text(std::string_view key, std::string_view bytes) {
    copy_.key(key);
    copy_.scalar(JsonKind::kString, bounded(bytes));
  }
  void number(std::string_view key, std::int64_t value) {
    copy_.key(key);
    copy_.scalar(JsonKind::kNumber, std::to_string(value));
  }
  void null(std::string_view key) {
    copy_.key(key);
    copy_.scalar(JsonKind::kNull, "null");
  }
  void begin(std::string_view key, JsonKind kind) {
    copy_.key(key);
    copy_.begin(kind);
  }
  void boolean(std::string_view key, bool value) {
    copy_.key(key);
    copy_.scalar(value ? JsonKind::kTrue : JsonKind::kFalse, value ? "true" : "false");
  }
  void signals(std::string_view key, const std::vector<Signal>& signals) {
    begin(key, JsonKind::kArray);
    for (const Signal signal : signals) {
      copy_.scalar(JsonKind::kString, rollcall::to_text(signal));
    }
    copy_.end(JsonKind::kArray);
  }
  JsonCopy& copy() { return copy_; }

 private:
  JsonCopy copy_;
};

void write_stop(LineWriter& line, const StopRequest& stop) {
  line.begin("stop", JsonKind::kObject);
  line.number("caller_pid", stop.caller_pid);
  line.text("caller_name", stop.caller_name);
  line.text("reason", stop.reason);
  line.signals("signals", stop.signals);
  if (stop.outcome) {
    line.text("outcome", rollcall::to_text(*stop.outcome));
  } else {
    line.null("outcome");
  }
  line.signals("planned", stop.planned);
  line.boolean("tree", stop.tree);
  line.boolean("forced", stop.forced);
  line.number("signalled", stop.signalled);
  line.number("members", stop.members);
  line.copy().end(JsonKind::kObject);
}

// The value of an enum by its word; nullopt: a newer writer's.
template <class Enum>
std::optional<Enum> by_word(std::string_view word, Enum first, Enum last) {
  for (int value = static_cast<int>(first); value <= static_cast<int>(last); ++value) {
    if (to_text(static_cast<Enum>(value)) == word) return static_cast<Enum>(value);
  }
  return std::nullopt;
}

class Fields {
 public:
  explicit Fields(std::vector<RawMember> members) : members_(std::move(members)) {}

  [[nodiscard]] const std::string* raw(std::string_view key) const {
    for (const auto& [name, value] : members_) {
      if (name == key) return &value;
    }
    return nullptr;
  }
  [[nodiscard]] std::string text(std::string_view key) const {
    const std::string* json = raw(key);
    if (json == nullptr) return {};
    auto value = string_value(*json);
    return value && !holds_lone_surrogate(*value) ? std::move(*value) : std::string();
  }
  [[nodiscard]] std::int64_t number(std::string_view key) const {
    const std::string* json = raw(key);
    const auto value = json == nullptr ? std::nullopt : plain_decimal(*json);
    return value && *value <= static_cast<std::uint64_t>(INT64_MAX)
               ? static_cast<std::int64_t>(*value)
               : 0;
  }
  [[nodiscard]] bool is(std::string_view key, std::string_view json) const {
    const std::string* value = raw(key);
    return value != nullptr && *value == json;
  }
  [[nodiscard]] std::vector<Signal> signals(std::string_view key) const {
    std::vector<Signal> signals;
    for (const std::string& element : list(key)) {
      const auto word = string_value(element);
      const auto signal =
          word ? by_word(*word, Signal::kTerm, Signal::kStop) : std::optional<Signal>();
      if (signal) signals.push_back(*signal);
    }
    return signals;
  }
  [[nodiscard]] std::optional<Fields> object(std::string_view key) const {
    const std::string* json = raw(key);
    if (json == nullptr) return std::nullopt;
    auto members = split_object(*json);
    if (!members) return std::nullopt;
    return Fields(std::move(*members));
  }
  [[nodiscard]] std::vector<std::string> list(std::string_view key) const {
    const std::string* json = raw(key);
    if (json == nullptr) return {};
    auto elements = split_array(*json);
    return elements ? std::move(*elements) : std::vector<std::string>();
  }

 private:
  std::vector<RawMember> members_;
};

StopRequest read_stop(const Fields& fields) {
  StopRequest stop;
  stop.caller_pid = fields.number("caller_pid");
  stop.caller_name = fields.text("caller_name");
  stop.reason = fields.text("reason");
  stop.signals = fields.signals("signals");
  if (fields.is("outcome", "null")) {
    stop.outcome.reset();
  } else {
    stop.outcome = by_word(fields.text("outcome"), StopOutcome::kEnded, StopOutcome::kSent)
                       .value_or(StopOutcome::kRefused);
  }
  stop.planned = fields.signals("planned");
  stop.tree = fields.is("tree", "true");
  stop.forced = fields.is("forced", "true");
  stop.signalled = fields.number("signalled");
  stop.members = fields.number("members");
  return stop;
}

}  // namespace

std::string entry_line(const Event& event) {
  LineWriter line;
  line.copy().begin(JsonKind::kObject);
  line.text("time", core::format_rfc3339_utc(event.unix_ns));
  line.text("event", to_text(event.kind));
  line.text("store", event.store);
  line.text("session_id", event.session_id);
  line.text("name", event.name);
  line.number("pid", event.pid);
  line.text("start_token", event.start_token);
  line.text("status", to_text(event.status));
  if (event.reason == Reason::kNone) {
    line.null("reason");
  } else {
    line.begin("reason", JsonKind::kObject);
    line.text("code", to_text(event.reason));
    line.text("text", event.text);
    line.copy().end(JsonKind::kObject);
  }
  if (event.reason == Reason::kNone && !event.text.empty()) line.text("detail", event.text);
  line.text("process", to_text(event.process));
  if (event.url) {
    line.text("url", *event.url);
  } else {
    line.null("url");
  }
  line.text("record", event.record);
  if (event.stop) write_stop(line, *event.stop);
  line.copy().end(JsonKind::kObject);
  return text::json_for_terminal(line.copy().text()) + '\n';
}

Result<JournalEntry> parse_entry(std::string_view bytes) {
  const auto json = admit_json(bytes, kMaxEntryBytes);
  if (!json) return fail(ErrorCode::kCorrupt, json.error().text);
  auto members = split_object(*json);
  if (!members) return fail(ErrorCode::kCorrupt, members.error().message);
  const Fields fields(std::move(*members));
  const auto time = core::parse_rfc3339_utc(fields.text("time"));
  JournalEntry entry;
  entry.kind = fields.text("event");
  if (!time || entry.kind.empty()) {
    return fail(ErrorCode::kCorrupt, "it has no time or no kind of event");
  }
  Event& event = entry.event;
  event.unix_ns = *time;
  event.kind =
      by_word(entry.kind, EventKind::kAppeared, EventKind::kStopBegun).value_or(EventKind::kOther);
  event.store = fields.text("store");
  event.session_id = fields.text("session_id");
  event.name = fields.text("name");
  event.pid = fields.number("pid");
  event.start_token = fields.text("start_token");
  event.status = by_word(fields.text("status"), Verdict::kLive, Verdict::kGone)
                     .value_or(Verdict::kUnreachable);
  if (const auto reason = fields.object("reason")) {
    event.reason = by_word(reason->text("code"), Reason::kNone, Reason::kUnverified)
                       .value_or(Reason::kUnverified);
    event.text = reason->text("text");
  } else {
    event.text = fields.text("detail");
  }
  event.process = by_word(fields.text("process"), ProcessState::kUnverified, ProcessState::kGone)
                      .value_or(ProcessState::kUnverified);
  if (const std::string* url = fields.raw("url"); url != nullptr && *url != "null") {
    event.url = fields.text("url");
  }
  event.record = fields.text("record");
  if (const auto stop = fields.object("stop")) event.stop = read_stop(*stop);
  return entry;
}

}  // namespace rollcall::registry
