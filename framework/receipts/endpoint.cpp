// Endpoints and the addresses behind them.
#include <algorithm>
#include <string>
#include <string_view>

#include <fmt/format.h>

#include "receipts/receipt_rules.hpp"
#include "rollcall/door_url.hpp"
#include "rollcall/receipts.hpp"

namespace rollcall {
namespace {

constexpr std::size_t kIdDigits = 32;
constexpr std::size_t kMaxUrl = 512;
constexpr std::string_view kHttp = "http://";

// What may stand in a path that no two readers of a url take apart differently.
bool is_plain_path(std::string_view path) {
  return std::ranges::all_of(path, [](char c) {
    return (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z') ||
           std::string_view("/-._~").find(c) != std::string_view::npos;
  });
}

tl::unexpected<Error> bad_url(std::string_view why) {
  return fail(ErrorCode::kInvalid, fmt::format("the base url is refused: {}", why));
}

}  // namespace

Status receipts::check_receipt_id(std::string_view id) {
  if (id.size() == kIdDigits &&
      id.find_first_not_of("0123456789abcdef") == std::string_view::npos) {
    return {};
  }
  return fail(ErrorCode::kInvalid, "its name is not 32 lower-case hex digits");
}

Result<std::string> parse_endpoint(std::string_view endpoint) {
  if (endpoint.starts_with(kEndpointPrefix)) {
    const std::string_view id = endpoint.substr(kEndpointPrefix.size());
    if (receipts::check_receipt_id(id)) return std::string(id);
  }
  return fail(ErrorCode::kInvalid,
              fmt::format("an endpoint is {} and 32 lower-case hex digits", kEndpointPrefix));
}

std::string format_endpoint(std::string_view receipt_id) {
  return std::string(kEndpointPrefix).append(receipt_id);
}

Status check_base_url(std::string_view url) {
  if (url.size() > kMaxUrl) return bad_url("it is longer than 512 bytes");
  if (!url.starts_with(kHttp)) {
    return bad_url(url.starts_with("https:") ? "https is not supported"
                                             : "it does not begin with http://");
  }
  const std::string_view rest = url.substr(kHttp.size());
  const auto slash = rest.find('/');
  const auto address = parse_door_url(rest.substr(0, slash));
  if (!address) return bad_url(address.error().text);
  if (slash != std::string_view::npos && !is_plain_path(rest.substr(slash))) {
    return bad_url("its path holds something else than letters, digits and / - . _ ~");
  }
  return {};
}

}  // namespace rollcall
