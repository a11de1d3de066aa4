#include "probe.hpp"

#include <sys/time.h>

#include <string_view>

#include "decode.hpp"
#include "details.hpp"
#include "memory.hpp"
#include "reading.hpp"
#include "sockets.hpp"
#include "table.hpp"

namespace rollcall::macos_backend {
namespace {

constexpr std::size_t kCheckEvery = 256;  // rows between two looks at the call's bounds

template <class... Parts>
void set_boot_why(rollcall_whoami& out, const Parts&... parts) {
  Text<128> why;
  (void)(why << ... << parts);
  plugin::set_text(out.boot_id_why, out.boot_id_why_size, why.view());
}

}  // namespace

Status Probe::observe(const plugin::ObserveBatch& batch, const Bounds& bounds) const {
  Once once;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (i % kCheckEvery == kCheckEvery - 1) {
      if (auto status = bounds.check(); !status.ok()) return status;
    }
    macos_backend::observe(system_, batch.ask(i), once, batch.observation(i));
  }
  return {};
}

Status Probe::whoami(rollcall_whoami& out) const {
  out.boot_rule = ROLLCALL_BOOT_EXACT;
  out.pid = system_.getpid();
  out.uid = system_.getuid();
  own_identity(out);
  boot_id(out);
  machine(out);
  return {};
}

void Probe::own_identity(rollcall_whoami& out) const {
  Once once;
  rollcall_observation own = {};
  rollcall_ask ask = {};
  ask.pid = out.pid;
  macos_backend::observe(system_, ask, once, own);
  if ((own.flags & ROLLCALL_OBS_START_TOKEN) != 0) {
    plugin::set_text(out.start_token, out.start_token_size,
                     {own.start_token, own.start_token_size});
    return;
  }
  std::string_view why(own.reason, own.reason_size);
  if (why.empty()) why = "the system gives no start time";
  plugin::set_text(out.start_token_why, out.start_token_why_size, why);
}

// False: the kernel has no such name. Otherwise `out` says the id, or why there is none.
bool Probe::boot_session(rollcall_whoami& out) const {
  char text[64] = {};
  std::size_t size = sizeof text;
  if (system_.sysctlbyname("kern.bootsessionuuid", text, &size, nullptr, 0) != 0) {
    if (errno == ENOENT) return false;
    set_boot_why(out, "kern.bootsessionuuid cannot be read: ", error_text(errno));
    return true;
  }
  const std::string_view id = trim({text, size <= sizeof text ? size : 0});
  if (plugin::is_token(id)) {
    plugin::set_text(out.boot_id, out.boot_id_size, id);
  } else {
    set_boot_why(out, "kern.bootsessionuuid ", id.empty() ? "is empty" : "holds no boot id");
  }
  return true;
}

void Probe::boot_id(rollcall_whoami& out) const {
  if (boot_session(out)) return;
  struct timeval time = {};
  std::size_t size = sizeof time;
  if (system_.sysctlbyname("kern.boottime", &time, &size, nullptr, 0) != 0) {
    return set_boot_why(out, "kern.boottime cannot be read: ", error_text(errno));
  }
  const bool sound = size == sizeof time && time.tv_sec > 0 && time.tv_usec >= 0;
  const auto id = sound ? start_token(static_cast<std::uint64_t>(time.tv_sec),
                                      static_cast<std::uint64_t>(time.tv_usec))
                        : Text<48>();
  if (id.empty()) return set_boot_why(out, "kern.boottime makes no sense");
  out.boot_rule = ROLLCALL_BOOT_EQUAL_ONLY;
  plugin::set_text(out.boot_id, out.boot_id_size, id.view());
}

void Probe::machine(rollcall_whoami& out) const {
  unsigned char uuid[16] = {};
  const struct timespec at_once = {};
  if (system_.gethostuuid(uuid, &at_once) == 0) {
    plugin::set_text(out.machine_id, out.machine_id_size, uuid_text(uuid).view());
  }
  char name[256] = {};
  if (system_.gethostname(name, sizeof name) == 0) {
    plugin::set_text(out.nodename, out.nodename_size, fixed_text(name, sizeof name));
  }
}

Status Probe::list(const rollcall_pid_sink& sink, const Bounds& bounds) const {
  List<int> pids;
  if (auto status = list_pids(system_, pids); !status.ok()) return status;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    if (i % kCheckEvery == kCheckEvery - 1) {
      if (auto status = bounds.check(); !status.ok()) return status;
    }
    std::int64_t parent = -1;
    if (!read_parent(system_, pids[i], parent)) continue;
    const std::int32_t code = sink.pid(sink.context, pids[i], parent);
    if (code < 0) return failed(code, 0, "the host wants no more");
  }
  return {};
}

Status Probe::read(std::int64_t pid, std::uint32_t what, const rollcall_sink& sink,
                   const Bounds& bounds) const {
  if (auto status = bounds.check(); !status.ok()) return status;
  if (pid < 1 || pid > INT32_MAX) {
    return failed(ROLLCALL_E_NOT_FOUND, 0, "no process can hold pid ", pid);
  }
  Detail detail;
  if (auto status = read_detail(system_, pid, what, detail); !status.ok()) return status;
  if (detail.bytes.empty()) return {};
  const std::int32_t code = sink.write(sink.context, detail.bytes.data(), detail.bytes.size());
  return code < 0 ? failed(code, 0, "the host wants no more") : Status();
}

Status Probe::port_owner(const plugin::SocketBatch& batch, const Bounds& bounds) const {
  return find_owners(system_, batch, bounds);
}

}  // namespace rollcall::macos_backend
