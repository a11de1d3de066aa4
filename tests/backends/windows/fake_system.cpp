#include "fake_system.hpp"

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <memory>

namespace rollcall::testing {
namespace {

using namespace windows_backend;  // NOLINT: a fake of all of it

FakeWindows* active = nullptr;

struct Opened {
  std::uint32_t pid;
  std::uint32_t access;
};

// Counts the call; not 0: it fails.
Code failure(const char* call) {
  ++active->counts[call];
  const auto it = active->fails.find(call);
  return it == active->fails.end() ? 0 : it->second;
}

Opened& opened(Handle handle) { return *static_cast<Opened*>(handle); }
FakeProcess& process(Handle handle) { return active->processes.at(opened(handle).pid); }

Code open_process(std::uint32_t access, std::uint32_t pid, Handle& out) {
  if (const Code error = failure("open_process"); error != 0) return error;
  const std::uint32_t rounded = pid & ~3U;  // as Windows does
  const auto it = active->processes.find(rounded);
  if (it == active->processes.end()) return kInvalidParameter;
  const FakeProcess& found = it->second;
  if (found.open_error != 0) return found.open_error;
  if ((access & kMayTerminate) != 0 && found.terminate_error != 0) return found.terminate_error;
  if ((access & kMayReadMemory) != 0 && found.read_error != 0) return found.read_error;
  out = new Opened{rounded, access};
  ++active->open_handles;
  return 0;
}

void close_handle(Handle handle) {
  delete &opened(handle);
  --active->open_handles;
}

Code process_id(Handle handle, std::uint32_t& out) {
  if (const Code error = failure("process_id"); error != 0) return error;
  out = opened(handle).pid;
  return 0;
}

Code creation_time(Handle handle, std::uint64_t& out) {
  if (const Code error = failure("creation_time"); error != 0) return error;
  out = process(handle).created;
  return 0;
}

WaitState wait(Handle handle, std::uint32_t timeout_ms, Code& error) {
  if (active->before_wait) active->before_wait();
  error = failure("wait");
  if (error == 0 && (opened(handle).access & kMayWait) == 0) error = kAccessDenied;
  if (error != 0) return WaitState::kFailed;
  if (process(handle).exited) return WaitState::kSignalled;
  active->clock += std::uint64_t{timeout_ms} * 10'000;
  return WaitState::kTimeout;
}

Code exit_code(Handle handle, std::uint32_t& out) {
  if (const Code error = failure("exit_code"); error != 0) return error;
  out = process(handle).exit_code;
  return 0;
}

Code terminate(Handle handle, std::uint32_t code) {
  if (const Code error = failure("terminate"); error != 0) return error;
  if ((opened(handle).access & kMayTerminate) == 0 || process(handle).exited) return kAccessDenied;
  process(handle).exited = true;
  process(handle).exit_code = code;
  return 0;
}

Code peb(Handle handle, PebPlace& out) {
  if (const Code error = failure("peb"); error != 0) return error;
  out = process(handle).peb;
  return 0;
}

Code read_memory(Handle handle, std::uint64_t address, void* buffer, std::size_t size) {
  if (active->before_read) active->before_read();
  if (const Code error = failure("read_memory"); error != 0) return error;
  if ((opened(handle).access & kMayReadMemory) == 0) return kAccessDenied;
  const auto& memory = process(handle).memory;
  auto it = memory.upper_bound(address);
  if (it == memory.begin()) return kNoAccess;
  --it;
  const std::uint64_t at = address - it->first;
  if (at >= it->second.size()) return kNoAccess;
  if (size > it->second.size() - at) return kPartialCopy;
  std::memcpy(buffer, it->second.data() + at, size);
  return 0;
}

Code processes(std::vector<ProcessRow>& out) {
  if (const Code error = failure("processes"); error != 0) return error;
  out.push_back({.pid = 0, .parent = 0, .name = u"[System Process]"});
  for (const auto& [pid, entry] : active->processes) {
    out.push_back({.pid = pid, .parent = entry.parent, .name = entry.name});
  }
  return 0;
}

std::uint32_t current_pid() { return FakeWindows::kOwnPid; }
std::uint64_t now() { return active->clock; }

Code boot_times(BootTimes& out) {
  if (const Code error = failure("boot_times"); error != 0) return error;
  out = active->boot;
  return 0;
}

Code machine_guid(std::u16string& out) {
  if (const Code error = failure("machine_guid"); error != 0) return error;
  out = u"5e6c2b1a-0000-4000-8000-00c0ffee0001";
  return 0;
}

Code computer_name(std::u16string& out) {
  if (const Code error = failure("computer_name"); error != 0) return error;
  out = u"w\u00F6rkstation";
  return 0;
}

Code set_event(const std::u16string& name) {
  if (const Code error = failure("set_event"); error != 0) return error;
  const auto it = active->events.find(name);
  if (it == active->events.end()) return kFileNotFound;
  ++it->second;
  return 0;
}

Code close_windows(std::uint32_t pid, std::uint32_t& asked) {
  asked = 0;
  if (const Code error = failure("close_windows"); error != 0) return error;
  const auto it = active->processes.find(pid);
  if (it != active->processes.end()) asked = it->second.windows;
  if (asked > 0) active->closed.push_back(pid);
  return 0;
}

bool shares_console(std::uint32_t pid) {
  const auto it = active->processes.find(pid);
  return it != active->processes.end() && it->second.console;
}

Code send_break(std::uint32_t group) {
  if (const Code error = failure("send_break"); error != 0) return error;
  active->breaks.push_back(group);
  return 0;
}

Code tcp_table(bool v6, std::vector<TcpRow>& out) {
  if (const Code error = failure("tcp_table"); error != 0) return error;
  std::copy_if(active->sockets.begin(), active->sockets.end(), std::back_inserter(out),
               [&](const TcpRow& row) { return row.v6 == v6; });
  return 0;
}

Code name_of(std::int64_t socket, bool peer, SocketName& out) {
  constexpr Code kNotASocket = 10038;
  const auto it = active->connections.find(socket);
  if (it == active->connections.end()) return kNotASocket;
  out = peer ? it->second.first : it->second.second;
  return 0;
}
Code peer(std::int64_t socket, SocketName& out) { return name_of(socket, true, out); }
Code own(std::int64_t socket, SocketName& out) { return name_of(socket, false, out); }

constexpr System kFake = {.open_process = &open_process,
                          .close_handle = &close_handle,
                          .process_id = &process_id,
                          .creation_time = &creation_time,
                          .wait = &wait,
                          .exit_code = &exit_code,
                          .terminate = &terminate,
                          .peb = &peb,
                          .read_memory = &read_memory,
                          .processes = &processes,
                          .current_pid = &current_pid,
                          .now = &now,
                          .boot_times = &boot_times,
                          .machine_guid = &machine_guid,
                          .computer_name = &computer_name,
                          .set_event = &set_event,
                          .close_windows = &close_windows,
                          .shares_console = &shares_console,
                          .send_break = &send_break,
                          .tcp_table = &tcp_table,
                          .peer = &peer,
                          .own = &own};

std::vector<std::byte> bytes_of(std::u16string_view text) {
  const auto* first = reinterpret_cast<const std::byte*>(text.data());
  return {first, first + text.size() * sizeof(char16_t)};
}

void put(std::vector<std::byte>& into, std::size_t at, std::uint64_t value, std::size_t width) {
  std::memcpy(into.data() + at, &value, width);
}

}  // namespace

FakeWindows::FakeWindows() {
  active = this;
  processes[kOwnPid] = {.name = u"regtool.exe"};
}

// Whatever was opened was closed.
FakeWindows::~FakeWindows() {
  if (open_handles != 0) std::abort();
  active = nullptr;
}

const System& FakeWindows::table() const { return kFake; }

void FakeWindows::start(std::uint32_t pid, const Started& with) {
  constexpr std::uint64_t kPeb = 0x10000;
  constexpr std::uint64_t kParameters = 0x20000;
  constexpr std::uint64_t kCommand = 0x30000;
  constexpr std::uint64_t kDirectory = 0x40000;
  constexpr std::uint64_t kEnvironment = 0x50000;
  const ParameterLayout& layout = parameter_layout(with.narrow);
  FakeProcess& to = processes[pid];
  to.peb = {.address = kPeb, .narrow = with.narrow};
  std::vector<std::byte> peb_bytes(layout.peb_parameters + layout.pointer);
  put(peb_bytes, layout.peb_parameters, kParameters, layout.pointer);
  std::vector<std::byte> parameters(layout.size);
  const auto text = [&](std::size_t at, std::uint64_t address, std::u16string_view value) {
    put(parameters, at, value.size() * sizeof(char16_t), 2);
    put(parameters, at + layout.pointer, address, layout.pointer);
    to.memory[address] = bytes_of(value);
  };
  text(layout.command_line, kCommand, with.command);
  text(layout.current_directory, kDirectory, with.directory);
  put(parameters, layout.environment, kEnvironment, layout.pointer);
  put(parameters, layout.environment_size, with.environment.size() * sizeof(char16_t),
      layout.pointer);
  put(parameters, layout.group, with.group, sizeof with.group);
  to.memory[kEnvironment] = bytes_of(with.environment);
  to.memory[kPeb] = std::move(peb_bytes);
  to.memory[kParameters] = std::move(parameters);
}

plugin::Call bounded(std::chrono::milliseconds limit) {
  rollcall_call call = {};
  call.struct_size = sizeof call;
  call.deadline_ns =
      plugin::now_ns() + std::chrono::duration_cast<std::chrono::nanoseconds>(limit).count();
  return plugin::Call(&call);
}

rollcall_observation observe(windows_backend::Probe& probe, std::int64_t pid, std::uint32_t wants) {
  const rollcall_ask ask = {.pid = pid, .wants = wants, .reserved = 0};
  rollcall_observation seen = {};
  const rollcall_observe_batch batch = {.struct_size = sizeof batch,
                                        .ask_stride = sizeof ask,
                                        .observation_stride = sizeof seen,
                                        .reserved = 0,
                                        .count = 1,
                                        .asks = &ask,
                                        .observations = &seen};
  const auto status = probe.observe(plugin::ObserveBatch(batch), unbounded());
  if (!status.ok()) std::abort();
  return seen;
}

std::string token_of(const rollcall_observation& seen) {
  const bool read = (seen.flags & ROLLCALL_OBS_START_TOKEN) != 0;
  return read ? std::string(seen.start_token, seen.start_token_size) : std::string();
}

std::string reason_of(const rollcall_observation& seen) { return {seen.reason, seen.reason_size}; }

Detail read(plugin::ProcessProbe& probe, std::int64_t pid, std::uint32_t what) {
  Detail detail;
  const rollcall_sink sink = {
      sizeof sink, 0, &detail.bytes,
      [](void* context, const void* data, std::uint64_t size) -> std::int32_t {
        static_cast<std::string*>(context)->append(static_cast<const char*>(data),
                                                   static_cast<std::size_t>(size));
        return ROLLCALL_OK;
      }};
  detail.code = probe.read(pid, what, plugin::Sink(&sink), unbounded()).code();
  return detail;
}

std::map<std::int64_t, std::int64_t> list(plugin::ProcessProbe& probe) {
  std::map<std::int64_t, std::int64_t> found;
  const rollcall_pid_sink sink = {
      sizeof sink, 0, &found,
      [](void* context, std::int64_t pid, std::int64_t parent) -> std::int32_t {
        (*static_cast<std::map<std::int64_t, std::int64_t>*>(context))[pid] = parent;
        return ROLLCALL_OK;
      }};
  if (!probe.list(plugin::PidSink(&sink), unbounded()).ok()) std::abort();
  return found;
}

}  // namespace rollcall::testing
