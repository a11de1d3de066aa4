#include "core/shown_url.hpp"

namespace rollcall {

std::string shown_url(std::string_view url) {
  std::string_view scheme;
  const std::size_t mark = url.find("://");
  if (mark != std::string_view::npos) {
    scheme = url.substr(0, mark + 3);
    url.remove_prefix(mark + 3);
  }
  url = url.substr(0, url.find_first_of("/?#\\"));
  const std::size_t at = url.rfind('@');
  if (at != std::string_view::npos) url.remove_prefix(at + 1);
  // An '@' in what was taken for the scheme makes it userinfo as well.
  if (scheme.find('@') != std::string_view::npos) scheme = {};
  return std::string(scheme).append(url);
}

}  // namespace rollcall
