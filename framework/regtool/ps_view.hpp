// What `ps` shows of sessions: rows, filters, orders, formats. Pure; any thread.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "regtool/failure.hpp"
#include "regtool/format.hpp"
#include "regtool/table.hpp"
#include "rollcall/verdict.hpp"

namespace rollcall::regtool {

struct SessionRow {
  std::string store;
  std::string session_id;
  std::string name;
  std::string version;
  std::string status;  // "live", "alive", "unreachable", "gone"
  std::string reason_code;
  std::string reason_text;  // empty: none
  bool guarded_by_time = false;
  std::int64_t pid = 0;
  std::optional<std::string> url;  // stripped
  std::string door;                // the column's text
  std::string door_kind;           // "" without a door
  std::string workdir;
  bool detached = false;
  std::optional<std::int64_t> uptime_s;
  std::map<std::string, std::string> labels;
};

// Labels are kept in a record's metadata under this prefix.
inline constexpr std::string_view kLabelPrefix = "label.";

// Filters on the same key: one of them fits; on another key: all of them do. `label=K` asks for
// the label, `label=K=V` for its value; each label filter must fit.
// Failures: usage (an unknown key; a status that is none).
[[nodiscard]] Outcome<void> check_filter(const KeyValue& filter);
[[nodiscard]] bool passes(const SessionRow& row, const std::vector<KeyValue>& filters);

// A column's name, "-" before it for descending. Rows that are equal keep their order.
// Failures: usage.
[[nodiscard]] Outcome<void> check_sort(std::string_view order);
void sort_rows(std::vector<SessionRow>& rows, std::string_view order);

// Either names of columns separated by commas, or a template: {field} is replaced, {{ and }} are
// braces, \t and \n a tab and a newline.
// Failures: usage (an unknown field, a brace without its other half).
[[nodiscard]] Outcome<void> check_format(std::string_view format);
[[nodiscard]] bool is_template(std::string_view format);
// One row through a template, escaped but for the template's own text; ends in a newline.
[[nodiscard]] std::string fill_template(std::string_view format, const SessionRow& row,
                                        text::Charset charset);

struct TableText {
  std::vector<std::string> header;
  std::vector<std::vector<Cell>> rows;
};
// `columns`: names separated by commas.
[[nodiscard]] TableText table_of(const std::vector<SessionRow>& rows, std::string_view columns);

inline constexpr std::string_view kStoreColumn = "store,";  // before the others, with --store
inline constexpr std::string_view kPsColumns = "session,name,status,detached,uptime,pid,door";
inline constexpr std::string_view kPsWideColumns =
    "session,name,status,detached,uptime,pid,kind,door,reason";

}  // namespace rollcall::regtool
