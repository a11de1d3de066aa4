#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <fstream>

#include "plugin/catalog.hpp"
#include "plugin/search_path.hpp"
#include "plugin/support.hpp"

namespace rollcall::testing {
namespace {

namespace fs = std::filesystem;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

std::vector<std::string> paths(const std::vector<loader::SearchFolder>& folders) {
  std::vector<std::string> all;
  for (const auto& folder : folders) all.push_back(folder.path);
  return all;
}

TEST(SearchPath, IsTheEnvironmentThenTheConfigurationThenRollcallsOwn) {
  const TempDir temp;
  fs::create_directories(temp / "lib/rollcall/plugins");
  const std::string own = loader::canonical_folder((temp / "lib/rollcall/plugins").string());
  const std::string a = below_top({"a"});
  const std::string b = below_top({"b"});
  const loader::Surroundings around = {.environment_path = a + kListSeparator + b,
                                       .library_folder = (temp / "lib").string()};
  const auto folders = loader::search_folders(around, {"/c"}, true, true);
  EXPECT_THAT(paths(folders), ElementsAre(a, b, "/c", own));
  EXPECT_TRUE(folders.back().builtin);
  EXPECT_FALSE(folders.front().builtin);
}

TEST(SearchPath, NeverMeansTheWorkingDirectoryByAnEmptyEntry) {
  const std::string gap = std::string(kListSeparator) + kListSeparator;
  const loader::Surroundings around = {.environment_path = gap + "/a" + gap};
  EXPECT_THAT(paths(loader::search_folders(around, {}, true, false)), ElementsAre("/a"));
}

TEST(SearchPath, LeavesTheEnvironmentOutWhereItIsNotWanted) {
  const loader::Surroundings around = {.environment_path = "/a"};
  EXPECT_THAT(paths(loader::search_folders(around, {}, false, false)), IsEmpty());
}

TEST(SearchPath, NamesEachOfRollcallsOwnFoldersOnce) {
  const TempDir temp;
  fs::create_directories(temp / "bin");
  fs::create_directories(temp / "lib/rollcall/plugins");
  const loader::Surroundings around = {
      .library_folder = (temp / "lib").string(),
      .program_folder = (temp / "bin").string(),
      .installed_folder = (temp / "lib/rollcall/plugins").string()};
  EXPECT_EQ(loader::builtin_folders(around).size(), 1U);
}

TEST(Search, ListsTheSecondOfOneIdAsShadowed) {
  PluginFolder first;
  PluginFolder second;
  first.add("fault_none");
  second.add("fault_none");
  Host::Options options = quiet_options();
  options.plugin_dirs = {first.path(), second.path()};
  const auto infos = open_host(std::move(options))->plugins(true);
  ASSERT_EQ(infos.size(), 2U);
  EXPECT_EQ(infos[0].state, PluginState::kLoaded);
  EXPECT_EQ(infos[1].state, PluginState::kShadowed);
  EXPECT_THAT(infos[1].reason, HasSubstr(infos[0].file + " has the same id and comes first"));
}

TEST(Search, TakesOneFileThatIsNamedTwiceForOnePlugin) {
  PluginFolder folder;
  folder.add("fault_none");
  Host::Options options = quiet_options();
  options.plugin_files = {folder.library("fault_none"), folder.library("fault_none")};
  options.plugin_dirs = {folder.path(), folder.path() + "/"};
  const auto infos = open_host(std::move(options))->plugins(true);
  ASSERT_EQ(infos.size(), 1U);
  EXPECT_THAT(infos.front().reason, HasSubstr("named more than once"));
}

// A door plugin as far as its manifest goes; none of these is loaded.
void add_door(const PluginFolder& folder, const std::string& name, const std::string& id,
              const std::string& kinds) {
  std::ofstream(folder.library(name)) << "never loaded";
  std::ofstream(folder.manifest(name))
      << R"({"schema":"rollcall.plugin/1","id":")" << id
      << R"(","version":"1.0.0","vendor":"Tests","library":")" << name << kSuffix
      << R"(","abi":{"major":1,"minor":0,"minor_required":0},)"
      << R"("interfaces":["rollcall.door-prober/1"],"door_kinds":[)" << kinds << "]}";
  PluginFolder::set_mode(folder.library(name), 0755);
  PluginFolder::set_mode(folder.manifest(name), 0644);
}

TEST(DoorKinds, OfRollcallsOwnAreRefusedToAThirdParty) {
  for (const char* kind : {"a2a", "http", "tcp", "unix"}) {
    PluginFolder folder;
    add_door(folder, "door", "com.example.door", "\"own\",\"" + std::string(kind) + "\"");
    const auto infos = open_host(folder)->plugins();
    ASSERT_EQ(infos.size(), 1U);
    EXPECT_EQ(infos.front().state, PluginState::kRefused) << kind;
    EXPECT_THAT(infos.front().reason,
                HasSubstr("the kind of door " + std::string(kind) + ", which is Rollcall's own"));
  }
}

TEST(DoorKinds, BelongToTheFirstOnThePath) {
  PluginFolder first;
  PluginFolder second;
  add_door(first, "door", "com.example.first", R"("knock")");
  add_door(second, "door", "com.example.second", R"("knock")");
  Host::Options options = quiet_options();
  options.plugin_dirs = {first.path(), second.path()};
  const auto infos = open_host(std::move(options))->plugins();
  ASSERT_EQ(infos.size(), 2U);
  EXPECT_EQ(infos[0].state, PluginState::kAvailable);
  EXPECT_EQ(infos[1].state, PluginState::kShadowed);
  EXPECT_THAT(infos[1].reason, HasSubstr("the kind of door knock is com.example.first's"));
}

TEST(DoorKinds, ThatAreFreeStayWithAPluginThatLostAnother) {
  PluginFolder first;
  PluginFolder second;
  add_door(first, "door", "com.example.first", R"("knock")");
  add_door(second, "door", "com.example.second", R"("knock","bell")");
  Host::Options options = quiet_options();
  options.plugin_dirs = {first.path(), second.path()};
  const auto infos = open_host(std::move(options))->plugins();
  ASSERT_EQ(infos.size(), 2U);
  EXPECT_EQ(infos[1].state, PluginState::kAvailable);
  EXPECT_THAT(infos[1].door_kinds, ElementsAre("bell"));
  EXPECT_THAT(infos[1].reason, HasSubstr("the kind of door knock is com.example.first's"));
}

TEST(DoorKinds, OfAnInstalledPluginOfOursPrecedeAnEarlierThirdParty) {
  PluginFolder foreign;
  PluginFolder own;
  add_door(foreign, "door", "com.example.door", R"("future")");
  add_door(own, "door", "rollcall.future_door", R"("future")");
  const std::string own_folder = own.path();
  const auto found = loader::find_plugins(
      {.folders = {{.path = foreign.path()}, {.path = own.path(), .builtin = true}},
       .builtin_folders = {own_folder}});
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].info.state, PluginState::kShadowed);
  EXPECT_THAT(found[0].info.reason, HasSubstr("which is Rollcall's own"));
  EXPECT_EQ(found[1].info.state, PluginState::kAvailable);
}

TEST(Search, RefusesARollcallIdOutsideOfRollcallsOwnFolder) {
  PluginFolder folder;
  folder.add("fault_none");
  std::string manifest = slurp(folder.manifest("fault_none"));
  manifest.replace(manifest.find("com.example.fault.none"), 22, "rollcall.a2a_door");
  std::ofstream(folder.manifest("fault_none")) << manifest;
  const PluginInfo info = only_plugin(folder);
  EXPECT_EQ(info.state, PluginState::kRefused);
  EXPECT_THAT(info.reason, HasSubstr("ids that begin with \"rollcall.\" are for the plugins in"));
}

TEST(Search, IsInByteOrderWithinAFolder) {
  PluginFolder folder;
  folder.add("twin_pollux");
  folder.add("fault_none");
  folder.add("twin_castor");
  std::vector<std::string> ids;
  for (const auto& info : open_host(folder)->plugins()) ids.push_back(info.id);
  EXPECT_THAT(ids,
              ElementsAre("com.example.fault.none", "com.example.castor", "com.example.pollux"));
}

TEST(Search, ReadsManifestsAndLoadsNothing) {
  PluginFolder folder;
  folder.add("fault_static_exits");  // loading it would end this process
  const auto infos = open_host(folder)->plugins();
  ASSERT_EQ(infos.size(), 1U);
  EXPECT_EQ(infos.front().state, PluginState::kAvailable);
  EXPECT_EQ(infos.front().vendor, "Rollcall tests");
}

TEST(Search, SaysThatALibraryHasNoManifest) {
  PluginFolder folder;
  folder.add("fault_none");
  fs::remove(folder.manifest("fault_none"));
  const PluginInfo info = only_plugin(folder);
  EXPECT_EQ(info.state, PluginState::kRefused);
  EXPECT_THAT(info.reason, HasSubstr("no manifest fault_none.rollcall.json beside it"));
}

TEST(Search, SaysThatAManifestHasNoLibrary) {
  PluginFolder folder;
  folder.add("fault_none");
  fs::remove(folder.library("fault_none"));
  const PluginInfo info = only_plugin(folder);
  EXPECT_EQ(info.state, PluginState::kRefused);
  EXPECT_THAT(info.reason, HasSubstr("cannot find " + folder.library("fault_none")));
}

TEST(Search, SaysThatAConfiguredFolderIsMissing) {
  Host::Options options = quiet_options();
  const std::string missing = below_top({"nonexistent", "rollcall"});
  options.plugin_dirs = {missing};
  const auto infos = open_host(std::move(options))->plugins();
  ASSERT_EQ(infos.size(), 1U);
  EXPECT_THAT(infos.front().reason, HasSubstr("cannot find the folder " + missing));
}

TEST(SearchPath, NamesThePlacesThatAreNotThereToo) {
  const loader::Surroundings around = {.library_folder = below_top({"nonexistent", "lib"}),
                                       .program_folder = below_top({"nonexistent", "bin"}),
                                       .installed_folder = below_top({"nonexistent", "plugins"})};
  EXPECT_THAT(loader::builtin_places(around),
              ElementsAre(below_top({"nonexistent", "lib", "rollcall", "plugins"}),
                          below_top({"nonexistent", "bin", "..", "lib", "rollcall", "plugins"}),
                          below_top({"nonexistent", "plugins"})));
  EXPECT_THAT(loader::builtin_folders(around), IsEmpty());
}

TEST(Host, DoesNotCallAMissingBackendNotFound) {
  const auto host = open_host(quiet_options());
  const auto probe = host->platform_probe();
  ASSERT_FALSE(probe);
  EXPECT_EQ(probe.error().code, ErrorCode::kUnsupported);
  EXPECT_THAT(probe.error().message, HasSubstr("no folder was looked in"));
  const auto control = host->platform_control();
  ASSERT_FALSE(control);
  EXPECT_EQ(control.error().code, ErrorCode::kUnsupported);
}

TEST(Host, DoesNotCallAMissingPluginNotFound) {
  const auto host = open_host(quiet_options());
  const auto probe = host->probe("com.example.nobody");
  ASSERT_FALSE(probe);
  EXPECT_EQ(probe.error().code, ErrorCode::kUnsupported);
  EXPECT_EQ(host->record_store("com.example.nobody").error().code, ErrorCode::kUnsupported);
}

TEST(Twins, SeeTheirOwnHelpersAndGlobals) {
  PluginFolder folder;
  folder.add("twin_castor");
  folder.add("twin_pollux");
  const auto host = open_host(folder);
  for (const std::string name : {"castor", "pollux", "castor"}) {
    const auto probe = host->probe("com.example." + name);
    ASSERT_TRUE(probe) << probe.error().message;
    const Ask ask{.pid = 7, .wants = kWantStartToken};
    Observation out;
    ASSERT_TRUE((*probe)->observe({&ask, 1}, {&out, 1}, {}));
    EXPECT_EQ(out.start_token.view(), name);
  }
}

}  // namespace
}  // namespace rollcall::testing
