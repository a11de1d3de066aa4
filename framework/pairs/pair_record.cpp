#include "pairs/pair_record.hpp"

#include <optional>
#include <string>

#include <fmt/format.h>

#include "pairs/file_names.hpp"
#include "registry/json_text.hpp"

namespace rollcall::pairs {
namespace {

// Whether a JSON value names something.
bool names_something(std::string_view json) {
  return json != "null" && json != "false" && json != "\"\"" && json != "{}" && json != "[]" &&
         json != "0";
}

}  // namespace

Result<PairRecord> parse_pair_record(std::string_view bytes, std::string_view id,
                                     const RecordKeys& keys) {
  const auto json = registry::admit_json(bytes, kMaxPairRecordBytes);
  if (!json) return fail(ErrorCode::kCorrupt, json.error().text);
  const auto members = registry::split_object(*json);
  if (!members) return fail(ErrorCode::kCorrupt, members.error().message);
  PairRecord record;
  std::optional<std::string> named;
  std::optional<std::uint64_t> generation;
  for (const auto& [key, value] : *members) {
    if (key == keys.pair_id) {
      const auto text = registry::string_value(value);
      if (text) named = *text;
    } else if (key == keys.tab) {
      record.has_tab = names_something(value);
    } else if (key == keys.controller) {
      record.has_controller = names_something(value);
    } else if (key == keys.generation && value.size() <= kGenerationDigits) {
      generation = registry::plain_decimal(value);
    }
  }
  if (!named) return fail(ErrorCode::kCorrupt, fmt::format("it has no `{}`", keys.pair_id));
  if (*named != id) {
    return fail(ErrorCode::kCorrupt, fmt::format("its `{}` is not that of its name", keys.pair_id));
  }
  if (record.has_tab && !generation) {
    return fail(ErrorCode::kCorrupt,
                fmt::format("it has a `{}` and no whole number of up to {} digits in `{}`",
                            keys.tab, kGenerationDigits, keys.generation));
  }
  record.generation = generation.value_or(0);
  return record;
}

}  // namespace rollcall::pairs
