#include "regtool/ps_view.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace rollcall::regtool {
namespace {

struct Field {
  std::string_view name;
  std::string_view title;  // of the column
  std::string (*text)(const SessionRow&);
};

const Field kFields[] = {
    {"session", "SESSION", [](const SessionRow& row) { return row.session_id; }},
    {"session_id", "SESSION", [](const SessionRow& row) { return row.session_id; }},
    {"name", "NAME", [](const SessionRow& row) { return format_name(row.name, row.version); }},
    {"version", "VERSION", [](const SessionRow& row) { return row.version; }},
    {"status", "STATUS", [](const SessionRow& row) { return row.status; }},
    {"detached", "DETACHED",
     [](const SessionRow& row) { return std::string(row.detached ? "yes" : "no"); }},
    {"uptime", "UPTIME", [](const SessionRow& row) { return format_uptime(row.uptime_s); }},
    {"pid", "PID", [](const SessionRow& row) { return std::to_string(row.pid); }},
    {"kind", "KIND",
     [](const SessionRow& row) { return row.door_kind.empty() ? "-" : row.door_kind; }},
    {"door", "DOOR", [](const SessionRow& row) { return row.door; }},
    {"url", "URL", [](const SessionRow& row) { return row.url.value_or("-"); }},
    {"workdir", "WORKDIR", [](const SessionRow& row) { return row.workdir; }},
    {"store", "STORE", [](const SessionRow& row) { return row.store; }},
    {"code", "CODE", [](const SessionRow& row) { return row.reason_code; }},
    {"reason", "REASON", [](const SessionRow& row) { return row.reason_text; }},
};

const Field* find_field(std::string_view name) {
  const auto* found = std::find_if(std::begin(kFields), std::end(kFields),
                                   [&](const Field& field) { return field.name == name; });
  return found == std::end(kFields) ? nullptr : found;
}

bool is_label_field(std::string_view name) {
  return name.substr(0, kLabelPrefix.size()) == kLabelPrefix && name.size() > kLabelPrefix.size();
}

std::string field_text(std::string_view name, const SessionRow& row) {
  if (const Field* field = find_field(name)) return field->text(row);
  const auto label = row.labels.find(std::string(name.substr(kLabelPrefix.size())));
  return label == row.labels.end() ? "" : label->second;
}

std::vector<std::string_view> split_columns(std::string_view columns) {
  std::vector<std::string_view> names;
  for (std::size_t begin = 0; begin <= columns.size();) {
    const std::size_t end = std::min(columns.find(',', begin), columns.size());
    names.push_back(columns.substr(begin, end - begin));
    begin = end + 1;
  }
  return names;
}

std::string known_fields() {
  std::string out;
  for (const Field& field : kFields) out.append(out.empty() ? "" : ", ").append(field.name);
  return out + ", label.KEY";
}

tl::unexpected<Failure> unknown_field(std::string_view name) {
  return usage_failure(fmt::format("no column {}; there are {}", name, known_fields()),
                       std::string(name));
}

bool passes_label(const SessionRow& row, const std::string& wanted) {
  const std::size_t equals = wanted.find('=');
  const auto label = row.labels.find(wanted.substr(0, equals));
  if (label == row.labels.end()) return false;
  return equals == std::string::npos || label->second == wanted.substr(equals + 1);
}

std::string filter_value(const SessionRow& row, std::string_view key) {
  if (key == "name") return row.name;
  if (key == "id" || key == "session") return row.session_id;
  if (key == "kind") return row.door_kind;
  if (key == "detached") return row.detached ? "yes" : "no";
  return field_text(key, row);
}

constexpr std::array<std::string_view, 12> kFilterKeys = {
    "name", "id",       "session", "status", "label", "version",
    "pid",  "detached", "workdir", "kind",   "url",   "store"};

// The pieces of a template: text to copy, or a field.
struct Piece {
  bool is_field = false;
  std::string text;
};

Outcome<std::vector<Piece>> split_template(std::string_view format) {
  std::vector<Piece> pieces(1);
  for (std::size_t at = 0; at < format.size(); ++at) {
    const char byte = format[at];
    const char next = at + 1 < format.size() ? format[at + 1] : '\0';
    if ((byte == '{' || byte == '}') && next == byte) {
      pieces.back().text += byte;
      ++at;
    } else if (byte == '\\' && (next == 't' || next == 'n' || next == '\\')) {
      pieces.back().text += next == 't' ? '\t' : (next == 'n' ? '\n' : '\\');
      ++at;
    } else if (byte == '{') {
      const std::size_t end = format.find('}', at);
      if (end == std::string_view::npos) return usage_failure("--format: a { without its }");
      const std::string_view name = format.substr(at + 1, end - at - 1);
      if (find_field(name) == nullptr && !is_label_field(name)) return unknown_field(name);
      pieces.push_back({.is_field = true, .text = std::string(name)});
      pieces.emplace_back();
      at = end;
    } else if (byte == '}') {
      return usage_failure("--format: a } without its {");
    } else {
      pieces.back().text += byte;
    }
  }
  return pieces;
}

Colour status_colour(std::string_view status) {
  if (status == "live") return Colour::kGood;
  if (status == "unreachable") return Colour::kWarn;
  return status == "gone" ? Colour::kBad : Colour::kNone;
}

}  // namespace

Outcome<void> check_filter(const KeyValue& filter) {
  if (std::find(kFilterKeys.begin(), kFilterKeys.end(), filter.key) == kFilterKeys.end()) {
    std::string known;
    for (const auto key : kFilterKeys) known.append(known.empty() ? "" : ", ").append(key);
    return usage_failure(fmt::format("no filter {}; there are {}", filter.key, known), filter.key);
  }
  constexpr std::array<std::string_view, 4> kStatuses = {"live", "alive", "unreachable", "gone"};
  if (filter.key == "status" &&
      std::find(kStatuses.begin(), kStatuses.end(), filter.value) == kStatuses.end()) {
    return usage_failure("a status is live, alive, unreachable or gone", filter.value);
  }
  return {};
}

bool passes(const SessionRow& row, const std::vector<KeyValue>& filters) {
  return std::all_of(filters.begin(), filters.end(), [&](const KeyValue& filter) {
    if (filter.key == "label") return passes_label(row, filter.value);
    const std::string value = filter_value(row, filter.key);
    return std::any_of(filters.begin(), filters.end(), [&](const KeyValue& other) {
      return other.key == filter.key && other.value == value;
    });
  });
}

Outcome<void> check_sort(std::string_view order) {
  if (!order.empty() && order.front() == '-') order.remove_prefix(1);
  if (find_field(order) == nullptr && !is_label_field(order)) return unknown_field(order);
  return {};
}

void sort_rows(std::vector<SessionRow>& rows, std::string_view order) {
  const bool descending = !order.empty() && order.front() == '-';
  if (descending) order.remove_prefix(1);
  const auto less = [&](const SessionRow& a, const SessionRow& b) {
    if (order == "pid") return a.pid < b.pid;
    if (order == "uptime") return a.uptime_s.value_or(-1) < b.uptime_s.value_or(-1);
    return field_text(order, a) < field_text(order, b);
  };
  std::stable_sort(rows.begin(), rows.end(), [&](const SessionRow& a, const SessionRow& b) {
    return descending ? less(b, a) : less(a, b);
  });
}

bool is_template(std::string_view format) {
  return format.find_first_of("{}") != std::string_view::npos;
}

Outcome<void> check_format(std::string_view format) {
  if (is_template(format)) {
    const auto pieces = split_template(format);
    if (!pieces) return tl::unexpected(pieces.error());
    return {};
  }
  for (const std::string_view name : split_columns(format)) {
    if (find_field(name) == nullptr && !is_label_field(name)) return unknown_field(name);
  }
  return {};
}

std::string fill_template(std::string_view format, const SessionRow& row, text::Charset charset) {
  std::string out;
  const auto pieces = split_template(format);
  if (!pieces) return out;
  for (const Piece& piece : *pieces) {
    out += piece.is_field ? text::for_terminal(field_text(piece.text, row), charset) : piece.text;
  }
  out += '\n';
  return out;
}

TableText table_of(const std::vector<SessionRow>& rows, std::string_view columns) {
  TableText table;
  const auto names = split_columns(columns);
  for (const std::string_view name : names) {
    const Field* field = find_field(name);
    table.header.emplace_back(field != nullptr ? field->title : name);
  }
  table.rows.reserve(rows.size());
  for (const SessionRow& row : rows) {
    auto& cells = table.rows.emplace_back();
    for (const std::string_view name : names) {
      cells.push_back({.text = field_text(name, row),
                       .colour = name == "status" ? status_colour(row.status) : Colour::kNone});
    }
  }
  return table;
}

}  // namespace rollcall::regtool
