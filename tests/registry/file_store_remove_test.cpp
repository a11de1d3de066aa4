// Compare-and-delete: only the very file that was judged goes.
#include <gtest/gtest.h>

#include <filesystem>
#include <string>
#include <vector>

#include "registry/staging_name.hpp"
#include "registry/store_fixture.hpp"

namespace rollcall {
namespace {

namespace fs = std::filesystem;
using namespace testing;  // NOLINT: a test

// A store in which `act` happens just before the named step of a change.
std::shared_ptr<FileStore> open_with(const Home& home, std::string step,
                                     std::function<void()> act) {
  return home.open([&](FileStore::Options& o) {
    o.before_step = [step = std::move(step), act = std::move(act)](std::string_view next) {
      if (next == step) act();
    };
  });
}

TEST(FileStoreRemove, RemovesWhatWasJudgedOnce) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  const std::string version = version_in(home, "a");
  const auto store = home.open();
  EXPECT_TRUE(store->remove_if("a", version, {}));
  EXPECT_TRUE(names_in(home.running()).empty());
  EXPECT_EQ(store->remove_if("a", version, {}).error().code, ErrorCode::kNotFound);
}

TEST(FileStoreRemove, FindsNothingWhereThereIsNoHomeAndMakesNone) {
  const Home home;
  EXPECT_EQ(home.open()->remove_if("a", "v", {}).error().code, ErrorCode::kNotFound);
  EXPECT_FALSE(fs::exists(home.path()));
}

TEST(FileStoreRemove, LeavesARecordThatWasWrittenSince) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  const std::string version = version_in(home, "a");
  home.plant_over("a.json", record_bytes("a"));  // the same bytes, another file
  EXPECT_EQ(home.open()->remove_if("a", version, {}).error().code, ErrorCode::kConflict);
  home.plant("a.json", record_bytes("a", "edited"));
  EXPECT_EQ(home.open()->remove_if("a", version, {}).error().code, ErrorCode::kConflict);
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "edited"));
}

TEST(FileStoreRemove, PutsBackARecordThatCameAfterTheComparison) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  const auto store = open_with(home, "take aside",
                               [&] { home.plant_over("a.json", record_bytes("a", "successor")); });
  EXPECT_EQ(store->remove_if("a", version_in(home, "a"), {}).error().code, ErrorCode::kConflict);
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "successor"));
  EXPECT_EQ(names_in(home.running()), std::vector<std::string>{"a.json"});
}

TEST(FileStoreRemove, PutsBackARecordThatWasRewrittenInPlace) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  const auto store =
      open_with(home, "take aside", [&] { home.plant("a.json", record_bytes("a", "rewritt")); });
  EXPECT_EQ(store->remove_if("a", version_in(home, "a"), {}).error().code, ErrorCode::kConflict);
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "rewritt"));
}

TEST(FileStoreRemove, LeavesARecordThatAppearsWhileTheJudgedOneIsAside) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  const auto store =
      open_with(home, "compare", [&] { home.plant("a.json", record_bytes("a", "successor")); });
  EXPECT_TRUE(store->remove_if("a", version_in(home, "a"), {}));
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "successor"));
  EXPECT_EQ(names_in(home.running()), std::vector<std::string>{"a.json"});
}

TEST(FileStoreRemove, KeepsTheNewestOfTwoSuccessorsAndLosesNeither) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  const auto store = home.open([&](FileStore::Options& o) {
    o.before_step = [&](std::string_view step) {
      if (step == "take aside") home.plant_over("a.json", record_bytes("a", "first"));
      if (step == "put back") home.plant("a.json", record_bytes("a", "second"));
    };
  });
  EXPECT_EQ(store->remove_if("a", version_in(home, "a"), {}).error().code, ErrorCode::kConflict);
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "second"));
  const auto kept = names_in(home.path() / "quarantine");
  ASSERT_EQ(kept.size(), 1U);
  EXPECT_EQ(slurp(home.path() / "quarantine" / kept[0]), record_bytes("a", "first"));
}

TEST(FileStoreRemove, PutsBackWhatAKilledProcessHadTakenAside) {
  const Home home;
  const std::string aside = registry::aside_name(7, "a.json");
  home.plant(aside, record_bytes("a"));
  const auto store = home.open();
  EXPECT_TRUE(store->list({})->empty());
  ASSERT_TRUE(store->create_if_absent("b", record_bytes("b"), {}));
  EXPECT_EQ(names_of(*store->list({})), (std::vector<std::string>{"b", "a"}));
  EXPECT_FALSE(fs::exists(home.running() / aside));
}

TEST(FileStoreArchive, KeepsACopyWithoutTokensAndTheEvidence) {
  const Home home;
  Record record = sample_record("a");
  record.door_token = "s3cr3t";
  record.door = DoorSpec{.kind = "x", .settings = {{"path", "/p"}, {"api_token", "s3cr3t"}}};
  record.metadata = {{"owner", "me"}, {"Password", "s3cr3t"}};
  record.unknown_json = R"({"other_token":"s3cr3t","x":{"secret":"s3cr3t","y":1}})";
  const auto store = home.open();
  ASSERT_TRUE(store->create_if_absent("a", *serialize_record(record), {}));
  ASSERT_TRUE(store->write_control("a", "s3cr3t", false, {}));
  const auto judged = store->read("a", {}).value();
  const GoneEvidence evidence{.reason = Reason::kNoProcess,
                              .text = "no process holds pid 4242",
                              .pruned_unix_ns = home.clock->unix_ns(),
                              .plugin = "linux"};
  ASSERT_TRUE(store->archive_gone(judged, record, evidence, {}));
  EXPECT_TRUE(names_in(home.running()).empty());
  EXPECT_EQ(slurp(home.path() / "gone/a.json").find("s3cr3t"), std::string::npos);

  const auto gone = store->list_gone({});
  ASSERT_TRUE(gone);
  ASSERT_EQ(gone->size(), 1U);
  EXPECT_EQ(gone->at(0).session_id, "a");
  EXPECT_EQ(gone->at(0).evidence.reason, Reason::kNoProcess);
  EXPECT_EQ(gone->at(0).evidence.text, evidence.text);
  EXPECT_EQ(gone->at(0).evidence.plugin, "linux");
  EXPECT_EQ(gone->at(0).evidence.pruned_unix_ns / 1'000'000, evidence.pruned_unix_ns / 1'000'000);
  EXPECT_EQ(gone->at(0).record.process, record.process);
  EXPECT_EQ(gone->at(0).record.metadata, (std::map<std::string, std::string>{{"owner", "me"}}));
  EXPECT_FALSE(gone->at(0).record.door_token);
  EXPECT_EQ(gone->at(0).record.unknown_json, R"({"x":{"y":1}})");
}

TEST(FileStoreArchive, KeepsNoSecretAtAnyDepthOrInTheUrl) {
  const Home home;
  std::string bytes = record_bytes("a");
  const std::string url = R"("127.0.0.1:4242")";
  bytes.replace(bytes.find(url), url.size(), R"("http://me:s3cr3t@127.0.0.1:4242/?key=s3cr3t")");
  bytes.replace(bytes.rfind('}'), 1,
                R"(,"door":{"kind":"x","nested":{"token":"s3cr3t","kept":1}},)"
                R"("metadata":{"authorization":"s3cr3t","apikey":"s3cr3t","passwd":"s3cr3t",)"
                R"("credentials":"s3cr3t","owner":"me","x":{"y":{"password":"s3cr3t","kept":2}}},)"
                R"("other":[{"secret":{"deep":["s3cr3t"]},"kept":[3]},"four"]})");
  home.plant("a.json", bytes);
  const auto store = home.open();
  const auto judged = store->read("a", {}).value();
  const auto record = parse_record(judged.bytes, "a");
  ASSERT_TRUE(record) << record.error().text;
  ASSERT_TRUE(store->archive_gone(judged, *record, {}, {}));
  const std::string kept = slurp(home.path() / "gone/a.json");
  EXPECT_EQ(kept.find("s3cr3t"), std::string::npos) << kept;
  for (const char* part : {R"("kept":1)", R"("kept":2)", R"([{"kept":[3]},"four"])",
                           "127.0.0.1:4242", R"("owner":"me")"}) {
    EXPECT_NE(kept.find(part), std::string::npos) << part << " in " << kept;
  }
  EXPECT_TRUE(store->undo_gone("a", {}));
}

TEST(FileStoreArchive, LeavesTheSuccessorOfAGoneRecord) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  const auto judged = home.open()->read("a", {}).value();
  const auto store = open_with(home, "take aside",
                               [&] { home.plant_over("a.json", record_bytes("a", "successor")); });
  EXPECT_EQ(store->archive_gone(judged, sample_record("a"), {}, {}).error().code,
            ErrorCode::kConflict);
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "successor"));
  EXPECT_EQ(names_in(home.running()), std::vector<std::string>{"a.json"});
  EXPECT_TRUE(names_in(home.path() / "gone").empty());
}

TEST(FileStoreArchive, FindsWhatAnotherPrunerTookFirst) {
  const Home home;
  home.plant("a.json", record_bytes("a"));
  const auto store = home.open();
  const auto judged = store->read("a", {}).value();
  ASSERT_TRUE(store->archive_gone(judged, sample_record("a"), {}, {}));
  EXPECT_EQ(store->archive_gone(judged, sample_record("a"), {}, {}).error().code,
            ErrorCode::kNotFound);
  EXPECT_EQ(store->list_gone({})->size(), 1U);
}

TEST(FileStoreArchive, DropsEntriesAfterSevenDays) {
  const Home home;
  const auto store = home.open();
  const auto archive = [&](const char* id) {
    home.plant(std::string(id) + ".json", record_bytes(id));
    return home.open()->archive_gone(store->read(id, {}).value(), sample_record(id), {}, {});
  };
  ASSERT_TRUE(archive("old"));
  home.clock->shift_ns = 6 * kDay;
  ASSERT_TRUE(archive("newer"));
  EXPECT_EQ(store->list_gone({})->size(), 2U);
  home.clock->shift_ns = 8 * kDay;
  EXPECT_EQ(store->list_gone({})->size(), 1U);  // not shown any more, dropped by the next prune
  ASSERT_TRUE(archive("newest"));
  EXPECT_EQ(names_in(home.path() / "gone"),
            (std::vector<std::string>{"newer.json", "newest.json"}));
}

TEST(FileStoreUndo, PutsTheRecordBackOnce) {
  const Home home;
  const auto store = home.open();
  Record record = sample_record("a");
  record.door_token = "s3cr3t";
  ASSERT_TRUE(store->create_if_absent("a", *serialize_record(record), {}));
  ASSERT_TRUE(store->archive_gone(store->read("a", {}).value(), record, {}, {}));
  ASSERT_TRUE(store->undo_gone("a", {}));
  const auto back = parse_record(store->read("a", {})->bytes, "a");
  ASSERT_TRUE(back);
  EXPECT_EQ(back->process, record.process);
  EXPECT_FALSE(back->door_token);
  EXPECT_TRUE(store->list_gone({})->empty());
  EXPECT_EQ(store->undo_gone("a", {}).error().code, ErrorCode::kNotFound);
}

TEST(FileStoreUndo, NeverReplacesANewRecord) {
  const Home home;
  const auto store = home.open();
  home.plant("a.json", record_bytes("a"));
  ASSERT_TRUE(store->archive_gone(store->read("a", {}).value(), sample_record("a"), {}, {}));
  home.plant("a.json", record_bytes("a", "new"));
  EXPECT_EQ(store->undo_gone("a", {}).error().code, ErrorCode::kExists);
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a", "new"));
  EXPECT_EQ(store->list_gone({})->size(), 1U);
}

RecordError torn() { return {RecordProblem::kTorn, "it is empty"}; }

TEST(FileStoreQuarantine, MovesAFileThatIsNoRecordOnceItIsAMinuteOld) {
  const Home home;
  home.plant("a.json", "");
  const auto store = home.open();
  const auto young = store->quarantine(store->read("a", {}).value(), torn(), {});
  ASSERT_TRUE(young);
  EXPECT_TRUE(young->moved_to.empty());
  EXPECT_TRUE(fs::exists(home.record("a")));
  home.clock->shift_ns = kMinute;
  const auto moved = store->quarantine(store->read("a", {}).value(), torn(), {});
  ASSERT_TRUE(moved) << moved.error().message;
  EXPECT_EQ(moved->file, "a.json");
  EXPECT_EQ(moved->reason, "it is empty");
  EXPECT_TRUE(fs::exists(moved->moved_to));
  EXPECT_FALSE(fs::exists(home.record("a")));
}

TEST(FileStoreQuarantine, LeavesAFileThatBecameARecord) {
  const Home home;
  home.plant("a.json", "");
  home.clock->shift_ns = 10 * kMinute;
  const auto judged = home.open()->read("a", {}).value();
  home.plant("a.json", record_bytes("a"));
  EXPECT_EQ(home.open()->quarantine(judged, torn(), {}).error().code, ErrorCode::kConflict);
  EXPECT_EQ(slurp(home.record("a")), record_bytes("a"));
}

TEST(FileStoreQuarantine, IsBoundedInAgeAndNumber) {
  const Home home;
  home.clock->shift_ns = 10 * kMinute;
  const auto store = home.open([](FileStore::Options& o) { o.quarantine_files = 3; });
  home.dir().write("home/quarantine/README", "not ours");
  const auto move = [&](const std::string& id) {
    home.plant(id + ".json", "");
    return store->quarantine(store->read(id, {}).value(), torn(), {}).value().moved_to;
  };
  std::vector<std::string> moved;
  for (const char* id : {"a", "b", "c", "d"}) {
    home.clock->shift_ns += 2 * kSecond;
    moved.push_back(move(id));
  }
  EXPECT_FALSE(fs::exists(moved[0]));
  EXPECT_TRUE(fs::exists(moved[1]));
  EXPECT_EQ(names_in(home.path() / "quarantine").size(), 4U);
  home.clock->shift_ns += 31 * kDay;
  moved.push_back(move("e"));
  EXPECT_EQ(names_in(home.path() / "quarantine").size(), 2U);
  EXPECT_TRUE(fs::exists(moved[4]));
}

TEST(FileStoreStaging, SweepsOldFilesThatNameNoWriter) {
  const Home home;
  const std::string anonymous = registry::staging_name(3, std::nullopt);
  const std::vector<std::string> kept = {".w~123.tmp", ".w~00000000000000zz.tmp",
                                         ".w~0000000000000003.json"};
  for (const auto& name : kept) home.plant(name, "{");
  home.plant(anonymous, "{");
  const auto store = home.open();
  const auto is_gone = [](const ProcessIdentity&) { return true; };
  EXPECT_TRUE(store->sweep_staging(is_gone, {})->empty());  // too young
  home.clock->shift_ns = 2 * kMinute;
  EXPECT_EQ(*store->sweep_staging(is_gone, {}), std::vector<std::string>{anonymous});
  EXPECT_EQ(names_in(home.running()).size(), kept.size());
}

TEST(FileStoreStaging, SweepsNoFileOfAChangeThatIsGoingOn) {
  const Home home;
  const auto sweeper = home.open([](FileStore::Options& o) { o.lock_timeout_ms = 0; });
  const auto store = open_with(home, "rename", [&] {
    home.clock->shift_ns = 2 * kMinute;  // a slow writer: its file is old, and its lock is held
    const auto swept = sweeper->sweep_staging([](const ProcessIdentity&) { return true; }, {});
    ASSERT_FALSE(swept);
    EXPECT_EQ(swept.error().code, ErrorCode::kTimeout);
  });
  EXPECT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
}

TEST(FileStoreStaging, SweepsOldFilesOfWritersProvenGoneOnly) {
  const Home home;
  const ProcessIdentity gone{.pid = 11, .start_token = "1", .boot_id = "b"};
  const ProcessIdentity alive{.pid = 12, .start_token = "2", .boot_id = "b"};
  const std::string of_gone = registry::staging_name(1, gone);
  const std::string of_alive = registry::staging_name(2, alive);
  const std::vector<std::string> kept = {".s.1234.tmp", of_alive, "s.json.tmp", "s.json~"};
  for (const auto& name : kept) home.plant(name, "{");
  home.plant(of_gone, "{");
  const auto store = home.open();
  const auto is_gone = [&](const ProcessIdentity& writer) { return writer == gone; };
  EXPECT_TRUE(store->list({})->empty());
  EXPECT_TRUE(store->sweep_staging(is_gone, {})->empty());  // too young
  home.clock->shift_ns = 2 * kMinute;
  EXPECT_EQ(*store->sweep_staging(is_gone, {}), std::vector<std::string>{of_gone});
  auto expected = kept;
  std::sort(expected.begin(), expected.end());
  EXPECT_EQ(names_in(home.running()), expected);
}

TEST(FileStoreStaging, NamesItsFilesByTheirWriter) {
  const Home home;
  const ProcessIdentity self{.pid = 42, .start_token = "7", .boot_id = "b", .host_id = "h-x"};
  std::optional<ProcessIdentity> seen;
  const auto store = open_with(home, "rename", [&] {
    for (const auto& name : names_in(home.running())) seen = registry::staging_writer(name);
  });
  store->set_writer(self);
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  EXPECT_EQ(seen, self);
}

TEST(StagingName, ReadsBackEveryIdentity) {
  const ProcessIdentity full{.pid = 2147483647,
                             .start_token = "a:b%~/\xFF",
                             .boot_id = "6f1b2c3d-1111-4222-8333-444455556666",
                             .exact_id = "18446744073709551615",
                             .host_id = "0f0e-host_1",
                             .pid_namespace = "4026531836",
                             .time_namespace = "4026531834"};
  const std::string name = registry::staging_name(~std::uint64_t{0}, full);
  EXPECT_EQ(name.find('/'), std::string::npos);
  EXPECT_LE(name.size(), 255U);
  EXPECT_EQ(registry::staging_writer(name), full);
  const ProcessIdentity bare{.pid = 1, .start_token = "2"};
  EXPECT_EQ(registry::staging_writer(registry::staging_name(0, bare)), bare);
}

TEST(StagingName, NamesNoWriterWhereTheNameWouldBeTooLong) {
  ProcessIdentity writer{.pid = 1, .start_token = std::string(300, 'x')};
  const std::string name = registry::staging_name(0, writer);
  EXPECT_LE(name.size(), 255U);
  EXPECT_FALSE(registry::staging_writer(name));
}

TEST(StagingName, TakesNoOtherNameForOne) {
  for (const char* name :
       {"", ".w~", ".w~.tmp", ".tmp", "a.json", ".w~0~0~a~~~~~.tmp", ".w~0~-1~a~~~~~.tmp",
        ".w~0~1~a~~~~.tmp", ".w~0~1~%4~~~~~.tmp", ".w~0~1~a/b~~~~~.tmp", ".w~0~1x~a~~~~~.tmp",
        ".w~0~2147483648~a~~~~~.tmp"}) {
    EXPECT_FALSE(registry::staging_writer(name)) << name;
    EXPECT_FALSE(registry::aside_file(name)) << name;
  }
  EXPECT_EQ(registry::aside_file(registry::aside_name(5, "a~b.json")), "a~b.json");
}

TEST(FileStoreControl, HoldsJustTheToken) {
  const Home home;
  const auto store = home.open();
  EXPECT_EQ(*store->control_path("a"), utf8(home.running() / "a.control"));
  const auto version = store->write_control("a", "t0ken", false, {});
  ASSERT_TRUE(version);
  EXPECT_EQ(slurp(*store->control_path("a")), "t0ken");
  EXPECT_EQ(*store->read_control("a", {}), "t0ken");
  EXPECT_EQ(store->write_control("a", "other", false, {}).error().code, ErrorCode::kExists);
  EXPECT_EQ(slurp(*store->control_path("a")), "t0ken");
  EXPECT_EQ(names_in(home.running()), std::vector<std::string>{"a.control"});
  EXPECT_TRUE(store->remove_control_if("a", *version, {}));
  EXPECT_FALSE(store->read_control("a", {})->has_value());
}

TEST(FileStoreControl, IsRemovedByItsOwnVersionOnly) {
  const Home home;
  const auto store = home.open();
  const auto old = store->write_control("a", "t0ken", false, {});
  ASSERT_TRUE(store->write_control("a", "t0ken", true, {}));
  EXPECT_EQ(store->remove_control_if("a", *old, {}).error().code, ErrorCode::kConflict);
  EXPECT_EQ(*store->read_control("a", {}), "t0ken");
}

TEST(FileStoreControl, RefusesWhatIsNoToken) {
  const Home home;
  const auto store = home.open();
  for (const char* token : {"", "a b", "a\n", "\xC3\xA9"}) {
    EXPECT_EQ(store->write_control("a", token, false, {}).error().code, ErrorCode::kInvalid);
  }
  home.plant("a.control", "s3cr3t s3cr3t");
  const auto read = store->read_control("a", {});
  ASSERT_FALSE(read);
  EXPECT_EQ(read.error().code, ErrorCode::kCorrupt);
  EXPECT_EQ(read.error().message.find("s3cr3t"), std::string::npos);
  home.plant("b.control", "by-hand\n");
  EXPECT_EQ(*store->read_control("b", {}), "by-hand");
}

TEST(FileStoreControl, GoesWithItsRecord) {
  const Home home;
  const auto store = home.open();
  ASSERT_TRUE(store->write_control("a", "t0ken", false, {}));
  ASSERT_TRUE(store->create_if_absent("a", record_bytes("a"), {}));
  ASSERT_TRUE(store->remove_if("a", version_in(home, "a"), {}));
  EXPECT_TRUE(names_in(home.running()).empty());
}

TEST(FileStoreControl, IsAnOrphanWithoutARecordAndIsReportedOnly) {
  const Home home;
  home.plant("a.control", "t0ken");
  home.plant("b.control", "t0ken");
  home.plant("b.json", record_bytes("b"));
  home.plant("c d.control", "t0ken");
  const auto store = home.open();
  EXPECT_EQ(*store->list_orphan_controls({}), std::vector<std::string>{"a"});
  home.clock->shift_ns = 100 * kDay;
  ASSERT_TRUE(store->sweep_staging([](const ProcessIdentity&) { return true; }, {}));
  EXPECT_EQ(*store->list_orphan_controls({}), std::vector<std::string>{"a"});
}

}  // namespace
}  // namespace rollcall
