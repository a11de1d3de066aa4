// Plugins on disk for tests: copied to folders whose owner and mode the test knows.
#pragma once

#include <filesystem>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "rollcall/host.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::testing {

// A folder with copies of test plugins.
class PluginFolder {
 public:
  PluginFolder() {
    std::filesystem::create_directory(path());
    set_mode(path(), 0755);
  }
  [[nodiscard]] std::string path() const { return (temp_ / "plugins").string(); }
  [[nodiscard]] std::string library(const std::string& name) const {
    return path() + "/" + name + ".so";
  }
  [[nodiscard]] std::string manifest(const std::string& name) const {
    return path() + "/" + name + ".rollcall.json";
  }
  // Copies one of the test plugins with its manifest.
  void add(const std::string& name) const {
    const std::string from = std::string(ROLLCALL_TEST_FAULT_DIR) + "/" + name;
    std::filesystem::copy_file(from + ".so", library(name));
    std::filesystem::copy_file(from + ".rollcall.json", manifest(name));
    set_mode(library(name), 0755);
    set_mode(manifest(name), 0644);
  }
  static void set_mode(const std::string& file, unsigned mode) {
    std::filesystem::permissions(file, static_cast<std::filesystem::perms>(mode));
  }
  [[nodiscard]] const TempDir& temp() const { return temp_; }

 private:
  TempDir temp_;
};

// A host that looks nowhere but where the test says.
inline Host::Options quiet_options() {
  return {.use_environment = false, .use_builtin_dir = false};
}

inline std::unique_ptr<Host> open_host(Host::Options options) {
  auto host = Host::open(std::move(options));
  if (!host) throw std::runtime_error(host.error().message);
  return std::move(*host);
}

inline std::unique_ptr<Host> open_host(const PluginFolder& folder) {
  Host::Options options = quiet_options();
  options.plugin_dirs = {folder.path()};
  return open_host(std::move(options));
}

// What became of the only plugin of a folder, once a load of it was tried.
inline PluginInfo only_plugin(const PluginFolder& folder) {
  auto infos = open_host(folder)->plugins(true);
  if (infos.size() != 1) throw std::runtime_error("not one plugin");
  return infos.front();
}

}  // namespace rollcall::testing
