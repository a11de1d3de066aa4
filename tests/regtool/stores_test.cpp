#include "regtool/stores.hpp"

#include <gtest/gtest.h>

#include <map>

#include "core/paths.hpp"
#include "regtool/options.hpp"

namespace rollcall::regtool {
namespace {

std::vector<std::string> names(const std::vector<std::string>& typed) {
  const auto stores = parse_stores(typed);
  std::vector<std::string> all;
  if (!stores) return {"failed: " + stores.error().code};
  for (const auto& store : stores->stores)
    all.push_back(store.name + (store.dir ? "=" + *store.dir : ""));
  return all;
}

using Names = std::vector<std::string>;

Surroundings around(const std::map<std::string, std::string>& variables = {}) {
  return {"/home/me/.rollcall", "/home/me", [variables](const char* name) {
            const auto found = variables.find(name);
            return found == variables.end() ? std::nullopt : std::optional(found->second);
          }};
}

// "/x" as this platform writes an absolute path.
std::string absolute(const std::string& path) {
  return core::is_absolute_path(path) ? path : core::clean_path("C:" + path);
}

std::string dir_of(const std::string& store,
                   const std::map<std::string, std::string>& variables = {},
                   const Config& config = {}) {
  return plan_store({store, {}}, config, around(variables)).options.dir;
}

TEST(StoreNames, AreAListOrGivenAgainAndCountOnce) {
  EXPECT_EQ(names({}), Names{"rollcall"});
  EXPECT_EQ(names({"claude,jupyter", "claude"}), (Names{"claude", "jupyter"}));
  EXPECT_EQ(names({"all"}),
            (Names{"rollcall", "murmur", "supercode", "pairs", "claude", "jupyter"}));
  EXPECT_EQ(names({"jupyter", "all"}).size(), 6u);
  EXPECT_EQ(names({"com.example.etcd"}), Names{"com.example.etcd"});
}

TEST(StoreNames, AllAreAlsoThoseThatPluginsOffer) {
  PluginInfo store;
  store.id = "com.example.etcd";
  store.interfaces = {"rollcall.record-store/1"};
  PluginInfo refused = store;
  refused.id = "com.example.refused";
  refused.state = PluginState::kRefused;
  PluginInfo door = store;
  door.id = "com.example.door";
  door.interfaces = {"rollcall.door-prober/1"};
  const std::vector<PluginInfo> plugins = {store, refused, door, store};
  const auto all = with_plugin_stores(*parse_stores({"all"}), plugins);
  ASSERT_EQ(all.size(), 7u);
  EXPECT_EQ(all.back().name, "com.example.etcd");
  EXPECT_EQ(with_plugin_stores(*parse_stores({"com.example.etcd,all"}), plugins).size(), 7u);
  EXPECT_EQ(with_plugin_stores(*parse_stores({"claude"}), plugins).size(), 1u);
  EXPECT_EQ(with_plugin_stores(*parse_stores({}), plugins).size(), 1u);
}

TEST(StoreNames, MayNameAFolder) {
  const std::string folder = absolute("/srv/a,b");
  EXPECT_EQ(names({"supercode=" + folder}), Names{"supercode=" + folder});
  EXPECT_EQ(names({"claude", "claude=" + folder}), (Names{"claude", "claude=" + folder}));
  for (const char* bad : {"supercode=", "supercode=relative", "rollcall=/srv", "com.example=/srv",
                          "all=/srv", "=/srv"}) {
    EXPECT_EQ(names({bad}), Names{"failed: usage"}) << bad;
  }
}

TEST(StoreNames, ThatAreNoneAreAUsageFailure) {
  for (const char* bad : {"", ",", "claude,", "nobody", "Claude", "ALL"}) {
    EXPECT_EQ(names({bad}), Names{"failed: usage"}) << bad;
  }
}

TEST(StorePlaces, AreTheProgramsOwn) {
  EXPECT_EQ(dir_of("murmur"), core::clean_path("/home/me/.murmur/running"));
  EXPECT_EQ(dir_of("supercode"), core::clean_path("/home/me/.supercode/live-runtimes"));
  EXPECT_EQ(dir_of("supercode", {{"SUPERCODE_HOME", "/sc"}}),
            core::clean_path("/sc/live-runtimes"));
  EXPECT_EQ(dir_of("pairs"), core::clean_path("/home/me/.rollcall/pairs"));
  EXPECT_EQ(dir_of("claude"), core::clean_path("/home/me/.claude/sessions"));
  EXPECT_EQ(dir_of("claude", {{"CLAUDE_CONFIG_DIR", "/cc"}}), core::clean_path("/cc/sessions"));
  EXPECT_EQ(dir_of("jupyter"), core::clean_path(jupyter_data_dir(around()) + "/runtime"));
  EXPECT_EQ(dir_of("jupyter", {{"JUPYTER_DATA_DIR", "/jd"}}), core::clean_path("/jd/runtime"));
  EXPECT_EQ(dir_of("jupyter", {{"JUPYTER_DATA_DIR", "/jd"}, {"JUPYTER_RUNTIME_DIR", "/jr"}}),
            core::clean_path("/jr"));
}

TEST(StorePlaces, AreOverruledByTheConfigurationAndThatByWhatIsTyped) {
  Config config;
  config.claude_dir = "/configured";
  EXPECT_EQ(dir_of("claude", {{"CLAUDE_CONFIG_DIR", "/cc"}}, config),
            core::clean_path("/configured"));
  EXPECT_EQ(plan_store({"claude", "/typed"}, config, around()).options.dir,
            core::clean_path("/typed"));
}

TEST(StorePlans, TakeNamesAndKeysFromTheConfiguration) {
  Config config;
  EXPECT_EQ(plan_store({"claude", {}}, config, around()).guard.names.front(), "claude");
  EXPECT_FALSE(plan_store({"claude", {}}, config, around()).guard.registers_late);
  EXPECT_TRUE(plan_store({"jupyter", {}}, config, around()).guard.registers_late);
  EXPECT_TRUE(plan_store({"pairs", {}}, config, around()).guard.names.empty());
  config.claude_commands = {"node"};
  config.claude_keys = {"session=id", "cwd=dir"};
  config.pairs_keys = {"controller=claude"};
  const auto plan = plan_store({"claude", {}}, config, around());
  EXPECT_EQ(plan.guard.names, std::vector<std::string>{"node"});
  EXPECT_EQ(plan.options.row_keys.session, "id");
  EXPECT_EQ(plan.options.row_keys.cwd, "dir");
  EXPECT_EQ(plan.options.row_keys.pid, "pid");
  EXPECT_EQ(plan_store({"pairs", {}}, config, around()).options.pair_keys.controller, "claude");
}

TEST(StoreOptions, StandBeforeOrAfterTheCommand) {
  for (const std::vector<std::string>& words :
       {std::vector<std::string>{"--store", "claude", "ps"},
        std::vector<std::string>{"ps", "--store", "claude"}}) {
    const auto invocation = parse_command_line(words);
    ASSERT_TRUE(invocation) << invocation.error().text;
    EXPECT_TRUE(invocation->global.chose_stores);
    ASSERT_EQ(invocation->global.stores.stores.size(), 1u);
    EXPECT_EQ(invocation->global.stores.stores[0].name, "claude");
  }
  EXPECT_FALSE(parse_command_line({"ps", "--store", "nobody"}));
  const auto usual = parse_command_line({"ps"});
  ASSERT_TRUE(usual);
  EXPECT_FALSE(usual->global.chose_stores);
}

TEST(PairsOptions, NameAPairAndAFolder) {
  const auto rebind = parse_command_line(
      {"pairs", "rebind", "bench", "--parent", "4242", "--dir", absolute("/srv")});
  ASSERT_TRUE(rebind) << rebind.error().text;
  const auto& command = std::get<PairsRebindCommand>(rebind->command);
  EXPECT_EQ(command.id, "bench");
  EXPECT_EQ(command.parent, 4242);
  EXPECT_EQ(command.dir, absolute("/srv"));
  for (const std::vector<std::string>& bad : {std::vector<std::string>{"pairs", "show", "../x"},
                                              {"pairs", "x"},
                                              {"pairs", "show", ""},
                                              {"pairs", "rebind", "a", "--parent", "0"},
                                              {"pairs", "rebind", "a", "--parent", "x"},
                                              {"pairs", "ls", "--dir", ""}}) {
    EXPECT_FALSE(parse_command_line(bad)) << bad.back();
  }
}

}  // namespace
}  // namespace rollcall::regtool
