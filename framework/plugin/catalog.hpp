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
};

struct CatalogOptions {
  std::vector<std::string> plugin_files;
  std::vector<SearchFolder> folders;
  std::vector<std::string> builtin_folders;  // canonical
  bool accept_untrusted = false;
};

// Everything there is, in the order of the search. Of candidates with one id the first is
// available and the others are shadowed. An id that begins with "rollcall." is Rollcall's own, and
// refused anywhere but in Rollcall's own folders; a third party's plugin there stays a third
// party's.
[[nodiscard]] std::vector<Candidate> find_plugins(const CatalogOptions& options);

// One library file with the manifest beside it. `info.state` says how it went.
[[nodiscard]] Candidate read_candidate(const std::string& library_file,
                                       const std::vector<std::string>& builtin_folders,
                                       bool accept_untrusted);

}  // namespace rollcall::loader
