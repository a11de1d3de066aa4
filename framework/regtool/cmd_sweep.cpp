#include <fmt/format.h>

#include "regtool/commands.hpp"
#include "regtool/json.hpp"
#include "rollcall/process_dirs.hpp"

namespace rollcall::regtool {
namespace {

void write_dirs(JsonWriter& json, std::string_view key, const std::vector<SweptDir>& dirs) {
  json.key(key).begin_array();
  for (const SweptDir& dir : dirs) {
    json.begin_object().text("name", dir.name).integer("pid", dir.pid);
    json.text("reason", dir.reason);
    if (dir.code == Reason::kNone) {
      json.null("code");
    } else {
      json.text("code", to_text(dir.code));
    }
    json.end_object();
  }
  json.end_array();
}

}  // namespace

Outcome<int> run_sweep(Context& context, const SweepCommand& command) {
  const auto probe = context.probe();
  if (!probe) return tl::unexpected(probe.error());
  const auto sweep = sweep_process_dirs(platform::absolute_path(command.dir),
                                        {.dry_run = command.dry_run}, **probe, {});
  if (!sweep) return failure_of(sweep.error(), command.dir);
  Output& out = context.out();
  if (out.json()) {
    JsonWriter json;
    json.begin_object().text("schema", "rollcall.sweep/1").text("dir", command.dir);
    json.boolean("dry_run", command.dry_run);
    write_dirs(json, "removed", sweep->removed);
    write_dirs(json, "kept", sweep->kept);
    json.end_object();
    out.document(json);
    return kExitYes;
  }
  for (const SweptDir& dir : sweep->removed) {
    out.line(fmt::format("{}: {}: {}", command.dry_run ? "would remove" : "removed", dir.name,
                         dir.reason));
  }
  for (const SweptDir& dir : sweep->kept) {
    out.line(fmt::format("kept: {}: {}", dir.name, dir.reason));
  }
  if (sweep->removed.empty() && sweep->kept.empty()) out.line("nothing to sweep");
  return kExitYes;
}

}  // namespace rollcall::regtool
