#include "plugin/manifest.hpp"

#include <fmt/format.h>
#include <rapidjson/document.h>
#include <rapidjson/error/en.h>

#include <algorithm>
#include <cstdint>
#include <optional>

namespace rollcall::loader {
namespace {

constexpr int kMaxDepth = 8;
constexpr std::size_t kMaxListItems = 32;

tl::unexpected<Error> corrupt(std::string message) {
  return fail(ErrorCode::kCorrupt, std::move(message));
}

// Before any parser sees it: RapidJSON's own recursion is not bounded.
bool too_deep(std::string_view bytes) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    const char c = bytes[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '{' || c == '[') {
      if (++depth > kMaxDepth) return true;
    } else if (c == '}' || c == ']') {
      --depth;
    }
  }
  return false;
}

bool is_word(std::string_view text, std::string_view more) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [&](char c) {
    return (c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || more.find(c) != more.npos;
  });
}

bool is_library_name(std::string_view name) {
  if (name.empty() || name.size() > 255 || name.front() == '.') return false;
  return std::all_of(name.begin(), name.end(), [](char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' ||
           c == '_' || c == '-' || c == '+';
  });
}

bool is_shown_text(std::string_view text, std::size_t limit) {
  return !text.empty() && text.size() <= limit && std::all_of(text.begin(), text.end(), [](char c) {
    return static_cast<unsigned char>(c) >= 0x20 && c != 0x7F;
  });
}

// An interface id: a plugin id, '/', a number; a draft's ends in ".draft".
bool is_interface_id(std::string_view text) {
  const std::size_t slash = text.find('/');
  return text.size() <= 128 && slash != text.npos && is_plugin_id(text.substr(0, slash)) &&
         is_word(text.substr(slash + 1), ".");
}

class Reader {
 public:
  explicit Reader(const rapidjson::Value& object, std::string where = {})
      : object_(object), where_(std::move(where)) {}

  // The value of a key that stands at most once; null where it is absent.
  Result<const rapidjson::Value*> find(const char* key) const {
    const rapidjson::Value* found = nullptr;
    for (const auto& member : object_.GetObject()) {
      const std::string_view name(member.name.GetString(), member.name.GetStringLength());
      if (name != key) continue;
      if (found != nullptr) return corrupt(fmt::format("\"{}{}\" stands twice", where_, key));
      found = &member.value;
    }
    return found;
  }
  Result<const rapidjson::Value*> need(const char* key) const {
    auto found = find(key);
    if (found && *found == nullptr) return corrupt(fmt::format("\"{}{}\" is missing", where_, key));
    return found;
  }
  Result<std::string> text(const char* key) const {
    const auto value = need(key);
    if (!value) return tl::unexpected<Error>(value.error());
    if (!(*value)->IsString()) return corrupt(fmt::format("\"{}{}\" is no string", where_, key));
    return std::string((*value)->GetString(), (*value)->GetStringLength());
  }
  Result<std::uint32_t> number(const char* key) const {
    const auto value = need(key);
    if (!value) return tl::unexpected<Error>(value.error());
    if (!(*value)->IsUint()) {
      return corrupt(fmt::format("\"{}{}\" is no whole number from 0", where_, key));
    }
    return (*value)->GetUint();
  }
  Result<bool> flag(const char* key, bool otherwise) const {
    const auto value = find(key);
    if (!value) return tl::unexpected<Error>(value.error());
    if (*value == nullptr) return otherwise;
    if (!(*value)->IsBool()) return corrupt(fmt::format("\"{}{}\" is no boolean", where_, key));
    return (*value)->GetBool();
  }
  // An absent list is an empty one.
  Result<std::vector<std::string>> list(const char* key, bool (*fits)(std::string_view)) const {
    const auto value = find(key);
    if (!value) return tl::unexpected<Error>(value.error());
    std::vector<std::string> items;
    if (*value == nullptr) return items;
    if (!(*value)->IsArray()) return corrupt(fmt::format("\"{}{}\" is no list", where_, key));
    if ((*value)->Size() > kMaxListItems) {
      return fail(ErrorCode::kTooLarge,
                  fmt::format("\"{}{}\" has more than {} items", where_, key, kMaxListItems));
    }
    for (const auto& item : (*value)->GetArray()) {
      if (!item.IsString() || !fits({item.GetString(), item.GetStringLength()})) {
        return corrupt(fmt::format("\"{}{}\" holds an item that cannot be one", where_, key));
      }
      items.emplace_back(item.GetString(), item.GetStringLength());
      if (std::count(items.begin(), items.end(), items.back()) > 1) {
        return corrupt(fmt::format("\"{}{}\" holds \"{}\" twice", where_, key, items.back()));
      }
    }
    return items;
  }

 private:
  const rapidjson::Value& object_;
  std::string where_;
};

// Takes a Result's value into a field, or keeps its error as the first one.
class Collector {
 public:
  template <class T>
  void take(Result<T> from, T& into) {
    if (from) {
      into = std::move(*from);
    } else {
      note(std::move(from.error()));
    }
  }
  void check(bool holds, const char* message) {
    if (!holds && !error_) error_ = Error{ErrorCode::kCorrupt, message};
  }
  [[nodiscard]] const std::optional<Error>& error() const { return error_; }

 private:
  void note(Error error) {
    if (!error_) error_ = std::move(error);
  }
  std::optional<Error> error_;
};

void read_abi(const Reader& reader, Manifest& manifest, Collector& collect) {
  const rapidjson::Value* abi = nullptr;
  collect.take(reader.need("abi"), abi);
  if (abi == nullptr) return;
  collect.check(abi->IsObject(), "\"abi\" is no object");
  if (!abi->IsObject()) return;
  const Reader inner(*abi, "abi.");
  collect.take(inner.number("major"), manifest.abi.major);
  collect.take(inner.number("minor"), manifest.abi.minor);
  collect.take(inner.number("minor_required"), manifest.minor_required);
}

bool offers_doors(const Manifest& manifest) {
  return std::count(manifest.interfaces.begin(), manifest.interfaces.end(),
                    ROLLCALL_DOOR_PROBER_ID) > 0;
}

void check_values(const Manifest& manifest, Collector& collect) {
  collect.check(is_plugin_id(manifest.id),
                "\"id\" is no plugin id (lower-case words, digits, '-' and '_', with a dot)");
  collect.check(is_shown_text(manifest.version, 64), "\"version\" is empty, long or not printable");
  collect.check(is_shown_text(manifest.vendor, 128), "\"vendor\" is empty, long or not printable");
  collect.check(is_library_name(manifest.library),
                "\"library\" is no bare file name: the library stands beside its manifest");
  collect.check(!manifest.interfaces.empty(), "\"interfaces\" is empty");
  collect.check(offers_doors(manifest) == !manifest.door_kinds.empty(),
                "\"door_kinds\" and the interface \"" ROLLCALL_DOOR_PROBER_ID
                "\" come together or not at all");
}

}  // namespace

Result<Manifest> parse_manifest(std::string_view bytes) {
  if (bytes.size() > kMaxManifestBytes) {
    return fail(ErrorCode::kTooLarge, fmt::format("it has more than {} bytes", kMaxManifestBytes));
  }
  if (bytes.find('\0') != bytes.npos) return corrupt("it holds a NUL byte");
  if (too_deep(bytes)) {
    return fail(ErrorCode::kTooLarge, fmt::format("it is nested deeper than {}", kMaxDepth));
  }
  rapidjson::Document document;
  document.Parse<rapidjson::kParseValidateEncodingFlag | rapidjson::kParseIterativeFlag>(
      bytes.data(), bytes.size());
  if (document.HasParseError()) {
    return corrupt(fmt::format("it is no JSON: {} (at byte {})",
                               rapidjson::GetParseError_En(document.GetParseError()),
                               document.GetErrorOffset()));
  }
  if (!document.IsObject()) return corrupt("it is no JSON object");
  const Reader reader(document);
  const auto schema = reader.text("schema");
  if (!schema) return tl::unexpected<Error>(schema.error());
  if (*schema != kManifestSchema) {
    return fail(ErrorCode::kIncompatible,
                fmt::format("its schema is \"{}\" and this Rollcall reads \"{}\"", *schema,
                            kManifestSchema));
  }
  Manifest manifest;
  Collector collect;
  collect.take(reader.text("id"), manifest.id);
  collect.take(reader.text("version"), manifest.version);
  collect.take(reader.text("vendor"), manifest.vendor);
  collect.take(reader.text("library"), manifest.library);
  read_abi(reader, manifest, collect);
  collect.take(reader.list("interfaces", &is_interface_id), manifest.interfaces);
  collect.take(
      reader.list("door_kinds",
                  [](std::string_view kind) { return kind.size() <= 64 && is_word(kind, "._-"); }),
      manifest.door_kinds);
  collect.take(reader.flag("wants_token", false), manifest.wants_token);
  collect.take(reader.list("platforms",
                           [](std::string_view name) {
                             return name == "linux" || name == "macos" || name == "windows";
                           }),
               manifest.platforms);
  check_values(manifest, collect);
  if (collect.error()) return tl::unexpected<Error>(*collect.error());
  return manifest;
}

std::string_view this_platform() {
#if defined(_WIN32)
  return "windows";
#elif defined(__APPLE__)
  return "macos";
#else
  return "linux";
#endif
}

bool is_plugin_id(std::string_view text) {
  return text.size() <= 128 && is_word(text, ".-_") && text.find('.') != text.npos &&
         text.front() != '.' && text.back() != '.' && text.find("..") == text.npos;
}

bool is_reserved_id(std::string_view id) { return id.substr(0, 9) == "rollcall."; }

}  // namespace rollcall::loader
