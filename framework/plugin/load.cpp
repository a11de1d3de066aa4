#include "plugin/load.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "plugin/file_path.hpp"
#include "plugin/shared_library.hpp"
#include "plugin/trust.hpp"

namespace rollcall::loader {
namespace {

Status differs(const char* what, std::string_view manifest, std::string_view library) {
  return fail(ErrorCode::kCorrupt,
              fmt::format("its manifest says {} {} and the library says {}: they are not of one "
                          "build",
                          what, manifest, library));
}

// The file is checked, loaded by its path, and its path is looked at again: between the two only
// root and ourselves could have put another file there, and then nothing of it is used.
Result<SharedLibrary> load_checked(const std::string& path, bool accept_untrusted) {
  const auto folder = TrustedFolder::open(folder_of(path), {.accept_untrusted = accept_untrusted});
  if (!folder) return tl::unexpected<Error>(folder.error());
  const auto file = folder->open_file(leaf_of(path));
  if (!file) return tl::unexpected<Error>(file.error());
  auto library = SharedLibrary::load(file->path());
  if (!library) return library;
  if (Status ok = file->still_there(); !ok) return tl::unexpected<Error>(std::move(ok.error()));
  return library;
}

}  // namespace

const std::vector<std::string>& known_interfaces() {
  static const std::vector<std::string> ids = {ROLLCALL_PROCESS_PROBE_ID,
                                               ROLLCALL_PROCESS_CONTROL_ID, ROLLCALL_WATCH_ID,
                                               ROLLCALL_RECORD_STORE_ID, ROLLCALL_DOOR_PROBER_ID};
  return ids;
}

Status agrees(const Manifest& manifest, const PluginCode& code) {
  if (manifest.id != code.id()) return differs("id", manifest.id, code.id());
  if (manifest.version != code.version()) {
    return differs("version", manifest.version, code.version());
  }
  if (!(manifest.abi == code.abi())) {
    return differs("plugin ABI", to_text(manifest.abi), to_text(code.abi()));
  }
  if (manifest.minor_required != code.minor_required()) {
    return differs("required minor", std::to_string(manifest.minor_required),
                   std::to_string(code.minor_required()));
  }
  for (const std::string& interface : manifest.interfaces) {
    if (!code.offers(interface)) {
      return fail(
          ErrorCode::kCorrupt,
          fmt::format("its manifest promises {} and the library does not offer it", interface));
    }
  }
  for (const std::string& interface : known_interfaces()) {
    const bool promised = std::find(manifest.interfaces.begin(), manifest.interfaces.end(),
                                    interface) != manifest.interfaces.end();
    if (code.offers(interface) && !promised) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("the library offers {} and its manifest does not say so", interface));
    }
  }
  return {};
}

Result<std::shared_ptr<PluginCode>> load_plugin(const Candidate& candidate,
                                                const LoadOptions& options) {
  const std::string& path = candidate.info.file;
  const auto refuse = [&](Error error) {
    return wrap(fmt::format("cannot load {}", path), std::move(error));
  };
  if (!candidate.manifest) return refuse({ErrorCode::kRefused, candidate.info.reason});
  auto library = load_checked(path, options.accept_untrusted);
  if (!library) return refuse(std::move(library.error()));
  auto entry = library->find(ROLLCALL_ENTRY_SYMBOL);
  if (!entry) return refuse(std::move(entry.error()));
  auto code = PluginCode::start(*entry, candidate.info.builtin, options.log, options.init_limit_ns);
  if (!code) return refuse(std::move(code.error()));
  if (Status ok = agrees(*candidate.manifest, **code); !ok) return refuse(std::move(ok.error()));
  return code;
}

}  // namespace rollcall::loader
