// What may be shown of a url that a record holds.
#pragma once

#include <string>
#include <string_view>

namespace rollcall {

// Without userinfo, path, query and fragment, where secrets stand; only ever made shorter. Still
// bytes: escape before showing. Pure; any thread.
[[nodiscard]] std::string shown_url(std::string_view url);

}  // namespace rollcall
