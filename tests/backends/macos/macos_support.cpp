#include "macos_support.hpp"

#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>

#include "backends/macos/slots.hpp"
#include "macho_image.hpp"
#include "macos_imports.hpp"
#include "support/paths.hpp"

namespace rollcall::testing {

std::string dylib_path() {
  const char* named = std::getenv("ROLLCALL_MACOS_DYLIB");
  if (named != nullptr) return named;
  return std::string(test::kSourceDir) +
         "/build/macos-x86_64/lib/rollcall/plugins/rollcall_backend_macos.dylib";
}

namespace {

rollcall_error fresh_error() {
  rollcall_error error = {};
  error.struct_size = sizeof error;
  return error;
}

std::uint32_t ask_judge(void* context, const rollcall_observation* seen) {
  return (*static_cast<const JudgeFunction*>(context))(*seen);
}

rollcall_judge wrap(const JudgeFunction& judge) {
  rollcall_judge raw = {};
  raw.struct_size = sizeof raw;
  raw.wants = kToken;
  raw.context = const_cast<JudgeFunction*>(&judge);
  raw.judge = &ask_judge;
  return raw;
}

Backend source_backend(FakeMac& mac) {
  static std::unique_ptr<macos_backend::Probe> probe;
  static std::unique_ptr<macos_backend::Control> control;
  probe = std::make_unique<macos_backend::Probe>(mac.system());
  control = std::make_unique<macos_backend::Control>(mac.system());
  const rollcall_host host = mac.host();
  if (macos_backend::init(&host, nullptr) != ROLLCALL_OK) std::abort();
  return {&macos_backend::probe_table(), macos_backend::instance_of(*probe),
          &macos_backend::control_table(), macos_backend::instance_of(*control),
          &macos_backend::watch_table()};
}

Backend dylib_backend(FakeMac& mac, std::string& skip) {
  if (!std::filesystem::exists(dylib_path())) {
    skip = dylib_path() + " is not built (preset macos-x86_64)";
    return {};
  }
  static std::optional<MachoImage> image;
  if (!image) image.emplace(dylib_path(), &import_for_macos);
  const auto* entry = static_cast<const rollcall_entry*>(image->symbol("_rollcall_plugin_v1"));
  if (entry == nullptr || entry->magic != ROLLCALL_PLUGIN_MAGIC) std::abort();
  const rollcall_host host = mac.host();
  if (entry->init(&host, nullptr) != ROLLCALL_OK) std::abort();
  Backend backend;
  backend.probe =
      static_cast<const rollcall_process_probe*>(entry->get_interface(ROLLCALL_PROCESS_PROBE_ID));
  backend.control = static_cast<const rollcall_process_control*>(
      entry->get_interface(ROLLCALL_PROCESS_CONTROL_ID));
  backend.watch = static_cast<const rollcall_watch*>(entry->get_interface(ROLLCALL_WATCH_ID));
  if (backend.probe->create(nullptr, 0, &backend.probe_self, nullptr) != ROLLCALL_OK ||
      backend.control->create(nullptr, 0, &backend.control_self, nullptr) != ROLLCALL_OK) {
    std::abort();
  }
  return backend;
}

}  // namespace

MacTest::MacTest()
    : mac(GetParam() == Build::kSource ? SocketLayout::kLinux : SocketLayout::kMacos) {
  if (GetParam() == Build::kSource) {
    backend = source_backend(mac);
  } else {
    backend = dylib_backend(mac, skip_);
  }
}

void MacTest::SetUp() {
  if (!skip_.empty()) GTEST_SKIP() << skip_;
}

rollcall_call unbounded() {
  rollcall_call call = {};
  call.struct_size = sizeof call;
  call.deadline_ns = INT64_MAX;
  return call;
}

rollcall_call bounded(const FakeMac& mac, std::int64_t ms) {
  rollcall_call call = unbounded();
  call.deadline_ns = mac.monotonic_ns + ms * 1'000'000;
  return call;
}

rollcall_call cancelled() {
  rollcall_call call = unbounded();
  call.cancelled = [](void*) { return 1U; };
  return call;
}

rollcall_observation observe(const Backend& backend, std::int64_t pid, std::uint32_t wants) {
  rollcall_ask ask = {};
  ask.pid = pid;
  ask.wants = wants;
  rollcall_observation seen = {};
  rollcall_observe_batch batch = {};
  batch.struct_size = sizeof batch;
  batch.ask_stride = sizeof ask;
  batch.observation_stride = sizeof seen;
  batch.count = 1;
  batch.asks = &ask;
  batch.observations = &seen;
  const auto call = unbounded();
  if (backend.probe->observe(backend.probe_self, &batch, &call, nullptr) != 0) std::abort();
  return seen;
}

std::string token_of(const rollcall_observation& seen) {
  const bool read = (seen.flags & ROLLCALL_OBS_START_TOKEN) != 0;
  return read ? std::string(seen.start_token, seen.start_token_size) : std::string();
}

std::string reason_of(const rollcall_observation& seen) { return {seen.reason, seen.reason_size}; }

rollcall_whoami whoami(const Backend& backend) {
  rollcall_whoami self = {};
  self.struct_size = sizeof self;
  const auto call = unbounded();
  if (backend.probe->whoami(backend.probe_self, &self, &call, nullptr) != 0) std::abort();
  return self;
}

Answer read(const Backend& backend, std::int64_t pid, std::uint32_t what) {
  Answer answer;
  rollcall_sink sink = {};
  sink.struct_size = sizeof sink;
  sink.context = &answer.bytes;
  sink.write = [](void* context, const void* data, std::uint64_t size) {
    static_cast<std::string*>(context)->append(static_cast<const char*>(data), size);
    return 0;
  };
  auto error = fresh_error();
  const auto call = unbounded();
  answer.code = backend.probe->read(backend.probe_self, pid, what, &sink, &call, &error);
  answer.message = error.message;
  return answer;
}

Listing list(const Backend& backend) {
  Listing listing;
  rollcall_pid_sink sink = {};
  sink.struct_size = sizeof sink;
  sink.context = &listing.rows;
  sink.pid = [](void* context, std::int64_t pid, std::int64_t parent) {
    static_cast<std::vector<std::string>*>(context)->push_back(std::to_string(pid) + "/" +
                                                               std::to_string(parent));
    return 0;
  };
  const auto call = unbounded();
  listing.code = backend.probe->list(backend.probe_self, &sink, &call, nullptr);
  return listing;
}

JudgeFunction expects(const std::string& token) {
  return [token](const rollcall_observation& seen) {
    switch (seen.presence) {
      case ROLLCALL_PRESENCE_ABSENT:
      case ROLLCALL_PRESENCE_EXITED:
        return ROLLCALL_JUDGE_GONE;
      case ROLLCALL_PRESENCE_PRESENT:
        return token_of(seen) == token ? ROLLCALL_JUDGE_ALIVE : ROLLCALL_JUDGE_GONE;
      default:
        return ROLLCALL_JUDGE_UNVERIFIED;
    }
  };
}

Signalled signal(const Backend& backend, std::int64_t pid, std::uint32_t number,
                 const JudgeFunction& judge) {
  const auto raw = wrap(judge);
  rollcall_signal_outcome out = {};
  out.struct_size = sizeof out;
  auto error = fresh_error();
  const auto call = unbounded();
  Signalled done;
  done.code = backend.control->signal(backend.control_self, pid, number, &raw, &out, &call, &error);
  done.outcome = out.outcome;
  done.os_code = out.os_code;
  done.reason = done.code == ROLLCALL_OK ? std::string(out.reason, out.reason_size)
                                         : std::string(error.message);
  return done;
}

Awaited await_exit(const Backend& backend, std::int64_t pid, const JudgeFunction& judge,
                   const rollcall_call& call) {
  const auto raw = wrap(judge);
  rollcall_await_outcome out = {};
  out.struct_size = sizeof out;
  auto error = fresh_error();
  Awaited done;
  done.code = backend.control->await_exit(backend.control_self, pid, &raw, &out, &call, &error);
  done.outcome = out.outcome;
  done.flags = out.flags;
  done.reason = done.code == ROLLCALL_OK ? std::string(out.reason, out.reason_size)
                                         : std::string(error.message);
  return done;
}

rollcall_socket_answer owner(const Backend& backend, int socket, std::int64_t pid,
                             std::int64_t owner_uid) {
  rollcall_socket_ask ask = {};
  ask.socket = socket;
  ask.pid = pid;
  ask.owner_uid = owner_uid;
  rollcall_socket_answer answer = {};
  rollcall_socket_batch batch = {};
  batch.struct_size = sizeof batch;
  batch.ask_stride = sizeof ask;
  batch.answer_stride = sizeof answer;
  batch.count = 1;
  batch.asks = &ask;
  batch.answers = &answer;
  const auto call = unbounded();
  if (backend.probe->port_owner(backend.probe_self, &batch, &call, nullptr) != 0) std::abort();
  return answer;
}

std::string reason_of(const rollcall_socket_answer& answer) {
  return {answer.reason, answer.reason_size};
}

std::string peer_of(const rollcall_socket_answer& answer) {
  return {answer.peer, answer.peer_size};
}

}  // namespace rollcall::testing
