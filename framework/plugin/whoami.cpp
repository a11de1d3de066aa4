#include <Poco/HMACEngine.h>
#include <Poco/SHA2Engine.h>
#include <fmt/format.h>

#include <algorithm>
#include <string>

#include "plugin/proxies.hpp"

namespace rollcall::loader {
namespace {

// Poco 1.11's SHA2Engine lacks the constants and the default constructor that HMACEngine asks for.
class Sha256 : public Poco::SHA2Engine {
 public:
  enum { BLOCK_SIZE = 64, DIGEST_SIZE = 32 };  // NOLINT: Poco's names
  Sha256() : Poco::SHA2Engine(Poco::SHA2Engine::SHA_256) {}
};

constexpr std::string_view kHostIdText = "rollcall";

struct Part {
  const char* what;
  std::uint32_t size;
  std::size_t capacity;
};

// A text that was read; nullopt where its size is 0.
std::optional<std::string> part(const char* bytes, std::uint32_t size) {
  if (size == 0) return std::nullopt;
  return std::string(bytes, size);
}

bool is_visible_ascii(std::string_view text) {
  return std::all_of(text.begin(), text.end(), [](char c) { return c > 0x20 && c < 0x7F; });
}

std::string why(const char* bytes, std::uint32_t size) {
  return size == 0 ? std::string("the backend gives no reason") : std::string(bytes, size);
}

// By this rule boot ids are seconds; one that is no number cannot be compared.
bool fits_rule(std::uint32_t rule, std::string_view boot_id) {
  if (rule != ROLLCALL_BOOT_WITHIN_120_S) return true;
  return boot_id.size() <= 18 &&
         std::all_of(boot_id.begin(), boot_id.end(), [](char c) { return c >= '0' && c <= '9'; });
}

void take_boot_id(const rollcall_whoami& from, WhoAmI& into) {
  auto boot_id = part(from.boot_id, from.boot_id_size);
  if (!boot_id) {
    into.boot_id_why = why(from.boot_id_why, from.boot_id_why_size);
  } else if (!is_visible_ascii(*boot_id) || !fits_rule(from.boot_rule, *boot_id)) {
    into.boot_id_why = "the boot id is not of this platform's form";
  } else {
    into.self.boot_id = std::move(boot_id);
  }
}

void take_start_token(const rollcall_whoami& from, WhoAmI& into) {
  const std::string_view token(from.start_token, from.start_token_size);
  if (token.empty()) {
    into.start_token_why = why(from.start_token_why, from.start_token_why_size);
  } else if (!is_visible_ascii(token)) {
    into.start_token_why = "the start token is not visible ASCII";
  } else {
    into.self.start_token = token;
  }
}

Status check_sizes(const rollcall_whoami& from) {
  for (const Part& p :
       {Part{"start_token", from.start_token_size, sizeof(from.start_token)},
        Part{"boot_id", from.boot_id_size, sizeof(from.boot_id)},
        Part{"machine_id", from.machine_id_size, sizeof(from.machine_id)},
        Part{"nodename", from.nodename_size, sizeof(from.nodename)},
        Part{"pid_namespace", from.pid_namespace_size, sizeof(from.pid_namespace)},
        Part{"time_namespace", from.time_namespace_size, sizeof(from.time_namespace)},
        Part{"start_token_why", from.start_token_why_size, sizeof(from.start_token_why)},
        Part{"boot_id_why", from.boot_id_why_size, sizeof(from.boot_id_why)}}) {
    if (p.size > p.capacity) {
      return fail(ErrorCode::kCorrupt,
                  fmt::format("{} has {} bytes, and {} is room for", p.what, p.size, p.capacity));
    }
  }
  if (!is_possible_pid(from.pid)) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} is no pid", from.pid));
  }
  if (from.boot_rule > ROLLCALL_BOOT_EQUAL_ONLY) {
    return fail(ErrorCode::kCorrupt, fmt::format("{} is no rule of boot ids", from.boot_rule));
  }
  return {};
}

}  // namespace

std::string make_host_id(std::string_view machine_id, std::string_view nodename) {
  Poco::HMACEngine<Sha256> hmac{std::string(machine_id)};
  hmac.update(kHostIdText.data(), kHostIdText.size());
  return fmt::format("{}-{}", Poco::DigestEngine::digestToHex(hmac.digest()), nodename);
}

Result<WhoAmI> take_whoami(const rollcall_whoami& from) {
  if (Status ok = check_sizes(from); !ok) return tl::unexpected<Error>(std::move(ok.error()));
  WhoAmI into;
  into.self.pid = from.pid;
  into.uid = from.uid;
  into.boot_rule = static_cast<BootRule>(from.boot_rule);
  take_boot_id(from, into);
  take_start_token(from, into);
  if (from.exact_id != 0) into.self.exact_id = std::to_string(from.exact_id);
  // Without either part it would be another host's as well: left out.
  if (from.machine_id_size > 0 && from.nodename_size > 0) {
    into.self.host_id =
        make_host_id({from.machine_id, from.machine_id_size}, {from.nodename, from.nodename_size});
  }
  into.self.pid_namespace = part(from.pid_namespace, from.pid_namespace_size);
  into.self.time_namespace = part(from.time_namespace, from.time_namespace_size);
  return into;
}

static_assert(static_cast<int>(BootRule::kExact) == ROLLCALL_BOOT_EXACT);
static_assert(static_cast<int>(BootRule::kWithin120s) == ROLLCALL_BOOT_WITHIN_120_S);
static_assert(static_cast<int>(BootRule::kEqualOnly) == ROLLCALL_BOOT_EQUAL_ONLY);

}  // namespace rollcall::loader
