#include "fake_mac.hpp"

#include <arpa/inet.h>
#include <fcntl.h>
#include <sys/proc.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/sysctl.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>

namespace rollcall::testing {
namespace {

FakeMac* active = nullptr;

std::uint64_t start_of(const proc_bsdinfo& info) {
  return info.pbi_start_tvsec * 1'000'000 + info.pbi_start_tvusec;
}

std::int64_t to_ns(const struct timespec& time) {
  return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
}

struct Address {
  bool v6 = false;
  unsigned char bytes[16] = {};
  std::uint16_t port = 0;
};

Address parse(const std::string& text) {
  Address address;
  const std::size_t colon = text.rfind(':');
  std::string host = text.substr(0, colon);
  address.port = static_cast<std::uint16_t>(std::stoi(text.substr(colon + 1)));
  address.v6 = host.front() == '[';
  if (address.v6) host = host.substr(1, host.size() - 2);
  if (host == "*") host = "0.0.0.0";
  if (::inet_pton(address.v6 ? AF_INET6 : AF_INET, host.c_str(), address.bytes) != 1) std::abort();
  return address;
}

// Writes an address as macOS lays it out: length, family, port, ...
socklen_t write_macos(const Address& address, void* out) {
  unsigned char raw[28] = {};
  const std::uint16_t port = htons(address.port);
  raw[0] = address.v6 ? 28 : 16;
  raw[1] = address.v6 ? 30 : 2;  // AF_INET6, AF_INET
  std::memcpy(raw + 2, &port, 2);
  std::memcpy(raw + (address.v6 ? 8 : 4), address.bytes, address.v6 ? 16 : 4);
  std::memcpy(out, raw, raw[0]);
  return raw[0];
}

socklen_t write_linux(const Address& address, void* out) {
  if (address.v6) {
    struct sockaddr_in6 v6 = {};
    v6.sin6_family = AF_INET6;
    v6.sin6_port = htons(address.port);
    std::memcpy(&v6.sin6_addr, address.bytes, 16);
    std::memcpy(out, &v6, sizeof v6);
    return sizeof v6;
  }
  struct sockaddr_in v4 = {};
  v4.sin_family = AF_INET;
  v4.sin_port = htons(address.port);
  std::memcpy(&v4.sin_addr, address.bytes, 4);
  std::memcpy(out, &v4, sizeof v4);
  return sizeof v4;
}

// Copies an answer, cut where the test wants it so. The bytes that were written.
int give(FakeMac& mac, const char* call, const void* answer, std::size_t size, void* buffer,
         int room) {
  const auto it = mac.cut.find(call);
  if (it != mac.cut.end()) size -= std::min(size, static_cast<std::size_t>(it->second));
  size = std::min(size, static_cast<std::size_t>(std::max(room, 0)));
  std::memcpy(buffer, answer, size);
  return static_cast<int>(size);
}

}  // namespace

// The functions themselves; static, since the dylib calls them by address.
struct FakeCalls {
  static FakeProcess* find(int pid) {
    const auto it = active->processes.find(pid);
    if (it == active->processes.end()) {
      errno = ESRCH;
      return nullptr;
    }
    if (it->second.refused != 0) {
      errno = it->second.refused;
      return nullptr;
    }
    return &it->second;
  }

  static int proc_listallpids(void* buffer, int size) {
    if (!active->enter("proc_listallpids")) return 0;
    std::vector<int> pids = {0};
    for (const auto& [pid, process] : active->processes) pids.push_back(pid);
    const int bytes =
        give(*active, "proc_listallpids", pids.data(), pids.size() * sizeof(int), buffer, size);
    return bytes / static_cast<int>(sizeof(int));
  }

  static int proc_pidinfo(int pid, int flavor, std::uint64_t argument, void* buffer, int size) {
    if (!active->enter("proc_pidinfo")) return 0;
    FakeProcess* process = find(pid);
    if (process == nullptr) return 0;
    const bool zombie = process->info.pbi_status == SZOMB;
    if (zombie && (flavor != PROC_PIDTBSDINFO || argument == 0)) {
      errno = ESRCH;
      return 0;
    }
    switch (flavor) {
      case PROC_PIDTBSDINFO:
        return give(*active, "proc_pidinfo", &process->info, sizeof process->info, buffer, size);
      case PROC_PIDVNODEPATHINFO: {
        proc_vnodepathinfo paths = {};
        std::strncpy(paths.pvi_cdir.vip_path, process->directory.c_str(),
                     sizeof paths.pvi_cdir.vip_path - 1);
        return give(*active, "proc_pidinfo", &paths, sizeof paths, buffer, size);
      }
      case PROC_PIDLISTFDS: {
        std::vector<proc_fdinfo> list;
        for (const auto& one : process->descriptors) list.push_back({one.number, one.type});
        if (list.empty()) return 0;
        return give(*active, "proc_pidinfo", list.data(), list.size() * sizeof list[0], buffer,
                    size);
      }
      default:
        errno = EINVAL;
        return 0;
    }
  }

  static int proc_pidfdinfo(int pid, int fd, int, void* buffer, int size) {
    if (!active->enter("proc_pidfdinfo")) return 0;
    FakeProcess* process = find(pid);
    if (process == nullptr) return 0;
    for (const auto& one : process->descriptors) {
      if (one.number != fd) continue;
      socket_fdinfo info = {};
      info.psi = one.socket;
      return give(*active, "proc_pidfdinfo", &info, sizeof info, buffer, size);
    }
    errno = EBADF;
    return 0;
  }

  static int sysctl(int* name, unsigned length, void* old, std::size_t* old_size, void*,
                    std::size_t) {
    if (!active->enter("sysctl")) return -1;
    if (length == 2 && name[1] == KERN_ARGMAX) {
      *old_size = static_cast<std::size_t>(give(*active, "argmax", &active->argument_limit,
                                                sizeof(int), old, static_cast<int>(*old_size)));
      return 0;
    }
    // EINVAL stands for absent, zombie and another user's alike.
    const FakeProcess* process = length == 3 ? find(name[2]) : nullptr;
    if (process == nullptr || process->info.pbi_status == SZOMB ||
        process->info.pbi_uid != FakeMac::kOwnUid) {
      errno = EINVAL;
      return -1;
    }
    *old_size =
        static_cast<std::size_t>(give(*active, "sysctl", process->arguments.data(),
                                      process->arguments.size(), old, static_cast<int>(*old_size)));
    return 0;
  }

  static int sysctlbyname(const char* name, void* old, std::size_t* old_size, void*, std::size_t) {
    if (!active->enter("sysctlbyname")) return -1;
    const auto it = active->names.find(name);
    if (it == active->names.end()) {
      errno = ENOENT;
      return -1;
    }
    *old_size = static_cast<std::size_t>(give(*active, "sysctlbyname", it->second.data(),
                                              it->second.size(), old, static_cast<int>(*old_size)));
    return 0;
  }

  static int kqueue() { return active->enter("kqueue") ? active->next_queue_++ : -1; }

  static int kevent(int queue, const struct kevent* changes, int change_count,
                    struct kevent* events, int event_count, const struct timespec* timeout) {
    if (change_count == 1 && (changes->fflags & NOTE_TRIGGER) != 0 && event_count == 0) {
      active->trigger(queue);
      return 0;
    }
    if (!active->enter("kevent")) return -1;
    if (change_count == 1) {
      const int error = active->change(queue, *changes);
      *events = *changes;
      events->flags = EV_ERROR;
      events->data = error;
      return 1;
    }
    if (event_count < 1) return 0;
    const int count = active->gather(queue, events, event_count);
    return count > 0 ? count : active->await(queue, events, event_count, timeout);
  }

  static int open(const char* path, int flags, ...) {
    if (!active->enter("open")) return -1;
    const int no_follow = active->layout_ == SocketLayout::kMacos ? 0x100 : O_NOFOLLOW;
    if ((flags & O_EVTONLY) == 0) std::abort();
    return active->open_folder(path, (flags & no_follow) == 0);
  }

  static int close(int fd) {
    ++active->counts["close"];
    active->close_folder(fd);
    auto& watches = active->watches_;
    watches.erase(std::remove_if(watches.begin(), watches.end(),
                                 [fd](const FakeMac::Watch& w) { return w.queue == fd; }),
                  watches.end());
    const std::lock_guard lock(active->mutex_);
    active->users_.erase(fd);
    return 0;
  }

  static int getrlimit(int, struct rlimit* out) {
    if (!active->enter("getrlimit")) return -1;
    out->rlim_cur = active->descriptor_limit;
    out->rlim_max = active->descriptor_limit;
    return 0;
  }

  static int kill(pid_t pid, int signal) {
    if (!active->enter("kill")) return -1;
    const FakeProcess* process = find(pid);
    if (process == nullptr) return -1;
    active->signals.emplace_back(pid, signal);
    return 0;
  }

  static pid_t getpid() { return FakeMac::kOwnPid; }
  static uid_t getuid() { return FakeMac::kOwnUid; }

  static int gethostuuid(unsigned char* uuid, const struct timespec*) {
    if (!active->enter("gethostuuid")) return -1;
    for (unsigned i = 0; i < 16; ++i) uuid[i] = static_cast<unsigned char>(0x10 * i + 0xA);
    return 0;
  }

  static int gethostname(char* name, std::size_t size) {
    if (!active->enter("gethostname")) return -1;
    std::strncpy(name, active->host_name.c_str(), size);
    return 0;
  }

  static int clock_gettime(clockid_t, struct timespec* out) {
    if (!active->enter("clock_gettime")) return -1;
    out->tv_sec = active->unix_ns / 1'000'000'000;
    out->tv_nsec = active->unix_ns % 1'000'000'000;
    return 0;
  }

  static int nanosleep(const struct timespec* time, struct timespec*) {
    if (!active->enter("nanosleep")) return -1;
    active->wait(to_ns(*time));
    return 0;
  }

  static FakeConnection* connection(int fd) {
    const auto it = active->connections.find(fd);
    if (it != active->connections.end()) return &it->second;
    errno = EBADF;
    return nullptr;
  }

  static int getsockopt(int fd, int level, int name, void* value, socklen_t* size) {
    if (!active->enter("getsockopt")) return -1;
    const FakeConnection* found = connection(fd);
    if (found == nullptr || level != SOL_LOCAL || name != LOCAL_PEERPID) return -1;
    std::memcpy(value, &found->peer_pid, sizeof found->peer_pid);
    *size = sizeof found->peer_pid;
    return 0;
  }

  static int name_of(int fd, bool peer, struct sockaddr* out, socklen_t* size) {
    const FakeConnection* found = connection(fd);
    if (found == nullptr) return -1;
    const bool macos = active->layout_ == SocketLayout::kMacos;
    if (found->local) {
      unsigned char raw[2] = {AF_UNIX, 0};
      if (macos) std::swap(raw[0], raw[1]);
      std::memcpy(out, raw, sizeof raw);
      *size = sizeof raw;
      return 0;
    }
    const Address address = parse(peer ? found->door : found->own);
    *size = macos ? write_macos(address, out) : write_linux(address, out);
    return 0;
  }

  static int getsockname(int fd, struct sockaddr* out, socklen_t* size) {
    return active->enter("getsockname") ? name_of(fd, false, out, size) : -1;
  }
  static int getpeername(int fd, struct sockaddr* out, socklen_t* size) {
    return active->enter("getpeername") ? name_of(fd, true, out, size) : -1;
  }

  static int getpeereid(int fd, uid_t* uid, gid_t* gid) {
    if (!active->enter("getpeereid")) return -1;
    const FakeConnection* found = connection(fd);
    if (found == nullptr) return -1;
    *uid = found->peer_uid;
    *gid = 20;
    return 0;
  }

  static macos_backend::System table() {
    return {
        .proc_listallpids = &proc_listallpids,
        .proc_pidinfo = &proc_pidinfo,
        .proc_pidfdinfo = &proc_pidfdinfo,
        .sysctl = &sysctl,
        .sysctlbyname = &sysctlbyname,
        .kqueue = &kqueue,
        .kevent = &kevent,
        .open = &open,
        .close = &close,
        .getrlimit = &getrlimit,
        .kill = &kill,
        .getpid = &getpid,
        .getuid = &getuid,
        .gethostuuid = &gethostuuid,
        .gethostname = &gethostname,
        .clock_gettime = &clock_gettime,
        .nanosleep = &nanosleep,
        .getsockopt = &getsockopt,
        .getsockname = &getsockname,
        .getpeername = &getpeername,
        .getpeereid = &getpeereid,
    };
  }
};

FakeMac::FakeMac(SocketLayout layout) : system_(FakeCalls::table()), layout_(layout) {
  if (active != nullptr) std::abort();
  active = this;
  names["kern.bootsessionuuid"] = std::string("9F1C0A52-7C3E-4B0E-8D77-2B7C1F0E6A11\0", 37);
  add(kOwnPid, 1'700'000'400, 7, 1);
}

FakeMac::~FakeMac() {
  for (const auto& [fd, folder] : folders_) ::close(folder.real);
  active = nullptr;
}

void* FakeMac::function(std::string_view name) {
  static const std::map<std::string_view, void*> kFunctions = {
      {"_proc_listallpids", reinterpret_cast<void*>(&FakeCalls::proc_listallpids)},
      {"_proc_pidinfo", reinterpret_cast<void*>(&FakeCalls::proc_pidinfo)},
      {"_proc_pidfdinfo", reinterpret_cast<void*>(&FakeCalls::proc_pidfdinfo)},
      {"_sysctl", reinterpret_cast<void*>(&FakeCalls::sysctl)},
      {"_sysctlbyname", reinterpret_cast<void*>(&FakeCalls::sysctlbyname)},
      {"_kqueue", reinterpret_cast<void*>(&FakeCalls::kqueue)},
      {"_kevent", reinterpret_cast<void*>(&FakeCalls::kevent)},
      {"_open", reinterpret_cast<void*>(&FakeCalls::open)},
      {"_getrlimit", reinterpret_cast<void*>(&FakeCalls::getrlimit)},
      {"_close", reinterpret_cast<void*>(&FakeCalls::close)},
      {"_kill", reinterpret_cast<void*>(&FakeCalls::kill)},
      {"_getpid", reinterpret_cast<void*>(&FakeCalls::getpid)},
      {"_getuid", reinterpret_cast<void*>(&FakeCalls::getuid)},
      {"_gethostuuid", reinterpret_cast<void*>(&FakeCalls::gethostuuid)},
      {"_gethostname", reinterpret_cast<void*>(&FakeCalls::gethostname)},
      {"_clock_gettime", reinterpret_cast<void*>(&FakeCalls::clock_gettime)},
      {"_nanosleep", reinterpret_cast<void*>(&FakeCalls::nanosleep)},
      {"_getsockopt", reinterpret_cast<void*>(&FakeCalls::getsockopt)},
      {"_getsockname", reinterpret_cast<void*>(&FakeCalls::getsockname)},
      {"_getpeername", reinterpret_cast<void*>(&FakeCalls::getpeername)},
      {"_getpeereid", reinterpret_cast<void*>(&FakeCalls::getpeereid)},
  };
  const auto it = kFunctions.find(name);
  return it == kFunctions.end() ? nullptr : it->second;
}

rollcall_host FakeMac::host() {
  rollcall_host host = {};
  host.struct_size = sizeof host;
  host.abi_major = ROLLCALL_ABI_MAJOR;
  host.abi_minor = ROLLCALL_ABI_MINOR;
  host.context = this;
  host.monotonic_now_ns = [](void* self) { return static_cast<FakeMac*>(self)->monotonic_ns; };
  return host;
}

FakeProcess& FakeMac::add(int pid, std::uint64_t second, std::uint32_t microsecond, int parent) {
  FakeProcess process;
  process.info.pbi_pid = static_cast<std::uint32_t>(pid);
  process.info.pbi_ppid = static_cast<std::uint32_t>(parent);
  process.info.pbi_status = SRUN;
  process.info.pbi_uid = kOwnUid;
  process.info.pbi_start_tvsec = second;
  process.info.pbi_start_tvusec = microsecond;
  std::strncpy(process.info.pbi_comm, "agent", sizeof process.info.pbi_comm - 1);
  return processes.insert_or_assign(pid, std::move(process)).first->second;
}

void FakeMac::exit(int pid, bool collected) {
  const auto it = processes.find(pid);
  if (it == processes.end()) std::abort();
  for (Watch& watch : watches_) {
    if (watch.pid == pid && watch.start == start_of(it->second.info)) watch.fired = true;
  }
  it->second.info.pbi_status = SZOMB;
  if (collected) processes.erase(it);
}

// Counts the call; false: it is to be refused, and errno is set.
bool FakeMac::enter(const char* call) {
  const int count = ++counts[call];
  calls.emplace_back(call);
  if (before) before(call);
  const auto nth = refuse_nth.find(call);
  if (nth != refuse_nth.end() && nth->second.first == count) {
    errno = nth->second.second;
    return false;
  }
  const auto it = refuse.find(call);
  if (it == refuse.end()) return true;
  errno = it->second;
  return false;
}

void FakeMac::wait(std::int64_t ns) {
  monotonic_ns += ns;
  if (while_waiting) while_waiting(ns);
}

// Does as it is told. 0, or the errno of the receipt.
int FakeMac::change(int queue, const struct kevent& change) {
  switch (change.filter) {
    case EVFILT_PROC:
      return change_process(queue, change);
    case EVFILT_VNODE: {
      const int fd = static_cast<int>(change.ident);
      if (folders_.count(fd) == 0) return EBADF;
      if ((change.fflags & NOTE_WRITE) == 0 || (change.flags & EV_CLEAR) == 0) std::abort();
      folder_watches_.push_back({queue, fd, entries_of(fd)});
      return 0;
    }
    case EVFILT_USER: {
      const std::lock_guard lock(mutex_);
      users_[queue] = {};
      return 0;
    }
    default:
      return EINVAL;
  }
}

int FakeMac::change_process(int queue, const struct kevent& change) {
  const int pid = static_cast<int>(change.ident);
  const auto known = std::find_if(watches_.begin(), watches_.end(), [&](const Watch& watch) {
    return watch.queue == queue && watch.pid == pid;
  });
  if ((change.flags & EV_DELETE) != 0) {
    if (known == watches_.end()) return ENOENT;
    watches_.erase(known);
    return 0;
  }
  // As in the kernel, one is not bound anew to whoever holds the number by now.
  if (known != watches_.end()) return 0;
  const auto it = processes.find(pid);
  if (it == processes.end() || it->second.info.pbi_status == SZOMB) return ESRCH;
  watches_.push_back({queue, pid, start_of(it->second.info)});
  return 0;
}

// Takes what a queue has to tell.
int FakeMac::gather(int queue, struct kevent* events, int room) {
  int count = 0;
  const auto tell = [&](std::uintptr_t ident, int filter, std::uint32_t notes) {
    struct kevent& event = events[count++];
    event = {};
    event.ident = ident;
    event.filter = static_cast<std::int16_t>(filter);
    event.fflags = notes;
  };
  for (auto it = watches_.begin(); it != watches_.end() && count < room;) {
    if (it->queue != queue || !it->fired) {
      ++it;
      continue;
    }
    tell(static_cast<std::uintptr_t>(it->pid), EVFILT_PROC, NOTE_EXIT);
    it = watches_.erase(it);  // EV_ONESHOT
  }
  for (FolderWatch& watch : folder_watches_) {
    if (watch.queue != queue || count == room) continue;
    const std::uint32_t notes = news_of(watch);
    if (notes != 0) tell(static_cast<std::uintptr_t>(watch.fd), EVFILT_VNODE, notes);
  }
  const std::lock_guard lock(mutex_);
  const auto user = users_.find(queue);
  if (user != users_.end() && user->second.triggered && count < room) {
    tell(0, EVFILT_USER, 0);
    user->second.triggered = false;  // EV_CLEAR
  }
  return count;
}

int FakeMac::await(int queue, struct kevent* events, int room, const struct timespec* timeout) {
  const std::int64_t ns = timeout == nullptr ? 0 : to_ns(*timeout);
  if (!can_be_woken(queue)) {
    wait(ns);
    return gather(queue, events, room);
  }
  if (timeout != nullptr && ns == 0) return 0;
  if (while_waiting) while_waiting(ns);
  if (const int count = gather(queue, events, room); count > 0) return count;
  block(queue, timeout == nullptr ? INT64_MAX : ns);
  return gather(queue, events, room);
}

bool FakeMac::can_be_woken(int queue) {
  const std::lock_guard lock(mutex_);
  return users_.count(queue) > 0;
}

// Until it is woken, or so long; without end, a minute stands for it.
void FakeMac::block(int queue, std::int64_t ns) {
  constexpr std::int64_t kMinute = 60'000'000'000;
  const auto from = std::chrono::system_clock::now();
  std::unique_lock lock(mutex_);
  const bool triggered =
      woken_.wait_until(lock, from + std::chrono::nanoseconds(std::min(ns, kMinute)),
                        [&] { return users_[queue].triggered; });
  const auto passed =
      std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::system_clock::now() - from);
  monotonic_ns += triggered ? std::min<std::int64_t>(passed.count(), ns - 1) : ns;
}

void FakeMac::trigger(int queue) {
  const std::lock_guard lock(mutex_);
  const auto user = users_.find(queue);
  if (user == users_.end()) return;
  user->second.triggered = true;
  woken_.notify_all();
}

int FakeMac::open_folder(const char* path, bool follow) {
  const int real = ::open(path, O_PATH | O_CLOEXEC | (follow ? 0 : O_NOFOLLOW));
  if (real < 0) return -1;
  struct stat info = {};
  if (::fstat(real, &info) != 0 || !S_ISDIR(info.st_mode)) {
    ::close(real);
    errno = S_ISLNK(info.st_mode) ? ELOOP : ENOTDIR;
    return -1;
  }
  const int fd = next_descriptor++;
  folders_[fd] = {real, std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(real))};
  return fd;
}

void FakeMac::close_folder(int fd) {
  const auto it = folders_.find(fd);
  if (it == folders_.end()) return;
  ::close(it->second.real);
  folders_.erase(it);
  folder_watches_.erase(std::remove_if(folder_watches_.begin(), folder_watches_.end(),
                                       [fd](const FolderWatch& one) { return one.fd == fd; }),
                        folder_watches_.end());
}

// Names with what they name: a file that is written in place is not told, as on macOS.
std::set<std::string> FakeMac::entries_of(int fd) {
  std::set<std::string> entries;
  std::error_code error;
  const std::filesystem::path link = "/proc/self/fd/" + std::to_string(folders_.at(fd).real);
  for (std::filesystem::directory_iterator it(link / ".", error), end; it != end;
       it.increment(error)) {
    struct stat info = {};
    if (::lstat(it->path().c_str(), &info) != 0) continue;
    entries.insert(it->path().filename().string() + "/" + std::to_string(info.st_ino));
  }
  return entries;
}

std::uint32_t FakeMac::news_of(FolderWatch& watch) {
  const Folder& folder = folders_.at(watch.fd);
  const std::string now =
      std::filesystem::read_symlink("/proc/self/fd/" + std::to_string(folder.real));
  if (now == folder.path + " (deleted)") return NOTE_DELETE;
  if (now != folder.path) return NOTE_RENAME;
  auto entries = entries_of(watch.fd);
  if (entries == watch.entries) return 0;
  watch.entries = std::move(entries);
  return NOTE_WRITE;
}

std::string argument_area(int argc, const std::vector<std::string>& arguments,
                          const std::vector<std::string>& environment, const std::string& path) {
  std::string area(reinterpret_cast<const char*>(&argc), sizeof argc);
  area += path;
  area.append(1 + 8 - path.size() % 8, '\0');
  for (const auto& argument : arguments) area.append(argument).push_back('\0');
  for (const auto& entry : environment) area.append(entry).push_back('\0');
  area.push_back('\0');
  area += "ptr_munge=";
  area.push_back('\0');
  return area;
}

FakeDescriptor tcp_descriptor(int number, std::uint64_t handle, const std::string& local,
                              const std::string& remote) {
  FakeDescriptor descriptor;
  descriptor.number = number;
  socket_info& socket = descriptor.socket;
  socket.soi_kind = SOCKINFO_TCP;
  socket.soi_so = handle;
  tcp_sockinfo& tcp = socket.soi_proto.pri_tcp;
  tcp.tcpsi_state = remote.empty() ? TSI_S_LISTEN : TSI_S_ESTABLISHED;
  in_sockinfo& ip = tcp.tcpsi_ini;
  const Address here = parse(local);
  const bool dual = here.v6 && local.rfind("[::]", 0) == 0;
  ip.insi_vflag =
      static_cast<std::uint8_t>(here.v6 ? (dual ? INI_IPV6 | INI_IPV4 : INI_IPV6) : INI_IPV4);
  ip.insi_lport = htons(here.port);
  if (here.v6) {
    std::memcpy(&ip.insi_laddr.ina_6, here.bytes, 16);
  } else {
    std::memcpy(&ip.insi_laddr.ina_46.i46a_addr4, here.bytes, 4);
  }
  if (remote.empty()) return descriptor;
  const Address there = parse(remote);
  ip.insi_fport = htons(there.port);
  if (there.v6) {
    std::memcpy(&ip.insi_faddr.ina_6, there.bytes, 16);
  } else {
    std::memcpy(&ip.insi_faddr.ina_46.i46a_addr4, there.bytes, 4);
  }
  return descriptor;
}

}  // namespace rollcall::testing

// What system.cpp names and glibc has not. The tests hand tables of their own to the backend, so
// none of these is reached but through the plugin's entry.
extern "C" {
int proc_listallpids(void* buffer, int size) {
  return rollcall::testing::FakeCalls::proc_listallpids(buffer, size);
}
int proc_pidinfo(int pid, int flavor, uint64_t argument, void* buffer, int size) {
  return rollcall::testing::FakeCalls::proc_pidinfo(pid, flavor, argument, buffer, size);
}
int proc_pidfdinfo(int pid, int fd, int flavor, void* buffer, int size) {
  return rollcall::testing::FakeCalls::proc_pidfdinfo(pid, fd, flavor, buffer, size);
}
int sysctl(int* name, unsigned length, void* old, size_t* old_size, void* fresh, size_t size) {
  return rollcall::testing::FakeCalls::sysctl(name, length, old, old_size, fresh, size);
}
int sysctlbyname(const char* name, void* old, size_t* old_size, void* fresh, size_t size) {
  return rollcall::testing::FakeCalls::sysctlbyname(name, old, old_size, fresh, size);
}
int kqueue(void) { return rollcall::testing::FakeCalls::kqueue(); }
int kevent(int queue, const struct kevent* changes, int change_count, struct kevent* events,
           int event_count, const struct timespec* timeout) {
  return rollcall::testing::FakeCalls::kevent(queue, changes, change_count, events, event_count,
                                              timeout);
}
int gethostuuid(unsigned char* uuid, const struct timespec* wait) {
  return rollcall::testing::FakeCalls::gethostuuid(uuid, wait);
}
int getpeereid(int fd, uid_t* uid, gid_t* gid) {
  return rollcall::testing::FakeCalls::getpeereid(fd, uid, gid);
}
}
