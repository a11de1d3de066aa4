// Where plugins are looked for, and in which order.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace rollcall::loader {

struct SearchFolder {
  std::string path;  // as it was named
  bool builtin = false;
};

// What of the process decides; gathered by read_surroundings(), or made up by a test.
struct Surroundings {
  // ROLLCALL_PLUGIN_PATH; empty: unset, or set by somebody with fewer rights (secure_getenv(3); on
  // Windows an elevated process).
  std::string environment_path;
  std::string library_folder;    // of librollcall, or of the program that holds it; may be empty
  std::string program_folder;    // may be empty
  std::string program_fault;     // why the program's folder could not be told; empty: it could
  std::string installed_folder;  // compiled in; on Windows found from the module's own folder
};
[[nodiscard]] Surroundings read_surroundings();

// The folders in order: the environment's, the configuration's, Rollcall's own. Entries of the
// environment are divided by ':' (';' on Windows); an empty one is dropped and never means the
// working directory.
[[nodiscard]] std::vector<SearchFolder> search_folders(const Surroundings& around,
                                                       const std::vector<std::string>& configured,
                                                       bool use_environment, bool use_builtin);

// Where Rollcall's own plugins may stand, in order, whether there is such a folder or not.
[[nodiscard]] std::vector<std::string> builtin_places(const Surroundings& around);

// Rollcall's own folders, canonical, those that are there. A folder that is one of these is
// Rollcall's own however it was named.
[[nodiscard]] std::vector<std::string> builtin_folders(const Surroundings& around);

}  // namespace rollcall::loader
