// A journal of one test's own.
#pragma once

#include <gtest/gtest.h>

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "registry/store_fixture.hpp"
#include "rollcall/journal.hpp"

namespace rollcall::testing {

class JournalHome {
 public:
  using Tweak = std::function<void(Journal::Options&)>;
  [[nodiscard]] std::shared_ptr<Journal> open(const Tweak& tweak = {}) const {
    Journal::Options options{.home = utf8(home.path()), .clock = home.clock};
    options.lock_timeout_ms = 30'000;  // a busy machine is no fault
    if (tweak) tweak(options);
    return Journal::open(options).value();
  }
  // Parts of about four entries, two of them.
  [[nodiscard]] std::shared_ptr<Journal> open_small() const {
    return open([](Journal::Options& options) {
      options.segment_bytes = 1000;
      options.segments = 2;
    });
  }
  [[nodiscard]] std::filesystem::path folder() const { return home.path() / "journal"; }
  // The files that hold entries, oldest first.
  [[nodiscard]] std::vector<std::filesystem::path> files() const {
    std::vector<std::filesystem::path> all;
    for (const std::string& name : names_in(folder())) {
      if (name != "lock") all.push_back(folder() / name);
    }
    return all;
  }

  Home home;
};

inline Event event_of(std::string_view id, EventKind kind = EventKind::kAppeared) {
  Event event;
  event.kind = kind;
  event.session_id = id;
  event.name = "worker";
  event.pid = 4242;
  event.start_token = "78475";
  event.status = Verdict::kLive;
  event.process = ProcessState::kAlive;
  return event;
}

inline std::vector<std::string> ids_of(const JournalPage& page) {
  std::vector<std::string> ids;
  for (const JournalEntry& entry : page.entries) ids.push_back(entry.event.session_id);
  return ids;
}

// All that is behind a cursor.
inline JournalPage page_of(Journal& journal, Cursor after = 0, std::size_t limit = 1'000'000) {
  auto page = journal.read(after, limit, {});
  EXPECT_TRUE(page) << page.error().message;
  return page ? std::move(*page) : JournalPage{};
}

}  // namespace rollcall::testing
