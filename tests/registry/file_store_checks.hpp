// What holds of a home whatever restricts its writer. Each returns how many checks failed, and says
// which: they run in children.
#pragma once

#include <string>
#include <vector>

#include "registry/posix_fixture.hpp"

namespace rollcall::testing {

// Every file and folder of a home is the owner's alone, under this umask.
inline int check_private_modes(const Home& home, mode_t mask) {
  int failures = 0;
  ::umask(mask);
  const auto store = home.open();
  CHILD_CHECK(failures, store->create_if_absent("a", record_bytes("a"), {}));
  CHILD_CHECK(failures, store->write_control("a", "t0ken", false, {}));
  const auto stored = store->read("a", {});
  CHILD_CHECK(failures, stored && stored->problem.empty());
  if (failures > 0) return failures;
  CHILD_CHECK(failures, store->replace_if("a", stored->version, record_bytes("a", "b"), {}));
  CHILD_CHECK(failures, mode_of(home.path()) == 0700);
  CHILD_CHECK(failures, mode_of(home.running()) == 0700);
  CHILD_CHECK(failures, mode_of(home.path() / "lock") == 0600);
  CHILD_CHECK(failures, mode_of(home.record("a")) == 0600);
  CHILD_CHECK(failures, mode_of(home.running() / "a.control") == 0600);
  CHILD_CHECK(failures, store->archive_gone(*store->read("a", {}), sample_record("a"), {}, {}));
  CHILD_CHECK(failures, mode_of(home.path() / "gone") == 0700);
  CHILD_CHECK(failures, mode_of(home.path() / "gone/a.json") == 0600);
  return failures;
}

// With no room for another byte: errors, the earlier record whole, nothing left behind.
inline int check_full_disk(const Home& home, const std::string& version) {
  int failures = 0;
  const auto store = home.open();
  const std::string big = record_bytes("a", std::string(8'000, 'x'));
  const auto replaced = store->replace_if("a", version, big, {});
  CHILD_CHECK(failures, !replaced && replaced.error().code == ErrorCode::kIo);
  CHILD_CHECK(failures, !store->create_if_absent("b", big, {}));
  const auto judged = store->read("a", {});
  CHILD_CHECK(failures, judged && judged->bytes == record_bytes("a"));
  Record gone = sample_record("a");
  gone.metadata["filler"] = std::string(8'000, 'x');
  CHILD_CHECK(failures, judged && !store->archive_gone(*judged, gone, {}, {}));
  CHILD_CHECK(failures, slurp(home.record("a")) == record_bytes("a"));
  CHILD_CHECK(failures, names_in(home.running()) == std::vector<std::string>{"a.json"});
  return failures;
}

}  // namespace rollcall::testing
