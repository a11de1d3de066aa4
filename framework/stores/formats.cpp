#include "stores/formats.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include <fmt/format.h>

#include "core/rfc3339.hpp"
#include "registry/json_text.hpp"
#include "stores/json_object.hpp"

namespace rollcall::stores {
namespace {

constexpr std::string_view kReceiptSchema = "supercode.live-runtime.v1";
constexpr std::string_view kReceiptEndpoint = "supercode-live://";
constexpr std::string_view kJupyterFiles[] = {"jpserver-", "nbserver-"};
constexpr std::int64_t kNsPerMs = 1'000'000;

tl::unexpected<Error> corrupt(std::string text) {
  return fail(ErrorCode::kCorrupt, std::move(text));
}

bool is_hex(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789abcdef") == std::string_view::npos;
}

bool is_decimal(std::string_view text) {
  return !text.empty() && text.find_first_not_of("0123456789") == std::string_view::npos;
}

Result<std::string> instant_of_ms(std::int64_t ms, std::string_view key) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int64_t>::max() / kNsPerMs;
  if (ms < 0 || ms > kMost) return corrupt(fmt::format("`{}` is no time in milliseconds", key));
  return core::format_rfc3339_utc(ms * kNsPerMs);
}

void append_member(std::string& json, std::string_view key, std::string_view value) {
  json.append(json.size() > 1 ? "," : "").append(registry::json_string(key)).append(":");
  json.append(value);
}

// A server that listens everywhere listens on loopback too.
std::string host_of(const std::string& hostname) {
  if (hostname.empty() || hostname == "*" || hostname == "0.0.0.0" || hostname == "::") {
    return "localhost";
  }
  const bool bare_ipv6 = hostname.find(':') != std::string::npos && hostname.front() != '[';
  return bare_ipv6 ? "[" + hostname + "]" : hostname;
}

Status add_jupyter_door(const JsonObject& object, Record& record) {
  if (const auto sock = object.optional_text("sock"); sock && !sock->empty()) {
    record.door = DoorSpec{"unix", {{"path", *sock}}};
    return {};
  }
  const auto port = object.whole("port");
  if (!port || *port < 1 || *port > 65535) {
    return corrupt("`port` is missing or is not a whole number from 1 to 65535");
  }
  const bool secure = object.is_true("secure");
  record.url = fmt::format("{}{}:{}", secure ? "https://" : "",
                           host_of(object.optional_text("hostname").value_or("localhost")), *port);
  std::string base = object.optional_text("base_url").value_or("/");
  if (base.empty() || base.back() != '/') base += '/';
  record.door = DoorSpec{"jupyter", {{"path", base + "api/status"}}};
  auto token = object.optional_text("token");
  if (token && check_token(*token)) record.door_token = std::move(*token);
  return {};
}

}  // namespace

Result<Record> read_three_layer(std::string_view bytes, const SourceFile& file) {
  const auto object = JsonObject::parse(bytes);
  if (!object) return tl::unexpected(object.error());
  std::string json = "{";
  for (const auto& [key, value] : object->members()) {
    // An older writer's own keys are what counts in its store.
    if (key == "capsule_name") {
      append_member(json, "name", value);
    } else if (key == "capsule_version") {
      append_member(json, "version", value);
    } else if ((key != "name" || !object->has("capsule_name")) &&
               (key != "version" || !object->has("capsule_version"))) {
      append_member(json, key, value);
    }
  }
  auto record = parse_record(json + "}", file.stem);
  if (!record) return corrupt(std::move(record.error().text));
  return std::move(*record);
}

Result<Record> read_receipt(std::string_view bytes, const SourceFile& file) {
  const auto object = JsonObject::parse(bytes);
  if (!object) return tl::unexpected(object.error());
  if (object->optional_text("schema") != kReceiptSchema) {
    return corrupt(fmt::format("`schema` is not {}", kReceiptSchema));
  }
  auto id = object->text("receipt_id");
  auto runtime = object->text("runtime_session_id");
  const auto pid = object->pid("pid");
  const auto created = object->whole("created_at_ms");
  const auto source = object->object("source");
  if (!id) return tl::unexpected(id.error());
  if (*id != file.stem) return corrupt("`receipt_id` is not the name of its file");
  if (!runtime) return tl::unexpected(runtime.error());
  if (!pid) return tl::unexpected(pid.error());
  if (!created) return tl::unexpected(created.error());
  if (!source) return tl::unexpected(source.error());
  auto started = instant_of_ms(*created, "created_at_ms");
  if (!started) return tl::unexpected(started.error());
  Record record;
  record.session_id = std::move(*id);
  record.process.pid = *pid;
  record.started_at = std::move(*started);
  record.name = source->optional_text("harness").value_or("");
  record.workdir = source->optional_text("workspace").value_or("");
  record.metadata["endpoint"] = std::string(kReceiptEndpoint) + record.session_id;
  record.metadata["runtime_session_id"] = std::move(*runtime);
  if (auto session = source->optional_text("session_id")) {
    record.metadata["source_session_id"] = std::move(*session);
  }
  return record;
}

Result<Record> read_row(std::string_view bytes, const RowKeys& keys) {
  const auto object = JsonObject::parse(bytes);
  if (!object) return tl::unexpected(object.error());
  auto id = object->text(keys.session);
  const auto pid = object->pid(keys.pid);
  if (!id) return tl::unexpected(id.error());
  if (!pid) return tl::unexpected(pid.error());
  Record record;
  record.session_id = std::move(*id);
  record.process.pid = *pid;
  record.workdir = object->optional_text(keys.cwd).value_or("");
  if (auto text = object->optional_text(keys.started)) {
    record.started_at = std::move(*text);
  } else if (object->has(keys.started)) {
    const auto ms = object->whole(keys.started);
    if (!ms) return tl::unexpected(ms.error());
    auto started = instant_of_ms(*ms, keys.started);
    if (!started) return tl::unexpected(started.error());
    record.started_at = std::move(*started);
  }
  return record;
}

Result<Record> read_jupyter(std::string_view bytes, const SourceFile& file) {
  const auto object = JsonObject::parse(bytes);
  if (!object) return tl::unexpected(object.error());
  const auto pid = object->pid("pid");
  if (!pid) return tl::unexpected(pid.error());
  const std::string_view number = file.stem.substr(file.stem.find('-') + 1);
  if (number != std::to_string(*pid)) return corrupt("`pid` is not that of its name");
  Record record;
  record.session_id = std::string(file.stem);
  record.process.pid = *pid;
  record.started_at = core::format_rfc3339_utc(file.modified_unix_ns);
  record.name = file.stem.starts_with("nb") ? "jupyter-notebook" : "jupyter-server";
  record.version = object->optional_text("version").value_or("");
  record.workdir = object->optional_text("root_dir")
                       .value_or(object->optional_text("notebook_dir").value_or(""));
  if (auto door = add_jupyter_door(*object, record); !door) return tl::unexpected(door.error());
  return record;
}

bool is_file_of(ForeignKind kind, std::string_view name) {
  if (!name.ends_with(".json") || name.starts_with('.')) return false;
  const std::string_view stem = name.substr(0, name.size() - 5);
  switch (kind) {
    case ForeignKind::kReceipts:
      return is_hex(stem);
    case ForeignKind::kJupyter:
      return std::any_of(
          std::begin(kJupyterFiles), std::end(kJupyterFiles), [&](std::string_view prefix) {
            return stem.starts_with(prefix) && is_decimal(stem.substr(prefix.size()));
          });
    case ForeignKind::kThreeLayer:
    case ForeignKind::kRows:
      return !stem.empty();
    case ForeignKind::kPairs:
      break;
  }
  return false;
}

}  // namespace rollcall::stores
