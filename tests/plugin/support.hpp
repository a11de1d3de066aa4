// Plugins on disk for tests: copied to folders whose owner and mode the test knows.
#pragma once

#include <filesystem>
#include <initializer_list>
#include <memory>
#include <stdexcept>
#include <string>
#include <vector>

#include "plugin/file_path.hpp"
#include "plugin/trust.hpp"
#include "rollcall/host.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::testing {

#if defined(_WIN32)
inline constexpr const char* kSuffix = ".dll";
inline constexpr const char* kListSeparator = ";";
inline constexpr const char* kTop = "C:\\";  // what absolute paths begin with
// Of fault_missing_symbol and fault_observe_aborts.
inline constexpr const char* kMissingSymbol =
    "it needs test_missing.dll, which is neither beside it nor in the system's own folder";
inline constexpr const char* kAborted = "abort()";
#elif defined(__APPLE__)
inline constexpr const char* kSuffix = ".dylib";
inline constexpr const char* kListSeparator = ":";
inline constexpr const char* kTop = "/";
#else
inline constexpr const char* kSuffix = ".so";
inline constexpr const char* kListSeparator = ":";
inline constexpr const char* kTop = "/";
#endif
#if !defined(_WIN32)
inline constexpr const char* kMissingSymbol = "rollcall_test_symbol_that_nobody_defines";
inline constexpr const char* kAborted = "killed by SIGABRT";
#endif

// An absolute path below the top, as this platform writes it.
inline std::string below_top(std::initializer_list<const char*> names) {
  std::string path = kTop;
  for (const char* name : names) path = loader::join_path(path, name);
  return path;
}

// A folder with copies of test plugins.
class PluginFolder {
 public:
  PluginFolder() {
    std::filesystem::create_directory(temp_ / "plugins");
    set_mode((temp_ / "plugins").string(), 0755);
    path_ = loader::canonical_folder((temp_ / "plugins").string());
  }
  [[nodiscard]] std::string path() const { return path_; }  // canonical
  [[nodiscard]] std::string library(const std::string& name) const {
    return loader::join_path(path(), name + kSuffix);
  }
  [[nodiscard]] std::string manifest(const std::string& name) const {
    return loader::join_path(path(), name + ".rollcall.json");
  }
  // Copies one of the test plugins with its manifest.
  void add(const std::string& name) const {
    const std::string from = std::string(ROLLCALL_TEST_FAULT_DIR) + "/" + name;
    std::filesystem::copy_file(from + kSuffix, library(name));
    std::filesystem::copy_file(from + ".rollcall.json", manifest(name));
    set_mode(library(name), 0755);
    set_mode(manifest(name), 0644);
  }
  // Only where files have modes.
  static void set_mode(const std::string& file, unsigned mode) {
#if !defined(_WIN32)
    std::filesystem::permissions(file, static_cast<std::filesystem::perms>(mode));
#else
    (void)file, (void)mode;
#endif
  }
  [[nodiscard]] const TempDir& temp() const { return temp_; }

 private:
  TempDir temp_;
  std::string path_;
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
