#include "doors/session_card.hpp"

#include <rapidjson/document.h>
#include <rapidjson/stringbuffer.h>
#include <rapidjson/writer.h>

#include <algorithm>

#include "core/text.hpp"
#include "rollcall/door_url.hpp"

namespace rollcall::doors {
namespace {

using rapidjson::StringBuffer;
using rapidjson::Value;
using Json = rapidjson::Writer<StringBuffer>;

constexpr int kMaxDepth = 64;
constexpr std::string_view kCardPath = "/.well-known/agent-card.json";
constexpr std::string_view kLegacyCardPath = "/.well-known/agent.json";
constexpr std::string_view kExtendedCard = "GetExtendedAgentCard";                      // A2A 1.0
constexpr std::string_view kLegacyExtendedCard = "agent/getAuthenticatedExtendedCard";  // 0.3

void put(Json& json, std::string_view text) {
  json.String(text.data(), static_cast<rapidjson::SizeType>(text.size()));
}

void put(Json& json, std::string_view key, std::string_view text) {
  put(json, key);
  put(json, text);
}

void put_raw(Json& json, std::string_view value, rapidjson::Type type) {
  json.RawValue(value.data(), value.size(), type);
}

void put_flag(Json& json, std::string_view key, bool value) {
  put(json, key);
  json.Bool(value);
}

void put_interfaces(Json& json, const CardFacts& facts) {
  put(json, "supportedInterfaces");
  json.StartArray();
  for (const std::string_view version : {"1.0", "0.3"}) {
    json.StartObject();
    put(json, "url", facts.url);
    put(json, "protocolBinding", "JSONRPC");
    put(json, "protocolVersion", version);
    json.EndObject();
  }
  json.EndArray();
}

void put_capabilities(Json& json, const CardFacts& facts, Generation generation, bool names) {
  put(json, "capabilities");
  json.StartObject();
  put_flag(json, "streaming", false);
  put_flag(json, "pushNotifications", false);
  if (generation == Generation::kCurrent) {
    put_flag(json, "extendedAgentCard", facts.token.has_value());
  }
  put(json, "extensions");
  json.StartArray();
  if (names) {
    json.StartObject();
    put(json, "uri", kSessionExtension);
    put(json, "description", "The session that answers at this address");
    put_flag(json, "required", false);
    put(json, "params");
    json.StartObject();
    put(json, "sessionId", facts.session_id);
    if (facts.token && facts.can_stop) {
      put(json, "methods");
      json.StartArray();
      put(json, kSessionStop);
      json.EndArray();
    }
    json.EndObject();
    json.EndObject();
  }
  json.EndArray();
  json.EndObject();
}

// The two generations write security schemes in two shapes under one key.
void put_security(Json& json, Generation generation) {
  put(json, "securitySchemes");
  if (generation == Generation::kCurrent) {
    put_raw(json, R"({"bearer":{"httpAuthSecurityScheme":{"scheme":"Bearer"}}})",
            rapidjson::kObjectType);
    put(json, "securityRequirements");
    put_raw(json, R"([{"schemes":{"bearer":{"list":[]}}}])", rapidjson::kArrayType);
    return;
  }
  put_raw(json, R"({"bearer":{"type":"http","scheme":"Bearer"}})", rapidjson::kObjectType);
  put(json, "security");
  put_raw(json, R"([{"bearer":[]}])", rapidjson::kArrayType);
}

void put_card(Json& json, const CardFacts& facts, Generation generation, bool extended) {
  const bool names = extended || !facts.token;
  json.StartObject();
  put(json, "name", facts.name.empty() ? "rollcall-session" : text::to_utf8(facts.name));
  put(json, "description", "Names the session whose process answers here");
  put(json, "version", facts.version.empty() ? "0" : text::to_utf8(facts.version));
  if (generation == Generation::kLegacy) {
    put(json, "protocolVersion", "0.3.0");
    put(json, "url", facts.url);
    put(json, "preferredTransport", "JSONRPC");
    put_flag(json, "supportsAuthenticatedExtendedCard", facts.token.has_value());
  }
  put_interfaces(json, facts);
  put_capabilities(json, facts, generation, names);
  if (facts.token) put_security(json, generation);
  for (const std::string_view key : {"defaultInputModes", "defaultOutputModes"}) {
    put(json, key);
    put_raw(json, R"(["text/plain"])", rapidjson::kArrayType);
  }
  put(json, "skills");
  put_raw(json, "[]", rapidjson::kArrayType);
  json.EndObject();
}

std::string error_body(std::string_view code, std::string_view message) {
  StringBuffer buffer;
  Json json(buffer);
  json.StartObject();
  put(json, "error", code);
  put(json, "message", message);
  json.EndObject();
  return {buffer.GetString(), buffer.GetSize()};
}

DoorResponse refuse(int status, std::string_view code, std::string_view message) {
  DoorResponse response;
  response.status = status;
  response.body = error_body(code, message);
  return response;
}

// A JSON-RPC answer; the id goes back as it came.
template <class PutOutcome>
DoorResponse rpc_answer(const Value* id, PutOutcome&& put_outcome) {
  StringBuffer buffer;
  Json json(buffer);
  json.StartObject();
  put(json, "jsonrpc", "2.0");
  put(json, "id");
  if (id == nullptr) {
    json.Null();
  } else {
    id->Accept(json);
  }
  put_outcome(json);
  json.EndObject();
  DoorResponse response;
  response.body.assign(buffer.GetString(), buffer.GetSize());
  return response;
}

DoorResponse rpc_error(const Value* id, int code, std::string_view message) {
  return rpc_answer(id, [&](Json& json) {
    put(json, "error");
    json.StartObject();
    put(json, "code");
    json.Int(code);
    put(json, "message", message);
    json.EndObject();
  });
}

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
      if (++depth > kMaxDepth) return true;
    } else if (c == ']' || c == '}') {
      --depth;
    }
  }
  return false;
}

// {"sessionId": its own, "reason": optional text}. Only where there is a token, which was checked.
DoorResponse answer_stop(const CardFacts& facts, const Value& call) {
  constexpr std::size_t kLongestReason = 1024;
  const Value* const id = &call["id"];
  const Value* params = call.HasMember("params") ? &call["params"] : nullptr;
  const auto text = [&](const char* name) -> std::optional<std::string_view> {
    if (params == nullptr || !params->IsObject() || !params->HasMember(name)) return std::nullopt;
    const Value& value = (*params)[name];
    if (!value.IsString()) return std::nullopt;
    return std::string_view(value.GetString(), value.GetStringLength());
  };
  if (text("sessionId") != std::string_view(facts.session_id)) {
    return rpc_error(id, -32602, "The sessionId is not this door's.");
  }
  DoorResponse response = rpc_answer(id, [](Json& json) {
    put(json, "result");
    put_raw(json, R"({"accepted":true})", rapidjson::kObjectType);
  });
  response.stop = std::string(text("reason").value_or("").substr(0, kLongestReason));
  return response;
}

DoorResponse answer_rpc(const CardFacts& facts, const DoorRequest& request) {
  rapidjson::Document document;
  const std::string& body = request.body;
  if (!text::is_utf8(body) || body.find('\0') != std::string::npos || is_too_deep(body) ||
      document.Parse(body.data(), body.size()).HasParseError()) {
    return rpc_error(nullptr, -32700, "The request is not JSON.");
  }
  const Value* id = nullptr;
  if (document.IsObject() && document.HasMember("id")) id = &document["id"];
  const bool valid = document.IsObject() && id != nullptr &&
                     (id->IsString() || id->IsNumber() || id->IsNull()) &&
                     document.HasMember("method") && document["method"].IsString();
  // A lone surrogate passes the parser and would be written back as bytes that are not UTF-8.
  const bool printable =
      valid && (!id->IsString() || text::is_utf8({id->GetString(), id->GetStringLength()}));
  if (!printable) return rpc_error(nullptr, -32600, "The request is not a JSON-RPC call.");
  const std::string& version = request.a2a_version;
  if (!version.empty() && version != "1.0" && version != "0.3" && version != "0.3.0") {
    return rpc_error(id, -32009, "This door speaks A2A 1.0 and 0.3.");
  }
  const Value& asked = document["method"];
  const std::string_view method(asked.GetString(), asked.GetStringLength());
  if (method == kSessionStop && facts.token && facts.can_stop) return answer_stop(facts, document);
  if (method != kExtendedCard && method != kLegacyExtendedCard) {
    return rpc_error(id, -32601, "This door has no such method.");
  }
  return rpc_answer(id, [&](Json& json) {
    put(json, "result");
    put_card(json, facts, method == kExtendedCard ? Generation::kCurrent : Generation::kLegacy,
             true);
  });
}

// Takes as long whatever the texts hold; only their length shows.
bool is_same_secret(std::string_view given, std::string_view secret) {
  unsigned difference = given.size() == secret.size() ? 0U : 1U;
  for (std::size_t i = 0; i < secret.size(); ++i) {
    const char other = given.empty() ? '\0' : given[i % given.size()];
    difference |= static_cast<unsigned char>(secret[i]) ^ static_cast<unsigned char>(other);
  }
  return difference == 0;
}

std::string lowered(std::string_view text) {
  std::string lower(text);
  std::transform(lower.begin(), lower.end(), lower.begin(), [](char c) {
    return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
  });
  return lower;
}

bool is_authorized(const CardFacts& facts, const DoorRequest& request) {
  if (request.authorizations.size() != 1) return false;
  const std::string_view given = request.authorizations.front();
  constexpr std::string_view kScheme = "bearer ";
  if (given.size() <= kScheme.size() || lowered(given.substr(0, kScheme.size())) != kScheme) {
    return false;
  }
  return is_same_secret(given.substr(kScheme.size()), *facts.token);
}

// "127.0.0.1:PORT" or another literal loopback address; a name could be made to mean us.
bool is_own_host(const CardFacts& facts, const DoorRequest& request) {
  if (request.hosts.size() != 1) return false;
  const std::string& host = request.hosts.front();
  if (host.find('/') != std::string::npos) return false;
  const auto given = parse_door_url(host);
  const auto own = parse_door_url(facts.authority);
  return given && own && given->loopback && given->endpoints.size() == 1 &&
         given->endpoints[0].port == own->endpoints[0].port;
}

bool is_json_type(std::string_view content_type) {
  auto media = lowered(content_type.substr(0, content_type.find(';')));
  while (!media.empty() && (media.back() == ' ' || media.back() == '\t')) media.pop_back();
  return media == "application/json";
}

DoorResponse answer_card(const CardFacts& facts, const DoorRequest& request) {
  if (request.method != "GET" && request.method != "HEAD") {
    DoorResponse response = refuse(405, "method_not_allowed", "The card is read with GET.");
    response.allow = "GET, HEAD";
    return response;
  }
  const bool current = request.a2a_version.substr(0, 2) == "1.";
  DoorResponse response;
  response.body = agent_card(facts, current ? Generation::kCurrent : Generation::kLegacy, false);
  return response;
}

DoorResponse answer_post(const CardFacts& facts, const DoorRequest& request) {
  if (request.method != "POST") {
    DoorResponse response = refuse(405, "method_not_allowed", "JSON-RPC comes by POST.");
    response.allow = "POST";
    return response;
  }
  if (!is_json_type(request.content_type)) {
    return refuse(415, "unsupported_media_type", "JSON-RPC comes as application/json.");
  }
  if (facts.token && !is_authorized(facts, request)) {
    DoorResponse response = refuse(401, "unauthenticated", "This door asks for its token.");
    response.challenge = true;
    response.invalid_token = !request.authorizations.empty();
    return response;
  }
  if (request.body_too_large) return refuse(413, "too_large", "The request is too large.");
  return answer_rpc(facts, request);
}

}  // namespace

std::string agent_card(const CardFacts& facts, Generation generation, bool extended) {
  StringBuffer buffer;
  Json json(buffer);
  put_card(json, facts, generation, extended);
  return {buffer.GetString(), buffer.GetSize()};
}

DoorResponse answer_request(const CardFacts& facts, const DoorRequest& request) {
  if (request.has_origin || request.is_cross_site) {
    return refuse(403, "forbidden", "This door does not answer browsers.");
  }
  if (!is_own_host(facts, request)) {
    return refuse(421, "misdirected", "The Host is not this door's own loopback address.");
  }
  const std::string_view target = request.target;
  const auto path = target.substr(0, target.find('?'));
  if (path == kCardPath || path == kLegacyCardPath) return answer_card(facts, request);
  if (path == "/") return answer_post(facts, request);
  return refuse(404, "not_found", "There is nothing here.");
}

}  // namespace rollcall::doors
