#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fstream>
#include <string>

#include "regtool/config.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::regtool {
namespace {

class LoadConfig : public ::testing::Test {
 protected:
  std::string put(const std::string& name, const std::string& text, mode_t mode = 0600) {
    const std::string path = dir_.path().string() + "/" + name;
    std::ofstream(path) << text;
    chmod(path.c_str(), mode);
    return path;
  }
  testing::TempDir dir_;
};

TEST_F(LoadConfig, LaysTheHomesOverTheSystems) {
  const std::string system = put("system.json", R"({"gone":{"days":1},"quarantine":{"days":2}})");
  const std::string home = put("home.json", R"({"gone":{"days":5}})");
  const auto config = load_config(home, system);
  ASSERT_TRUE(config) << config.error().text;
  EXPECT_EQ(config->gone_days, 5);
  EXPECT_EQ(config->quarantine_days, 2);
  for (const Config::Source& source : config->sources) {
    const std::string from =
        source.key == "gone.days" ? home : (source.key == "quarantine.days" ? system : "default");
    EXPECT_EQ(source.from, from) << source.key;
  }
}

TEST_F(LoadConfig, TakesMissingFilesForNone) {
  EXPECT_TRUE(load_config(dir_.path().string() + "/none.json",
                          dir_.path().string() + "/nowhere/none.json"));
}

TEST_F(LoadConfig, RefusesAFileThatOthersCanWrite) {
  for (const mode_t mode : {mode_t{0620}, mode_t{0602}}) {
    const auto config = load_config(put("c.json", "{}", mode), "");
    ASSERT_FALSE(config);
    EXPECT_EQ(config.error().code, "config");
    EXPECT_EQ(config.error().exit_code, kExitIo);
    EXPECT_NE(config.error().text.find("chmod go-w"), std::string::npos) << config.error().text;
  }
}

TEST_F(LoadConfig, RefusesAFolderThatOthersCanWrite) {
  const std::string path = put("c.json", "{}");
  chmod(dir_.path().c_str(), 0770);
  const auto config = load_config(path, "");
  chmod(dir_.path().c_str(), 0700);
  EXPECT_FALSE(config);
}

TEST_F(LoadConfig, RefusesASymlinkAndAFifo) {
  const std::string link = dir_.path().string() + "/link.json";
  ASSERT_EQ(symlink(put("c.json", "{}").c_str(), link.c_str()), 0);
  EXPECT_FALSE(load_config(link, ""));
  const std::string fifo = dir_.path().string() + "/fifo.json";
  ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
  EXPECT_FALSE(load_config(fifo, ""));
}

TEST_F(LoadConfig, RefusesAHugeFile) {
  const auto config = load_config(put("c.json", std::string(70'000, ' ')), "");
  ASSERT_FALSE(config);
  EXPECT_NE(config.error().text.find("larger than"), std::string::npos);
}

}  // namespace
}  // namespace rollcall::regtool
