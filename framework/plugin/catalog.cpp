#include "plugin/catalog.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/file_path.hpp"

namespace rollcall::loader {
namespace {

#if defined(_WIN32)
constexpr std::string_view kLibrarySuffix = ".dll";
#elif defined(__APPLE__)
constexpr std::string_view kLibrarySuffix = ".dylib";
#else
constexpr std::string_view kLibrarySuffix = ".so";
#endif

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() > end.size() && text.substr(text.size() - end.size()) == end;
}

// The stem that a library and its manifest share.
std::string stem_of(const std::string& library) {
  return ends_with(library, kLibrarySuffix)
             ? library.substr(0, library.size() - kLibrarySuffix.size())
             : library;
}

Candidate refused(std::string file, std::string reason) {
  Candidate candidate;
  candidate.info.file = std::move(file);
  candidate.info.state = PluginState::kRefused;
  candidate.info.reason = std::move(reason);
  return candidate;
}

void refuse(PluginInfo& info, std::string reason) {
  info.state = PluginState::kRefused;
  info.reason = std::move(reason);
}

bool holds(const std::vector<std::string>& list, std::string_view item) {
  return std::find(list.begin(), list.end(), item) != list.end();
}

std::string joined(const std::vector<std::string>& list) {
  return fmt::format("{}", fmt::join(list, ", "));
}

// The kinds of doors that Rollcall's own plugins ask, whether they are installed or not.
const std::vector<std::string>& own_kinds() {
  static const std::vector<std::string> kinds = {"a2a", "http", "tcp", "unix"};
  return kinds;
}

std::string own_kind_fault(std::string_view kind) {
  return fmt::format(
      "its manifest offers the kind of door {}, which is Rollcall's own: give it a kind of yours",
      kind);
}

// What the manifest alone forbids.
std::string manifest_fault(const Manifest& manifest, bool own_folder) {
  if (is_reserved_id(manifest.id) && !own_folder) {
    return fmt::format(
        "its id is {}, and ids that begin with \"rollcall.\" are for the plugins in "
        "Rollcall's own folder: give it an id of yours",
        manifest.id);
  }
  if (!is_reserved_id(manifest.id)) {
    for (const std::string& kind : manifest.door_kinds) {
      if (holds(own_kinds(), kind)) return own_kind_fault(kind);
    }
  }
  if (!manifest.platforms.empty() && !holds(manifest.platforms, this_platform())) {
    return fmt::format("it is for {} and not for {}", joined(manifest.platforms), this_platform());
  }
  if (Status met = meet(manifest.abi, manifest.minor_required, HostAbi{}); !met) {
    return std::move(met.error().message);
  }
  return {};
}

// Fills in what the manifest says. `manifest_name` stands in `folder`.
Candidate read_manifest(const TrustedFolder& folder, const std::string& manifest_name,
                        bool own_folder) {
  Candidate candidate;
  PluginInfo& info = candidate.info;
  info.manifest = join_path(folder.path(), manifest_name);
  info.file = info.manifest;
  const auto file = folder.open_file(manifest_name);
  if (!file) {
    refuse(info, file.error().message);
    return candidate;
  }
  candidate.opened = true;
  const auto bytes = file->read(kMaxManifestBytes);
  auto manifest = bytes ? parse_manifest(*bytes) : tl::unexpected<Error>(bytes.error());
  if (!manifest) {
    refuse(info, fmt::format("its manifest {} cannot be used: {}", info.manifest,
                             manifest.error().message));
    return candidate;
  }
  info.id = manifest->id;
  info.version = manifest->version;
  info.vendor = manifest->vendor;
  info.file = join_path(folder.path(), manifest->library);
  info.abi = to_text(manifest->abi);
  info.interfaces = manifest->interfaces;
  info.door_kinds = manifest->door_kinds;
  info.wants_token = manifest->wants_token;
  info.builtin = own_folder && is_reserved_id(manifest->id);
  const auto library = folder.open_file(manifest->library);
  if (std::string fault = manifest_fault(*manifest, own_folder); !fault.empty()) {
    refuse(info, std::move(fault));
  } else if (!library) {
    refuse(info, library.error().message);
  } else {
    candidate.manifest = std::move(*manifest);
  }
  return candidate;
}

void read_folder(const SearchFolder& named, const CatalogOptions& options,
                 std::vector<std::string>& seen, std::vector<Candidate>& found) {
  const std::string canonical = canonical_folder(named.path);
  if (!canonical.empty() && holds(seen, canonical)) return;
  auto folder = TrustedFolder::open(named.path, {.accept_untrusted = options.accept_untrusted});
  if (!folder) {
    if (folder.error().code == ErrorCode::kNotFound && named.builtin) return;
    const std::string reason = folder.error().message;
    const std::size_t before = found.size();
    for (const std::string& name : peek_names(named.path)) {
      if (ends_with(name, kManifestSuffix)) {
        found.push_back(refused(join_path(named.path, name), reason));
      }
    }
    if (found.size() == before) found.push_back(refused(named.path, reason));
    return;
  }
  seen.push_back(folder->path());
  const auto names = folder->list();
  if (!names) {
    found.push_back(refused(folder->path(), names.error().message));
    return;
  }
  const bool own_folder = named.builtin || holds(options.builtin_folders, folder->path());
  for (const std::string& name : *names) {
    if (ends_with(name, kManifestSuffix)) {
      found.push_back(read_manifest(*folder, name, own_folder));
    } else if (ends_with(name, kLibrarySuffix) &&
               !holds(*names, stem_of(name) + std::string(kManifestSuffix))) {
      found.push_back(refused(
          join_path(folder->path(), name),
          fmt::format("there is no manifest {}{} beside it", stem_of(name), kManifestSuffix)));
    }
  }
}

// Of one id the first stays; one file twice is one plugin.
void shadow(std::vector<Candidate>& found) {
  for (auto at = found.begin(); at != found.end();) {
    const auto same = [&](const Candidate& earlier) {
      return earlier.manifest && at->manifest && earlier.info.id == at->info.id &&
             earlier.info.state == PluginState::kAvailable;
    };
    const auto first = std::find_if(found.begin(), at, same);
    if (first == at) {
      ++at;
      continue;
    }
    if (first->info.file == at->info.file) {
      first->info.reason = "it was named more than once and counts once";
      at = found.erase(at);
      continue;
    }
    at->info.state = PluginState::kShadowed;
    at->info.reason = fmt::format("{} has the same id and comes first", first->info.file);
    ++at;
  }
}

// Who offered a kind of door first.
const PluginInfo* owner_of(const std::vector<Candidate>& found, const PluginInfo& asker,
                           std::string_view kind) {
  for (const Candidate& other : found) {
    const bool usable = other.info.state == PluginState::kAvailable;
    if (usable && other.info.builtin && &other.info != &asker &&
        holds(other.info.door_kinds, kind)) {
      return &other.info;
    }
  }
  for (const Candidate& other : found) {
    if (&other.info == &asker) break;
    if (other.info.state == PluginState::kAvailable && holds(other.info.door_kinds, kind)) {
      return &other.info;
    }
  }
  return nullptr;
}

// Each kind of door has one plugin: Rollcall's own, else the first on the path. Another one loses
// the kind, and says so; one that is left without any is shadowed.
void settle_kinds(std::vector<Candidate>& found) {
  for (Candidate& candidate : found) {
    PluginInfo& info = candidate.info;
    if (info.state != PluginState::kAvailable || info.builtin) continue;
    std::vector<std::string> kept;
    std::string lost;
    for (const std::string& kind : info.door_kinds) {
      const PluginInfo* owner = owner_of(found, info, kind);
      if (owner == nullptr) {
        kept.push_back(kind);
        continue;
      }
      lost += fmt::format("{}the kind of door {} is {}'s ({}), which {}", lost.empty() ? "" : "; ",
                          kind, owner->id, owner->file,
                          owner->builtin ? "is Rollcall's own" : "comes first");
    }
    if (lost.empty()) continue;
    info.reason += (info.reason.empty() ? "" : "; ") + lost;
    if (kept.empty() && info.interfaces.size() == 1) {
      info.state = PluginState::kShadowed;
    } else {
      info.door_kinds = std::move(kept);
    }
  }
}

}  // namespace

Candidate read_candidate(const std::string& library_file,
                         const std::vector<std::string>& builtin_folders, bool accept_untrusted) {
  const std::string folder_path = folder_of(library_file);
  if (!is_absolute_path(library_file)) {
    return refused(library_file,
                   "it is named by a relative path, which means another file in another working "
                   "directory: name it by its absolute path");
  }
  const auto folder = TrustedFolder::open(folder_path, {.accept_untrusted = accept_untrusted});
  if (!folder) return refused(library_file, folder.error().message);
  const std::string library = leaf_of(library_file);
  const std::string manifest_name = stem_of(library) + std::string(kManifestSuffix);
  const std::string file = join_path(folder->path(), library);
  if (const auto opened = folder->open_file(library); !opened) {
    return refused(file, opened.error().message);
  }
  Candidate candidate =
      read_manifest(*folder, manifest_name, holds(builtin_folders, folder->path()));
  if (candidate.manifest && candidate.manifest->library != library) {
    refuse(candidate.info,
           fmt::format("its manifest names the library {}", candidate.manifest->library));
    candidate.manifest.reset();
  }
  candidate.info.file = file;
  return candidate;
}

std::vector<Candidate> find_plugins(const CatalogOptions& options) {
  std::vector<Candidate> found;
  std::vector<std::string> seen;
  for (const std::string& file : options.plugin_files) {
    found.push_back(read_candidate(file, options.builtin_folders, options.accept_untrusted));
  }
  for (const SearchFolder& folder : options.folders) read_folder(folder, options, seen, found);
  shadow(found);
  settle_kinds(found);
  return found;
}

}  // namespace rollcall::loader
