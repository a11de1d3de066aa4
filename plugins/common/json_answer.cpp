#include "common/json_answer.hpp"

#include <rapidjson/document.h>
#include <rapidjson/error/en.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>
#include <optional>

namespace rollcall::doors {
namespace {

using rapidjson::Document;
using rapidjson::Value;

std::string_view text_of(const Value& value) {
  return {value.GetString(), value.GetStringLength()};
}

// Deepest nesting, counted without parsing: the parser recurses.
bool is_too_deep(std::string_view text) {
  int depth = 0;
  bool in_string = false;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char c = text[i];
    if (in_string) {
      if (c == '\\') ++i;
      if (c == '"') in_string = false;
    } else if (c == '"') {
      in_string = true;
    } else if (c == '[' || c == '{') {
      if (++depth > kMaxJsonDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// Empty: parsed. Else why not.
std::string parse(std::string_view text, Document& document) {
  if (text.substr(0, 3) == "\xEF\xBB\xBF") text.remove_prefix(3);
  if (text.empty()) return "its answer is empty";
  if (text.find('\0') != std::string_view::npos) return "its answer holds a NUL byte";
  if (is_too_deep(text)) return "its answer is nested deeper than 64 levels";
  document.Parse<rapidjson::kParseValidateEncodingFlag>(text.data(), text.size());
  if (!document.HasParseError()) return {};
  return std::string("its answer is not JSON: ") + GetParseError_En(document.GetParseError());
}

// The one member of that name. `twice` is set where it stands there more than once.
const Value* member(const Value& object, std::string_view name, bool& twice) {
  if (!object.IsObject()) return nullptr;
  const Value* found = nullptr;
  for (const auto& entry : object.GetObject()) {
    if (text_of(entry.name) != name) continue;
    if (found != nullptr) twice = true;
    found = &entry.value;
  }
  return found;
}

// C0, DEL, C1 in their UTF-8 form; and a lone surrogate, which RapidJSON lets pass as bytes that
// are not UTF-8.
bool has_control(std::string_view text) {
  for (std::size_t i = 0; i < text.size(); ++i) {
    const auto byte = static_cast<unsigned char>(text[i]);
    if (byte < 0x20 || byte == 0x7f) return true;
    const auto next = i + 1 < text.size() ? static_cast<unsigned char>(text[i + 1]) : 0U;
    if (byte == 0xC2 && next < 0xA0) return true;
    if (byte == 0xED && next >= 0xA0) return true;
  }
  return false;
}

CardReading nobody(std::string detail) {
  CardReading reading;
  reading.detail = std::move(detail);
  return reading;
}

CardReading not_json(std::string detail) {
  CardReading reading;
  reading.reading = Reading::kNotJson;
  reading.detail = std::move(detail);
  return reading;
}

CardReading rpc_error(std::string detail) {
  CardReading reading;
  reading.reading = Reading::kRpcError;
  reading.detail = std::move(detail);
  return reading;
}

CardReading as_session(const Value& value, std::string_view where) {
  if (!value.IsString()) return nobody(std::string(where) + " is not a string");
  const auto text = text_of(value);
  if (text.empty()) return nobody(std::string(where) + " is empty");
  if (has_control(text)) return nobody(std::string(where) + " holds a control character");
  CardReading reading;
  reading.reading = Reading::kNamed;
  reading.session = text;
  return reading;
}

bool is_true(const Value* value) { return value != nullptr && value->IsBool() && value->GetBool(); }

bool lists_stop(const Value& params, bool& twice) {
  const Value* methods = member(params, "methods", twice);
  if (methods == nullptr || !methods->IsArray()) return false;
  return std::any_of(methods->Begin(), methods->End(), [](const Value& method) {
    return method.IsString() && text_of(method) == kStopMethod;
  });
}

CardReading session_of(const Value& extensions, const std::vector<std::string>& uris, bool& twice) {
  CardReading found = nobody("its card has no extension that names a session");
  bool any = false;
  for (const auto& entry : extensions.GetArray()) {
    const Value* uri = member(entry, "uri", twice);
    if (uri == nullptr || !uri->IsString()) continue;
    if (std::find(uris.begin(), uris.end(), text_of(*uri)) == uris.end()) continue;
    const Value* params = member(entry, "params", twice);
    const Value* id = params == nullptr ? nullptr : member(*params, "sessionId", twice);
    if (id == nullptr) continue;
    CardReading reading = as_session(*id, "the sessionId of its card");
    if (reading.reading != Reading::kNamed) return reading;
    reading.can_be_stopped = found.can_be_stopped || lists_stop(*params, twice);
    if (any && reading.session != found.session) {
      return nobody("two extensions of its card name different sessions");
    }
    any = true;
    found = std::move(reading);
  }
  return found;
}

CardReading card_of(const Value& card, const std::vector<std::string>& uris) {
  if (!card.IsObject()) return nobody("its card is not an object");
  bool twice = false;
  const Value* capabilities = member(card, "capabilities", twice);
  const Value* extensions =
      capabilities == nullptr ? nullptr : member(*capabilities, "extensions", twice);
  CardReading reading = extensions != nullptr && extensions->IsArray()
                            ? session_of(*extensions, uris, twice)
                            : nobody("its card has no extensions");
  if (twice) return nobody("a key stands twice in its card");
  bool ignored = false;
  reading.promises_more =
      is_true(member(card, "supportsAuthenticatedExtendedCard", ignored)) ||
      (capabilities != nullptr && is_true(member(*capabilities, "extendedAgentCard", ignored)));
  return reading;
}

CardReading error_of(const Value& error) {
  bool twice = false;
  const Value* code = member(error, "code", twice);
  if (code == nullptr || !code->IsInt64() || twice) {
    return rpc_error("its JSON-RPC error has no code");
  }
  CardReading reading = rpc_error("JSON-RPC error " + std::to_string(code->GetInt64()));
  reading.has_code = true;
  reading.code = code->GetInt64();
  const Value* message = member(error, "message", twice);
  if (message != nullptr && message->IsString()) {
    reading.detail += ": " + std::string(text_of(*message).substr(0, 200));
  }
  return reading;
}

// One reference token of a pointer, with ~1 and ~0 undone.
std::string unescaped(std::string_view token) {
  std::string text;
  for (std::size_t i = 0; i < token.size(); ++i) {
    if (token[i] == '~') {
      text.push_back(token[++i] == '1' ? '/' : '~');
    } else {
      text.push_back(token[i]);
    }
  }
  return text;
}

std::optional<rapidjson::SizeType> array_index(std::string_view token) {
  if (token.empty() || token.size() > 7 || (token.size() > 1 && token.front() == '0')) return {};
  rapidjson::SizeType index = 0;
  for (const char c : token) {
    if (c < '0' || c > '9') return {};
    index = index * 10 + static_cast<rapidjson::SizeType>(c - '0');
  }
  return index;
}

}  // namespace

CardReading read_card(std::string_view body, const std::vector<std::string>& uris) {
  Document document;
  if (auto problem = parse(body, document); !problem.empty()) return not_json(std::move(problem));
  return card_of(document, uris);
}

namespace {

// The `result` of a JSON-RPC answer to the request `id`; null: `reading` says why there is none.
const Value* result_of(std::string_view body, std::string_view id, Document& document,
                       CardReading& reading);

}  // namespace

CardReading read_rpc_card(std::string_view body, std::string_view id,
                          const std::vector<std::string>& uris) {
  Document document;
  CardReading reading;
  const Value* const result = result_of(body, id, document, reading);
  return result == nullptr ? reading : card_of(*result, uris);
}

CardReading read_accepted(std::string_view body, std::string_view id) {
  Document document;
  CardReading reading;
  const Value* const result = result_of(body, id, document, reading);
  if (result == nullptr) return reading;
  bool twice = false;
  if (!is_true(member(*result, "accepted", twice)) || twice) return nobody("it did not accept");
  reading.reading = Reading::kNamed;
  return reading;
}

std::string quoted(std::string_view text) {
  rapidjson::StringBuffer buffer;
  rapidjson::Writer<rapidjson::StringBuffer, rapidjson::UTF8<>, rapidjson::UTF8<>,
                    rapidjson::CrtAllocator, rapidjson::kWriteValidateEncodingFlag>
      json(buffer);
  if (!json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()))) return "\"\"";
  return {buffer.GetString(), buffer.GetSize()};
}

namespace {

const Value* result_of(std::string_view body, std::string_view id, Document& document,
                       CardReading& reading) {
  const auto none = [&](CardReading why) -> const Value* {
    reading = std::move(why);
    return nullptr;
  };
  if (auto problem = parse(body, document); !problem.empty()) {
    return none(not_json(std::move(problem)));
  }
  if (!document.IsObject()) return none(rpc_error("its answer is not a JSON-RPC object"));
  bool twice = false;
  const Value* result = member(document, "result", twice);
  const Value* error = member(document, "error", twice);
  const Value* answered = member(document, "id", twice);
  if (twice) return none(rpc_error("a key stands twice in its JSON-RPC answer"));
  if ((result == nullptr) == (error == nullptr)) {
    return none(rpc_error(result == nullptr ? "its JSON-RPC answer has neither result nor error"
                                            : "its JSON-RPC answer has both result and error"));
  }
  if (answered == nullptr || !answered->IsString() || text_of(*answered) != id) {
    CardReading other = error != nullptr ? error_of(*error) : rpc_error({});
    other.has_code = false;
    other.detail += other.detail.empty() ? "" : "; ";
    other.detail += "its JSON-RPC answer bears another id than the question";
    return none(std::move(other));
  }
  return error != nullptr ? none(error_of(*error)) : result;
}

}  // namespace

bool is_json_pointer(std::string_view pointer) {
  if (pointer.empty()) return true;
  if (pointer.front() != '/') return false;
  for (std::size_t i = 0; i < pointer.size(); ++i) {
    if (pointer[i] != '~') continue;
    if (i + 1 == pointer.size() || (pointer[i + 1] != '0' && pointer[i + 1] != '1')) return false;
  }
  return true;
}

CardReading read_pointer(std::string_view body, std::string_view pointer) {
  Document document;
  if (auto problem = parse(body, document); !problem.empty()) return not_json(std::move(problem));
  const Value* at = &document;
  bool twice = false;
  while (!pointer.empty() && at != nullptr) {
    pointer.remove_prefix(1);
    const auto slash = pointer.find('/');
    const std::string token = unescaped(pointer.substr(0, slash));
    pointer = slash == std::string_view::npos ? std::string_view{} : pointer.substr(slash);
    if (at->IsArray()) {
      const auto index = array_index(token);
      at = index && *index < at->Size() ? &(*at)[*index] : nullptr;
    } else {
      at = member(*at, token, twice);
    }
  }
  if (twice) return nobody("a key stands twice in its answer");
  if (at == nullptr) return nobody("its answer has nothing at the pointer");
  return as_session(*at, "what stands at the pointer");
}

}  // namespace rollcall::doors
