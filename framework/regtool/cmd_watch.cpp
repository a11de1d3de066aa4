#include <fmt/format.h>

#include <mutex>
#include <utility>

#include "core/paths.hpp"
#include "core/rfc3339.hpp"
#include "regtool/commands.hpp"
#include "regtool/event_view.hpp"
#include "regtool/json.hpp"
#include "rollcall/watch.hpp"

namespace rollcall::regtool {
namespace {

constexpr std::int64_t kNsPerMs = 1'000'000;

// Between who asks for the end and the watch, whichever of them comes first.
class Ending {
 public:
  void ask() {
    const std::lock_guard lock(mutex_);
    cancel_.cancel();
    if (watch_ != nullptr) watch_->wake();
  }
  void set(Watch* watch) {
    const std::lock_guard lock(mutex_);
    watch_ = watch;
  }
  [[nodiscard]] const CancelToken& token() const { return cancel_; }

 private:
  std::mutex mutex_;
  CancelToken cancel_;
  Watch* watch_ = nullptr;
};

void write_notice(Context& context, const WatchItem& item) {
  const WatchNotice& notice = *item.notice;
  Output& out = context.out();
  if (!out.json()) {
    const std::string store = notice.store.empty() ? "" : notice.store + ": ";
    if (notice.kind == WatchNoticeKind::kSynced || notice.kind == WatchNoticeKind::kWatching) {
      out.log(2, fmt::format("{}{}", store, notice.text));
    } else {
      out.warning(fmt::format("{}: {}{}", to_text(notice.kind), store, notice.text));
    }
    return;
  }
  JsonWriter json;
  json.begin_object().text("schema", "rollcall.watch/1");
  json.text_or_null("cursor",
                    item.cursor ? std::optional(std::to_string(*item.cursor)) : std::nullopt);
  json.text("time", core::format_rfc3339_utc(context.clock()->unix_ns()));
  json.text("notice", to_text(notice.kind)).reason("store", notice.store);
  json.text("text", notice.text).end_object();
  out.document(json);
}

void write_item(Context& context, const WatchItem& item) {
  if (item.notice) return write_notice(context, item);
  Output& out = context.out();
  if (!out.json()) return out.line(event_line(item.event, item.kind));
  JsonWriter json;
  json.begin_object().text("schema", "rollcall.watch/1");
  write_event(json, item.event, item.kind, item.cursor);
  json.end_object();
  out.document(json);
}

struct Opened {
  std::vector<Context::OpenStore> stores;
  Watch::Options options;
};

Outcome<Opened> open_all(Context& context, const WatchCommand& command) {
  Opened opened;
  const auto choices = context.stores();
  if (!choices) return tl::unexpected(choices.error());
  for (const StoreChoice& choice : *choices) {
    auto store = context.open_store(choice, {});
    const bool is_last = &choice == &choices->back() && opened.stores.empty();
    if (!store && choice.is_plugin() && !is_last) {  // it does not hide the others
      context.out().warning(
          fmt::format("the store {} is not watched: {}", choice.name, store.error().text));
      continue;
    }
    if (!store) return tl::unexpected(store.error());
    opened.options.stores.push_back({store->label, store->registry.get(), store->records});
    opened.stores.push_back(std::move(*store));
  }
  const auto host = context.host();
  if (!host) return tl::unexpected(host.error());
  auto watcher = (*host)->platform_watcher();
  if (watcher) {
    opened.options.watcher = std::move(*watcher);
  } else {
    opened.options.no_watcher = watcher.error().message;
  }
  // Nothing is written into another user's home.
  if (!context.is_foreign()) {
    auto journal = context.journal();
    if (!journal) return tl::unexpected(journal.error());
    opened.options.journal = std::move(*journal);
    opened.options.journal_dir = core::join_path(context.home(), kJournalFolder);
  }
  opened.options.clock = context.clock();
  opened.options.after = command.after;
  opened.options.ask_doors = !command.no_probe && !context.is_foreign();
  opened.options.sweep_ns =
      command.interval_ns.value_or(context.config().watch_interval_ms * kNsPerMs);
  return opened;
}

}  // namespace

Outcome<int> run_watch(Context& context, const WatchCommand& command) {
  Ending ending;
  const platform::EndRequest request([&ending] { ending.ask(); },
                                     platform::EndRequest::Readers::kNeeded);
  Call call;
  call.cancel = ending.token();
  auto opened = open_all(context, command);
  if (!opened) return tl::unexpected(opened.error());
  const std::string place = opened->stores.front().place;
  auto watch = Watch::open(std::move(opened->options), call);
  if (!watch && watch.error().code == ErrorCode::kCancelled) return kExitYes;
  if (!watch) return failure_of(watch.error(), place);
  ending.set(watch->get());
  Outcome<int> code = kExitYes;
  while (true) {
    const auto items = (*watch)->next(call);
    if (!items) {
      if (items.error().code != ErrorCode::kCancelled) code = failure_of(items.error(), place);
      break;
    }
    for (const WatchItem& item : *items) write_item(context, item);
    if (auto flushed = context.out().flush(); !flushed) {
      code = failure_of(flushed.error());
      break;
    }
  }
  ending.set(nullptr);
  return code;
}

Outcome<int> run_events(Context& context, const EventsCommand& command) {
  const auto journal = context.journal();
  if (!journal) return tl::unexpected(journal.error());
  const auto limit = static_cast<std::size_t>(command.limit.value_or(1'000'000));
  const bool last_ones = !command.after && command.limit;
  auto page = (*journal)->read(command.after.value_or(0), last_ones ? 1'000'000 : limit, {});
  if (!page) return failure_of(page.error(), context.home());
  if (last_ones && page->entries.size() > limit) {
    page->entries.erase(page->entries.begin(),
                        page->entries.end() - static_cast<std::ptrdiff_t>(limit));
  }
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.events/1").key("events").begin_array();
    for (const JournalEntry& entry : page->entries) {
      json.begin_object();
      write_event(json, entry.event, entry.kind, entry.cursor);
      json.end_object();
    }
    json.end_array().text("next", std::to_string(page->next)).boolean("more", page->more);
    json.boolean("lost", page->lost).integer("damaged", static_cast<std::int64_t>(page->damaged));
    json.end_object();
    out.document(json);
  } else {
    for (const JournalEntry& entry : page->entries) out.line(event_line(entry.event, entry.kind));
  }
  if (page->lost && command.after) {
    out.warning(
        fmt::format("the journal does not go back to {}: entries are missing", *command.after));
  } else if (page->lost) {
    out.warning("a part of the journal was removed: entries are missing");
  }
  if (page->damaged > 0) {
    out.warning(
        fmt::format("{} lines of the journal are damaged and were left out", page->damaged));
  }
  return kExitYes;
}

}  // namespace rollcall::regtool
