#include "doors/asking.hpp"

#include "a2a_door/a2a_door.hpp"
#include "doors/sockets.hpp"
#include "http_door/http_door.hpp"
#include "jupyter_door/jupyter_door.hpp"
#include "rollcall/plugin.hpp"
#include "tcp_door/tcp_door.hpp"
#include "unix_door/unix_door.hpp"

namespace rollcall::test {
namespace {

constexpr std::int64_t kPid = 4242;

template <class Door>
constexpr const rollcall_door_prober& kTableOf = plugin::detail::DoorTable<Door>::kTable;

void read_peer(std::int64_t socket, SocketAnswer& answer) {
  Peer peer = peer_of(socket);
  answer.loopback = peer.loopback;
  answer.unix_domain = peer.unix_domain;
  answer.peer = std::move(peer.text);
}

rollcall_str raw(std::string_view text) { return plugin::str(text); }

Reason reason_of(std::uint32_t reason) {
  switch (reason) {
    case ROLLCALL_DOOR_REFUSED:
      return Reason::kRefused;
    case ROLLCALL_DOOR_CONNECT_TIMEOUT:
      return Reason::kConnectTimeout;
    case ROLLCALL_DOOR_READ_TIMEOUT:
      return Reason::kReadTimeout;
    case ROLLCALL_DOOR_CLOSED_EARLY:
      return Reason::kClosedEarly;
    case ROLLCALL_DOOR_BAD_HTTP:
      return Reason::kBadHttp;
    case ROLLCALL_DOOR_HTTP_STATUS:
      return Reason::kHttpStatus;
    case ROLLCALL_DOOR_RPC_ERROR:
      return Reason::kRpcError;
    case ROLLCALL_DOOR_NOT_JSON:
      return Reason::kNotJson;
    case ROLLCALL_DOOR_NO_SESSION:
      return Reason::kNoSession;
    case ROLLCALL_DOOR_TOKEN_REFUSED:
      return Reason::kTokenRefused;
    case ROLLCALL_DOOR_TOO_LARGE:
      return Reason::kTooLarge;
    case ROLLCALL_DOOR_NOT_SUPPORTED:
      return Reason::kNotSupported;
    case ROLLCALL_DOOR_NOT_LOOPBACK:
      return Reason::kNotLoopback;
    case ROLLCALL_DOOR_BAD_URL:
      return Reason::kBadUrl;
    case ROLLCALL_DOOR_TOKEN_MISSING:
      return Reason::kTokenMissing;
    default:
      return Reason::kUnverified;
  }
}

// What `probe` of the table calls back into.
struct Bridge {
  const DoorProber::Admit& admit;
  const DoorProber::Answer& answer;
  std::vector<std::string> tokens;
};

void bridge_admit(void* context, const rollcall_connected* sockets, std::uint64_t count,
                  rollcall_admission* out) {
  auto& bridge = *static_cast<Bridge*>(context);
  std::vector<ConnectedSocket> connected;
  for (std::uint64_t i = 0; i < count; ++i) {
    connected.push_back({static_cast<std::size_t>(sockets[i].item), sockets[i].socket});
  }
  std::vector<Admission> admissions(connected.size());
  bridge.admit(connected, admissions);
  for (std::size_t i = 0; i < admissions.size(); ++i) {
    out[i] = rollcall_admission{};
    out[i].admitted = admissions[i].admitted ? 1 : 0;
    if (!admissions[i].token) continue;
    out[i].has_token = 1;
    bridge.tokens.reserve(4096);  // views into it stay good
    bridge.tokens.push_back(*admissions[i].token);
    out[i].token = raw(bridge.tokens.back());
  }
}

void bridge_answer(void* context, std::uint64_t item, const rollcall_door_answer* answer) {
  DoorReading reading;
  reading.answered = answer->outcome != ROLLCALL_DOOR_FAILED;
  reading.named = answer->outcome == ROLLCALL_DOOR_NAMED;
  if (!reading.answered) reading.reason = reason_of(answer->reason);
  reading.http_status = static_cast<int>(answer->http_status);
  reading.elapsed_ns = answer->elapsed_ns;
  reading.session = plugin::view(answer->named);
  reading.detail = plugin::view(answer->detail);
  static_cast<Bridge*>(context)->answer(static_cast<std::size_t>(item), std::move(reading));
}

std::uint32_t is_cancelled(void* context) {
  return static_cast<const Call*>(context)->cancel.cancelled() ? 1 : 0;
}

struct RawAsk {
  std::vector<rollcall_endpoint> endpoints;
  std::vector<rollcall_setting> settings;
};

rollcall_door_item raw_item(const DoorAsk& ask, RawAsk& store) {
  for (const Endpoint& endpoint : ask.endpoints) {
    store.endpoints.push_back({raw(endpoint.host), endpoint.port, 0});
  }
  for (const auto& [key, value] : ask.settings) store.settings.push_back({raw(key), raw(value)});
  rollcall_door_item item{};
  item.session_id = raw(ask.session_id);
  item.kind = raw(ask.kind);
  item.authority = raw(ask.authority);
  item.endpoints = store.endpoints.data();
  item.endpoint_count = store.endpoints.size();
  item.settings = store.settings.data();
  item.setting_count = store.settings.size();
  return item;
}

}  // namespace

Status PortProbe::observe(std::span<const Ask>, std::span<Observation>, const Call&) {
  return fail(ErrorCode::kUnsupported, "not in this test");
}
Result<WhoAmI> PortProbe::whoami(const Call&) {
  return fail(ErrorCode::kUnsupported, "not in this test");
}
Result<std::vector<ProcessRow>> PortProbe::list(const Call&) {
  return fail(ErrorCode::kUnsupported, "not in this test");
}
Result<std::string> PortProbe::read(std::int64_t, ReadWhat, const Call&) {
  return fail(ErrorCode::kUnsupported, "not in this test");
}

Status PortProbe::port_owner(std::span<const SocketAsk> asks, std::span<SocketAnswer> out,
                             const Call&) {
  ++questions_;
  sockets_ += asks.size();
  for (std::size_t i = 0; i < asks.size(); ++i) {
    read_peer(asks[i].socket, out[i]);
    rule_(asks[i], out[i]);
  }
  return {};
}

TableProber::TableProber(std::string id, const rollcall_door_prober& table, bool may_have_token,
                         const Settings& settings)
    : id_(std::move(id)), table_(table), may_have_token_(may_have_token) {
  std::vector<rollcall_setting> passed;
  for (const auto& [key, value] : settings) passed.push_back({raw(key), raw(value)});
  table_.create(passed.data(), passed.size(), &self_, nullptr);
}

TableProber::~TableProber() { table_.destroy(self_); }

Status TableProber::probe(std::span<const DoorAsk> asks, const DoorLimits& limits,
                          const Admit& admit, const Answer& answer, const Call& call) {
  std::vector<RawAsk> stores(asks.size());
  std::vector<rollcall_door_item> items;
  for (std::size_t i = 0; i < asks.size(); ++i) items.push_back(raw_item(asks[i], stores[i]));
  Bridge bridge{admit, answer, {}};
  rollcall_door_batch batch{};
  batch.struct_size = sizeof(batch);
  batch.item_stride = sizeof(rollcall_door_item);
  batch.count = items.size();
  batch.items = items.data();
  batch.connect_timeout_ns = limits.connect_timeout_ns;
  batch.total_timeout_ns = limits.total_timeout_ns;
  rollcall_door_sink sink{sizeof(rollcall_door_sink), 0, &bridge, &bridge_admit, &bridge_answer};
  Call own = call;
  rollcall_call bounds{sizeof(rollcall_call), 0, call.deadline_ns, &own, &is_cancelled};
  rollcall_error error{};
  error.struct_size = sizeof(error);
  const std::int32_t code = table_.probe(self_, &batch, &sink, &bounds, &error);
  if (code == ROLLCALL_OK) return {};
  return fail(ErrorCode::kIo, error.message, code);
}

Result<std::shared_ptr<DoorProber>> own_prober(std::string_view kind, bool may_have_token,
                                               const TableProber::Settings& settings) {
  const rollcall_door_prober* table = nullptr;
  if (kind == "a2a") table = &kTableOf<doors::A2aDoor>;
  if (kind == "http") table = &kTableOf<doors::HttpDoor>;
  if (kind == "jupyter") table = &kTableOf<doors::JupyterDoor>;
  if (kind == "tcp") table = &kTableOf<doors::TcpDoor>;
  if (kind == "unix") table = &kTableOf<doors::UnixDoor>;
  if (table == nullptr) return fail(ErrorCode::kNotFound, "no plugin offers this kind of door");
  return std::make_shared<TableProber>("rollcall." + std::string(kind) + "_door", *table,
                                       may_have_token, settings);
}

Record record_of(std::string url, std::optional<std::string> token) {
  Record record;
  record.session_id = kSession;
  record.url = std::move(url);
  record.process.pid = kPid;
  record.door_token = std::move(token);
  return record;
}

Record record_of(DoorSpec door, std::optional<std::string> url, std::optional<std::string> token) {
  Record record = record_of(std::string(), std::move(token));
  record.url = std::move(url);
  record.door = std::move(door);
  return record;
}

std::vector<DoorReading> ask_all(const std::vector<Record>& records, ProcessProbe& probe,
                                 const Asking& asking) {
  std::vector<DoorQuestion> questions;
  for (const Record& record : records) {
    questions.push_back({&record, record.process.pid, 0, asking.start_unix_ns});
  }
  const auto clock = system_clock();
  DoorContext context;
  context.probe = &probe;
  context.doors = [&](std::string_view kind) {
    return own_prober(kind, asking.may_have_token, asking.instance_settings);
  };
  context.allow_hosts = &asking.allow_hosts;
  context.limits = asking.limits;
  context.clock = clock.get();
  return ask_doors(questions, context, asking.call);
}

DoorReading ask_one(const Record& record, ProcessProbe& probe, const Asking& asking) {
  return ask_all({record}, probe, asking).front();
}

DoorReading ask_one(const Record& record, const Asking& asking) {
  PortProbe probe;
  return ask_one(record, probe, asking);
}

std::string outcome_of(const DoorReading& reading, std::string_view session) {
  const Reason reason = judge_door(session, reading);
  return reason == Reason::kNone ? "live" : std::string(to_text(reason));
}

std::string card_naming(std::string_view session) {
  return R"({"name":"höstile","capabilities":{"extensions":[)"
         R"({"uri":"https://example.invalid/ext","params":{"sessionId":"not-this-one"}},)"
         R"({"uri":"urn:rollcall:ext:session:1","params":{"sessionId":")" +
         std::string(session) + R"("}}]}})";
}

std::string ok_response(std::string_view body) {
  return "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: " +
         std::to_string(body.size()) + "\r\n\r\n" + std::string(body);
}

}  // namespace rollcall::test
