// What a child that checked a plugin left behind, put into a sentence. The parts of
// check_in_child() that are the same on every system.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "plugin/check.hpp"

namespace rollcall::loader {

inline constexpr std::size_t kMaxChildOutput = 1U << 20;
inline constexpr std::size_t kMaxChildNoise = 4096;

// Appends what there is room for below `limit`.
void append_bounded(std::string& into, std::string_view bytes, std::size_t limit);

// The last report in the output; nullopt: there is none that can be read.
[[nodiscard]] std::optional<CheckReport> report_in(std::string_view output);

// "while this was tried: ...", by the last progress line.
[[nodiscard]] std::string last_progress(std::string_view output);
// Whether the library was being loaded then.
[[nodiscard]] bool was_loading(std::string_view output);
// " (it said: ...)", of its stderr; empty: it said nothing.
[[nodiscard]] std::string first_words(std::string_view noise);

[[nodiscard]] std::string hung_ending(std::string_view output, std::int64_t limit_ns);
[[nodiscard]] std::string exit_ending(std::string_view output, std::string_view noise, int code);

}  // namespace rollcall::loader
