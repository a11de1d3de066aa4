#include "probe.hpp"

#include <fcntl.h>

#include <string_view>

#include "decode.hpp"
#include "details.hpp"
#include "sockets.hpp"

namespace rollcall::linux_backend {
namespace {

constexpr std::size_t kCheckEvery = 256;  // rows between two looks at the call's bounds

// The inode number of a namespace, from the link `self/ns/NAME`.
template <std::size_t N>
void read_namespace(const Procfs& procfs, std::string_view name, char (&out)[N],
                    std::uint32_t& size) {
  char link[64];
  const std::string path = "self/ns/" + std::string(name);
  const ssize_t got = procfs.read_link(path.c_str(), link, sizeof link);
  if (got <= 0) return;
  const auto number = bracketed({link, static_cast<std::size_t>(got)}, name);
  if (number) plugin::set_text(out, size, *number);
}

}  // namespace

Probe::Probe(const plugin::Settings& settings) : Probe(settings, linux_system()) {}

Probe::Probe(const plugin::Settings& settings, const System& system)
    : system_(system),
      reader_(system, std::string(settings.get("proc_root", "/proc"))),
      machine_id_path_(settings.get("machine_id_path", "/etc/machine-id")) {}

plugin::Status Probe::observe(const plugin::ObserveBatch& batch, const plugin::Call& call) {
  Once once;
  for (std::size_t i = 0; i < batch.size(); ++i) {
    if (i % kCheckEvery == kCheckEvery - 1) {
      if (auto status = call.check(); !status.ok()) return status;
    }
    reader_.observe(batch.ask(i), once, batch.observation(i));
  }
  return {};
}

plugin::Status Probe::whoami(rollcall_whoami& out, const plugin::Call&) {
  out.boot_rule = ROLLCALL_BOOT_EXACT;
  out.pid = system_.getpid();
  out.uid = system_.getuid();
  own_identity(out);
  boot_id(out);
  machine(out);
  return {};
}

void Probe::own_identity(rollcall_whoami& out) {
  Once once;
  rollcall_observation own = {};
  reader_.observe({.pid = out.pid, .wants = ROLLCALL_WANT_START_TOKEN | ROLLCALL_WANT_EXACT_ID},
                  once, own);
  const bool token = (own.flags & ROLLCALL_OBS_START_TOKEN) != 0;
  if ((own.flags & ROLLCALL_OBS_EXACT_ID) != 0) out.exact_id = own.exact_id;
  if (token) {
    plugin::set_text(out.start_token, out.start_token_size,
                     {own.start_token, own.start_token_size});
    return;
  }
  std::string_view why(own.reason, own.reason_size);
  if (why.empty() && once.proc_is_ours == false) why = "the procfs is not this process's own";
  if (why.empty()) why = "its stat gives no start time";
  plugin::set_text(out.start_token_why, out.start_token_why_size, why);
}

void Probe::boot_id(rollcall_whoami& out) {
  const std::lock_guard<std::mutex> lock(boot_lock_);
  if (boot_id_.empty()) {
    std::string text;
    const int error = reader_.procfs().read_file("sys/kernel/random/boot_id", 4096, text);
    const auto id = trim(text);
    if (error == 0 && plugin::is_token(id)) {
      boot_id_ = id;
    } else {
      const std::string why = reader_.procfs().path() + "/sys/kernel/random/boot_id " +
                              (error != 0   ? "cannot be read: " + error_text(error)
                               : id.empty() ? "is empty"
                                            : "holds no boot id");
      return plugin::set_text(out.boot_id_why, out.boot_id_why_size, why);
    }
  }
  plugin::set_text(out.boot_id, out.boot_id_size, boot_id_);
}

void Probe::machine(rollcall_whoami& out) const {
  const Fd file(system_, system_.openat(AT_FDCWD, machine_id_path_.c_str(),
                                        O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
  std::string text;
  if (file.open() && read_all(system_, file.get(), 4096, text) == 0) {
    const auto id = trim(text);
    if (plugin::is_token(id)) plugin::set_text(out.machine_id, out.machine_id_size, id);
  }
  struct utsname names = {};
  if (system_.uname(&names) == 0) {
    plugin::set_text(out.nodename, out.nodename_size, static_cast<const char*>(names.nodename));
  }
  if (!reader_.procfs().is_ours()) return;
  read_namespace(reader_.procfs(), "pid", out.pid_namespace, out.pid_namespace_size);
  read_namespace(reader_.procfs(), "time", out.time_namespace, out.time_namespace_size);
}

plugin::Status Probe::not_ours() const {
  return {ROLLCALL_E_UNSUPPORTED,
          reader_.procfs().path() +
              " is not this process's own procfs (its self link does not name it); nothing read "
              "there says anything of our pids; mount a procfs of this pid namespace"};
}

plugin::Status Probe::list(const plugin::PidSink& sink, const plugin::Call& call) {
  const Procfs& procfs = reader_.procfs();
  if (!procfs.is_ours()) return not_ours();
  plugin::Status status;
  std::size_t rows = 0;
  const int error = procfs.each_entry(".", [&](int, std::string_view name) {
    const auto pid = parse_pid(name);
    if (!pid) return true;
    if (++rows % kCheckEvery == 0) status = call.check();
    if (status.ok()) status = sink.pid(*pid, parent_of(procfs, *pid).value_or(-1));
    return status.ok();
  });
  if (error != 0) {
    return {ROLLCALL_E_IO, "cannot list " + procfs.path() + ": " + error_text(error), error};
  }
  return status;
}

plugin::Status Probe::read(std::int64_t pid, std::uint32_t what, const plugin::Sink& sink,
                           const plugin::Call& call) {
  if (auto status = call.check(); !status.ok()) return status;
  if (pid < 1 || pid > INT32_MAX) {
    return {ROLLCALL_E_NOT_FOUND, "no process can hold pid " + std::to_string(pid)};
  }
  if (!reader_.procfs().is_ours()) return not_ours();
  std::string bytes;
  if (auto status = read_detail(system_, reader_.procfs(), pid, what, bytes); !status.ok()) {
    return status;
  }
  return bytes.empty() ? plugin::Status() : sink.write(bytes);
}

plugin::Status Probe::port_owner(const plugin::SocketBatch& batch, const plugin::Call& call) {
  return find_owners(system_, reader_.procfs(), batch, call);
}

}  // namespace rollcall::linux_backend
