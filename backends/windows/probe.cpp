#include "probe.hpp"

#include <string_view>

#include "backend/outcomes.hpp"
#include "decode.hpp"
#include "details.hpp"
#include "processes.hpp"
#include "reading.hpp"
#include "sockets.hpp"

namespace rollcall::windows_backend {
namespace {

constexpr std::size_t kCheckEvery = 256;  // rows between two looks at the call's bounds

}  // namespace

plugin::Status Probe::observe(const plugin::ObserveBatch& batch, const plugin::Call& call) {
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (i % kCheckEvery == kCheckEvery - 1) {
      if (auto status = call.check(); !status.ok()) return status;
    }
    windows_backend::observe(system_, batch.ask(i), batch.observation(i));
  }
  return {};
}

plugin::Status Probe::whoami(rollcall_whoami& out, const plugin::Call&) {
  out.boot_rule = ROLLCALL_BOOT_WITHIN_120_S;
  out.pid = system_.current_pid();
  own_identity(out);
  set_boot_id(out);
  machine(out);
  return {};
}

void Probe::own_identity(rollcall_whoami& out) const {
  rollcall_observation own = {};
  windows_backend::observe(system_, {.pid = out.pid, .wants = ROLLCALL_WANT_START_TOKEN}, own);
  if ((own.flags & ROLLCALL_OBS_START_TOKEN) != 0) {
    return plugin::set_text(out.start_token, out.start_token_size,
                            {own.start_token, own.start_token_size});
  }
  std::string_view why(own.reason, own.reason_size);
  if (why.empty()) why = "its creation time is 0";
  plugin::set_text(out.start_token_why, out.start_token_why_size, why);
}

void Probe::set_boot_id(rollcall_whoami& out) {
  const std::lock_guard<std::mutex> lock(boot_lock_);
  if (boot_id_.empty()) {
    BootTimes times;
    const Code error = system_.boot_times(times);
    const auto id = error == 0 ? boot_id(times.boot, times.bias) : std::nullopt;
    if (!id) {
      const std::string why =
          error != 0 ? "SystemTimeOfDayInformation cannot be read: " + error_text(error)
                     : "SystemTimeOfDayInformation gives no boot time";
      return plugin::set_text(out.boot_id_why, out.boot_id_why_size, why);
    }
    boot_id_ = *id;
  }
  plugin::set_text(out.boot_id, out.boot_id_size, boot_id_);
}

void Probe::machine(rollcall_whoami& out) const {
  std::u16string text;
  if (system_.machine_guid(text) == 0) {
    const std::string id = to_utf8(text);
    if (plugin::is_token(id)) plugin::set_text(out.machine_id, out.machine_id_size, id);
  }
  if (system_.computer_name(text) == 0) {
    plugin::set_text(out.nodename, out.nodename_size, to_utf8(text));
  }
}

plugin::Status Probe::list(const plugin::PidSink& sink, const plugin::Call& call) {
  ProcessTable table(system_);
  if (const Code error = table.read(); error != 0) {
    return {ROLLCALL_E_IO, "cannot take a snapshot of the processes: " + error_text(error), error};
  }
  std::size_t rows = 0;
  for (const ProcessRow& row : table.rows()) {
    if (!backend::is_possible(row.pid)) continue;  // 0 is the idle process, which is none
    if (++rows % kCheckEvery == 0) {
      if (auto status = call.check(); !status.ok()) return status;
    }
    const auto parent = table.parent_of(row.pid);
    const bool known = parent.kin == ProcessTable::Kin::kYes;
    if (auto status = sink.pid(row.pid, known ? parent.pid : -1); !status.ok()) return status;
  }
  return {};
}

plugin::Status Probe::read(std::int64_t pid, std::uint32_t what, const plugin::Sink& sink,
                           const plugin::Call& call) {
  if (auto status = call.check(); !status.ok()) return status;
  if (!backend::is_possible(pid)) {
    return {ROLLCALL_E_NOT_FOUND, "no process can hold pid " + std::to_string(pid)};
  }
  std::string bytes;
  if (auto status = read_detail(system_, pid, what, bytes); !status.ok()) return status;
  return bytes.empty() ? plugin::Status() : sink.write(bytes);
}

plugin::Status Probe::port_owner(const plugin::SocketBatch& batch, const plugin::Call& call) {
  return find_owners(system_, batch, call);
}

}  // namespace rollcall::windows_backend
