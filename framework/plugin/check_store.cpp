#include <fmt/format.h>

#include <optional>

#include "plugin/check_suite.hpp"

namespace rollcall::loader {
namespace {

constexpr std::int64_t kSecond = 1'000'000'000;

rollcall_str str(std::string_view text) { return {text.data(), text.size()}; }

struct Seen {
  std::size_t count = 0;
  std::string fault;
  std::string name;
  std::string version;
  std::string bytes;
  static std::string copy(const rollcall_str& text) {
    return text.data == nullptr ? std::string()
                                : std::string(text.data, static_cast<std::size_t>(text.size));
  }
  static std::int32_t take(void* context, const rollcall_store_entry* entry) noexcept {
    auto& seen = *static_cast<Seen*>(context);
    try {
      ++seen.count;
      if (entry == nullptr || entry->struct_size < sizeof(rollcall_store_entry)) {
        seen.fault = "an entry is null or short";
        return ROLLCALL_OK;
      }
      seen.name = copy(entry->name);
      seen.version = copy(entry->version);
      seen.bytes = copy(entry->bytes);
      if (seen.name.empty()) seen.fault = "an entry has no name";
      if (seen.version.size() > 128) seen.fault = "a version has more than 128 bytes";
    } catch (...) {
      return ROLLCALL_E_NO_MEMORY;
    }
    return ROLLCALL_OK;
  }
};

class StoreSuite {
 public:
  StoreSuite(const rollcall_record_store& table, void* self, Steps& steps)
      : table_(table), self_(self), steps_(steps) {}

  void run(bool write) {
    list_rule();
    missing_rule();
    constexpr std::string_view kRule = "record-store: entries are made, replaced and removed";
    if (table_.create_if_absent == nullptr || table_.replace_if == nullptr ||
        table_.remove_if == nullptr) {
      steps_.skip(kRule, "the store is read-only");
    } else if (!write) {
      steps_.skip(kRule, "nothing was to be written");
    } else {
      write_rules();
    }
  }

 private:
  Seen read(std::string_view name, std::int32_t& code) {
    Seen seen;
    const rollcall_store_sink sink = {
        .struct_size = sizeof(sink), .context = &seen, .entry = &Seen::take};
    const rollcall_call call = call_bounds(5 * kSecond);
    code = table_.read(self_, str(name), &sink, &call, nullptr);
    return seen;
  }

  void list_rule() {
    constexpr std::string_view kRule = "record-store: list gives whole entries";
    steps_.begin(kRule);
    Seen seen;
    const rollcall_store_sink sink = {
        .struct_size = sizeof(sink), .context = &seen, .entry = &Seen::take};
    const rollcall_call call = call_bounds(5 * kSecond);
    rollcall_error error{};
    error.struct_size = sizeof(error);
    const std::int32_t code = table_.list(self_, &sink, &call, &error);
    steps_.expect(
        code == ROLLCALL_OK && seen.fault.empty(), kRule,
        code == ROLLCALL_OK ? seen.fault : fmt::format("status {}: {}", code, error_text(error)));
  }

  void missing_rule() {
    constexpr std::string_view kRule = "record-store: read of a missing entry is NOT_FOUND";
    steps_.begin(kRule);
    std::int32_t code = 0;
    const Seen seen = read(name_, code);
    steps_.expect(code == ROLLCALL_E_NOT_FOUND && seen.count == 0, kRule,
                  fmt::format("it gave status {}; expected is a ROLLCALL_E_*", code));
  }

  bool expect_code(std::int32_t code, std::int32_t wanted, std::string_view rule) {
    steps_.expect(code == wanted, rule, fmt::format("status {} in place of {}", code, wanted));
    return code == wanted;
  }

  void write_rules() {
    const rollcall_call call = call_bounds(10 * kSecond);
    const std::string_view first = "{\"a\":1}\n";
    const std::string_view second = "{\"a\":2}\n";
    const auto create = [&] {
      return table_.create_if_absent(self_, str(name_), str(first), &call, nullptr);
    };
    const auto remove = [&](std::string_view version) {
      return table_.remove_if(self_, str(name_), str(version), &call, nullptr);
    };
    steps_.begin("record-store: writing");
    if (!expect_code(create(), ROLLCALL_OK, "record-store: an entry is created")) return;
    expect_code(create(), ROLLCALL_E_EXISTS, "record-store: a taken name is EXISTS");
    std::int32_t code = 0;
    const Seen before = read(name_, code);
    steps_.expect(code == ROLLCALL_OK && before.bytes == first && before.name == name_,
                  "record-store: what was written is read back", "other bytes or another name");
    expect_code(
        table_.replace_if(self_, str(name_), str("no such version"), str(second), &call, nullptr),
        ROLLCALL_E_CONFLICT, "record-store: replacing another version is CONFLICT");
    expect_code(remove("no such version"), ROLLCALL_E_CONFLICT,
                "record-store: removing another version is CONFLICT");
    expect_code(
        table_.replace_if(self_, str(name_), str(before.version), str(second), &call, nullptr),
        ROLLCALL_OK, "record-store: the named version is replaced");
    const Seen after = read(name_, code);
    steps_.expect(after.version != before.version && after.bytes == second,
                  "record-store: replacing changes bytes and version", "one of them stayed");
    expect_code(remove(after.version), ROLLCALL_OK, "record-store: the named version is removed");
    expect_code(remove(after.version), ROLLCALL_E_NOT_FOUND,
                "record-store: removing what has gone is NOT_FOUND");
  }

  const rollcall_record_store& table_;
  void* self_;
  Steps& steps_;
  std::string name_ = fmt::format("rollcall-check-{}", own_pid());
};

}  // namespace

void check_store(const rollcall_record_store& table, const CheckOptions& options, Steps& steps) {
  constexpr std::string_view kRule = "record-store: an instance is made";
  steps.begin(kRule);
  const RawInstance instance(slots_of(table), options.settings);
  if (!instance.made()) {
    steps.fail(kRule, instance.problem());
    return;
  }
  steps.pass(kRule);
  StoreSuite(table, instance.self(), steps).run(options.write_store);
}

}  // namespace rollcall::loader
