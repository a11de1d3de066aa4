// What other programs write, translated to a record, one function a format. Pure; any thread.
// Errors: kCorrupt, with what is missing or of the wrong type; never a value.
#pragma once

#include <cstdint>
#include <string_view>

#include "rollcall/foreign_store.hpp"
#include "rollcall/record.hpp"
#include "rollcall/result.hpp"

namespace rollcall::stores {

// The file that was read.
struct SourceFile {
  std::string_view stem;              // its name without ".json"
  std::int64_t modified_unix_ns = 0;  // its mtime
};

[[nodiscard]] Result<Record> read_three_layer(std::string_view bytes, const SourceFile& file);
// Neither the address nor the token becomes part of the record.
[[nodiscard]] Result<Record> read_receipt(std::string_view bytes, const SourceFile& file);
[[nodiscard]] Result<Record> read_row(std::string_view bytes, const RowKeys& keys);
[[nodiscard]] Result<Record> read_jupyter(std::string_view bytes, const SourceFile& file);

// Whether a file of this name is one of the store's.
[[nodiscard]] bool is_file_of(ForeignKind kind, std::string_view name);

}  // namespace rollcall::stores
