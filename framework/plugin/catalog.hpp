// What was found on the search path: manifests read and trusted, or refused and why. No library is
// loaded here.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "plugin/manifest.hpp"
#include "plugin/search_path.hpp"
#include "plugin/trust.hpp"
#include "rollcall/host.hpp"

namespace rollcall::loader {

struct Candidate {
  PluginInfo info;
  std::optional<Manifest> manifest;  // of those that are available or shadowed
  bool opened = false;               // its manifest was there and could be opened
};

struct CatalogOptions {
  std::vector<std::string> plugin_files;
  std::vector<SearchFolder> folders;
  std::vector<std::string> builtin_folders;  // canonical
  bool accept_untrusted = false;
};

// Everything there is, in the order of the search. Of candidates with one id the first is
// available and the others are shadowed. A kind of door belongs to Rollcall's own plugin of it,
// else to the first that offers it: `info.door_kinds` holds what is left to each, `info.reason`
// what it lost to whom. "a2a", "http", "tcp" and "unix" are refused to third parties. An id that
// begins with "rollcall." is Rollcall's own, and refused anywhere but in Rollcall's own folders; a
// third party's plugin there stays a third party's.
[[nodiscard]] std::vector<Candidate> find_plugins(const CatalogOptions& options);

// One library file with the manifest beside it. `info.state` says how it went.
[[nodiscard]] Candidate read_candidate(const std::string& library_file,
                                       const std::vector<std::string>& builtin_folders,
                                       bool accept_untrusted);

}  // namespace rollcall::loader
