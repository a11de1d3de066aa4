#include "asking.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

namespace rollcall::conformance {
namespace {

rollcall_error fresh_error() {
  rollcall_error error = {};
  error.struct_size = sizeof error;
  return error;
}

rollcall_judge wrap(Judge& judge) {
  rollcall_judge raw = {};
  raw.struct_size = sizeof raw;
  raw.wants = ROLLCALL_WANT_START_TOKEN;
  raw.context = &judge;
  raw.judge = [](void* context, const rollcall_observation* seen) -> std::uint32_t {
    return (*static_cast<Judge*>(context))(*seen);
  };
  return raw;
}

rollcall_str str(const std::string& text) { return {text.data(), text.size()}; }

}  // namespace

Backend open_backend(const rollcall_entry& entry,
                     const std::vector<std::pair<std::string, std::string>>& settings) {
  rollcall_host host = {};
  host.struct_size = sizeof host;
  host.abi_major = ROLLCALL_ABI_MAJOR;
  if (entry.magic != ROLLCALL_PLUGIN_MAGIC) std::abort();
  if (entry.init != nullptr && entry.init(&host, nullptr) != ROLLCALL_OK) std::abort();
  std::vector<rollcall_setting> raw;
  for (const auto& [key, value] : settings) raw.push_back({str(key), str(value)});
  Backend backend;
  backend.probe =
      static_cast<const rollcall_process_probe*>(entry.get_interface(ROLLCALL_PROCESS_PROBE_ID));
  backend.control = static_cast<const rollcall_process_control*>(
      entry.get_interface(ROLLCALL_PROCESS_CONTROL_ID));
  if (backend.probe == nullptr || backend.control == nullptr ||
      backend.probe->create(raw.data(), raw.size(), &backend.probe_self, nullptr) != ROLLCALL_OK ||
      backend.control->create(raw.data(), raw.size(), &backend.control_self, nullptr) !=
          ROLLCALL_OK) {
    std::abort();
  }
  backend.watch = static_cast<const rollcall_watch*>(entry.get_interface(ROLLCALL_WATCH_ID));
  if (backend.watch != nullptr &&
      backend.watch->create(raw.data(), raw.size(), &backend.watch_self, nullptr) != ROLLCALL_OK) {
    std::abort();
  }
  return backend;
}

void close_backend(const Backend& backend) {
  if (backend.probe != nullptr) backend.probe->destroy(backend.probe_self);
  if (backend.control != nullptr) backend.control->destroy(backend.control_self);
  if (backend.watch != nullptr) backend.watch->destroy(backend.watch_self);
}

rollcall_observation observe(const Backend& backend, std::int64_t pid, std::uint32_t wants) {
  const rollcall_ask ask = {pid, wants, 0};
  rollcall_observation seen = {};
  const rollcall_observe_batch batch = {sizeof batch, sizeof ask, sizeof seen, 0, 1, &ask, &seen};
  rollcall_error error = fresh_error();
  if (backend.probe->observe(backend.probe_self, &batch, nullptr, &error) != ROLLCALL_OK) {
    seen = {};
    seen.reason_size = static_cast<std::uint32_t>(
        std::string(error.message).copy(seen.reason, sizeof seen.reason));
  }
  return seen;
}

std::string token_of(const rollcall_observation& seen) {
  const bool read = (seen.flags & ROLLCALL_OBS_START_TOKEN) != 0;
  return read ? std::string(seen.start_token, seen.start_token_size) : std::string();
}

std::string shown(const rollcall_observation& seen) {
  return "pid " + std::to_string(seen.pid) + " reads as presence " + std::to_string(seen.presence) +
         ", flags " + std::to_string(seen.flags) + ", token '" + token_of(seen) + "', reason '" +
         std::string(seen.reason, seen.reason_size) + "'";
}

WhoAmI whoami(const Backend& backend) {
  WhoAmI answer;
  answer.me.struct_size = sizeof answer.me;
  answer.code = backend.probe->whoami(backend.probe_self, &answer.me, nullptr, nullptr);
  return answer;
}

Detail read(const Backend& backend, std::int64_t pid, std::uint32_t what) {
  Detail detail;
  const rollcall_sink sink = {
      sizeof sink, 0, &detail.bytes,
      [](void* context, const void* data, std::uint64_t size) -> std::int32_t {
        static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                                   static_cast<std::size_t>(size));
        return ROLLCALL_OK;
      }};
  rollcall_error error = fresh_error();
  detail.code = backend.probe->read(backend.probe_self, pid, what, &sink, nullptr, &error);
  detail.message = error.message;
  return detail;
}

std::map<std::int64_t, std::int64_t> list(const Backend& backend) {
  std::map<std::int64_t, std::int64_t> found;
  const rollcall_pid_sink sink = {
      sizeof sink, 0, &found,
      [](void* context, std::int64_t pid, std::int64_t parent) -> std::int32_t {
        (*static_cast<std::map<std::int64_t, std::int64_t>*>(context))[pid] = parent;
        return ROLLCALL_OK;
      }};
  const auto code = backend.probe->list(backend.probe_self, &sink, nullptr, nullptr);
  return code == ROLLCALL_OK ? found : std::map<std::int64_t, std::int64_t>{};
}

rollcall_socket_answer owner(const Backend& backend, std::int64_t socket, std::int64_t pid) {
  const rollcall_socket_ask ask = {socket, pid, -1};
  rollcall_socket_answer answer = {};
  const rollcall_socket_batch batch = {sizeof batch, sizeof ask, sizeof answer, 0, 1,
                                       &ask,         &answer};
  if (backend.probe->port_owner(backend.probe_self, &batch, nullptr, nullptr) != ROLLCALL_OK) {
    return {};
  }
  return answer;
}

std::string shown(const rollcall_socket_answer& answer) {
  return "owner " + std::to_string(answer.owner) + ", flags " + std::to_string(answer.flags) +
         ", holder " + std::to_string(answer.holder_pid) + ", reason '" +
         std::string(answer.reason, answer.reason_size) + "'";
}

Judge of_token(std::string token) {
  return [token = std::move(token)](const rollcall_observation& seen) -> std::uint32_t {
    if (seen.presence == ROLLCALL_PRESENCE_UNREADABLE) return ROLLCALL_JUDGE_UNVERIFIED;
    if (seen.presence != ROLLCALL_PRESENCE_PRESENT) return ROLLCALL_JUDGE_GONE;
    if (token_of(seen).empty()) return ROLLCALL_JUDGE_UNVERIFIED;
    return token_of(seen) == token ? ROLLCALL_JUDGE_ALIVE : ROLLCALL_JUDGE_GONE;
  };
}

Signalled signal(Stage& stage, std::int64_t pid, std::uint32_t number, Judge judge) {
  const Backend& backend = stage.backend();
  const rollcall_judge raw = wrap(judge);
  rollcall_signal_outcome out = {};
  out.struct_size = sizeof out;
  rollcall_error error = fresh_error();
  const auto code =
      backend.control->signal(backend.control_self, pid, number, &raw, &out, nullptr, &error);
  const std::string reason(out.reason, out.reason_size);
  return {code, out.outcome, code == ROLLCALL_OK ? reason : std::string(error.message), {}};
}

Signalled await_exit(Stage& stage, std::int64_t pid, Judge judge, std::int64_t limit_ns) {
  const Backend& backend = stage.backend();
  const rollcall_judge raw = wrap(judge);
  rollcall_call call = {};
  call.struct_size = sizeof call;
  call.deadline_ns = stage.now_ns() + limit_ns;
  rollcall_await_outcome out = {};
  out.struct_size = sizeof out;
  rollcall_error error = fresh_error();
  const auto code =
      backend.control->await_exit(backend.control_self, pid, &raw, &out, &call, &error);
  const std::string reason(out.reason, out.reason_size);
  return {code, out.outcome, code == ROLLCALL_OK ? reason : std::string(error.message), out.exit};
}

Watched watch_process(Stage& stage, std::uint64_t id, std::int64_t pid, Judge judge) {
  const Backend& backend = stage.backend();
  const rollcall_judge raw = wrap(judge);
  rollcall_watch_outcome out = {};
  out.struct_size = sizeof out;
  rollcall_error error = fresh_error();
  const auto code =
      backend.watch->add_process(backend.watch_self, id, pid, &raw, &out, nullptr, &error);
  const std::string reason(out.reason, out.reason_size);
  return {code, out.outcome, code == ROLLCALL_OK ? reason : std::string(error.message)};
}

Watched watch_directory(Stage& stage, std::uint64_t id, const std::string& path) {
  const Backend& backend = stage.backend();
  rollcall_watch_outcome out = {};
  out.struct_size = sizeof out;
  rollcall_error error = fresh_error();
  const auto code =
      backend.watch->add_directory(backend.watch_self, id, str(path), &out, nullptr, &error);
  const std::string reason(out.reason, out.reason_size);
  return {code, out.outcome, code == ROLLCALL_OK ? reason : std::string(error.message)};
}

std::optional<rollcall_watch_event> next_event(Stage& stage, std::int64_t limit_ns) {
  const Backend& backend = stage.backend();
  rollcall_call call = {};
  call.struct_size = sizeof call;
  call.deadline_ns = stage.now_ns() + limit_ns;
  rollcall_watch_event event = {};
  while (stage.now_ns() < call.deadline_ns) {
    rollcall_watch_batch batch = {sizeof batch, sizeof event, 1, 0, &event};
    const auto code = backend.watch->wait(backend.watch_self, &batch, &call, nullptr);
    if (code != ROLLCALL_OK) return std::nullopt;
    if (batch.count > 0) return event;
  }
  return std::nullopt;
}

}  // namespace rollcall::conformance
