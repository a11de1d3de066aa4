#include "table.hpp"

#include <cstdlib>

#include "reading.hpp"

namespace rollcall::macos_backend {
namespace {

constexpr std::size_t kFirstRoom = 1024;
constexpr std::size_t kMostRoom = std::size_t{1} << 22;  // pids; far over what the kernel allows
constexpr std::size_t kCheckEvery = 256;  // processes between two looks at the bounds

int by_pid(const void* a, const void* b) {
  const std::int64_t left = static_cast<const Process*>(a)->pid;
  const std::int64_t right = static_cast<const Process*>(b)->pid;
  return left < right ? -1 : (left > right ? 1 : 0);
}

}  // namespace

Status list_pids(const System& system, List<int>& out) {
  for (std::size_t room = kFirstRoom; room <= kMostRoom; room *= 2) {
    if (!out.reserve(room)) return failed(ROLLCALL_E_NO_MEMORY, 0, "out of memory");
    errno = 0;
    const int count = system.proc_listallpids(out.data(), static_cast<int>(room * sizeof(int)));
    if (count <= 0) {
      return failed(ROLLCALL_E_IO, errno, "cannot list the processes: ",
                    errno == 0 ? std::string_view("the system named none") : error_text(errno));
    }
    if (static_cast<std::size_t>(count) >= room) continue;  // there may be more
    std::size_t kept = 0;
    for (int i = 0; i < count; ++i) {
      if (out[static_cast<std::size_t>(i)] > 0) out[kept++] = out[static_cast<std::size_t>(i)];
    }
    out.set_size(kept);
    return {};
  }
  return failed(ROLLCALL_E_IO, 0, "cannot list the processes: there are more with each asking");
}

bool read_parent(const System& system, std::int64_t pid, std::int64_t& parent) {
  const Reading reading = read_process(system, pid);
  if (reading.outcome == Reading::Outcome::kAbsent) return false;
  parent = reading.outcome == Reading::Outcome::kRead ? std::int64_t{reading.info.pbi_ppid} : -1;
  return true;
}

Status Tree::read(const System& system, const Bounds& bounds) {
  List<int> pids;
  if (auto status = list_pids(system, pids); !status.ok()) return status;
  for (std::size_t i = 0; i < pids.size(); ++i) {
    if (i % kCheckEvery == kCheckEvery - 1) {
      if (auto status = bounds.check(); !status.ok()) return status;
    }
    Process process;
    process.pid = pids[i];
    if (!read_parent(system, process.pid, process.parent)) continue;
    if (!processes_.push(process)) return failed(ROLLCALL_E_NO_MEMORY, 0, "out of memory");
  }
  if (processes_.size() > 1) {
    std::qsort(processes_.data(), processes_.size(), sizeof(Process), &by_pid);
  }
  return {};
}

std::int64_t Tree::parent_of(std::int64_t pid) const {
  std::size_t low = 0;
  std::size_t high = processes_.size();
  while (low < high) {
    const std::size_t middle = low + (high - low) / 2;
    if (processes_[middle].pid == pid) return processes_[middle].parent;
    if (processes_[middle].pid < pid) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return -1;
}

Tree::Kin Tree::descends(std::int64_t pid, std::int64_t ancestor) const {
  if (pid == ancestor) return Kin::kYes;
  return ancestor == 1 ? Kin::kNo : is_ancestor(ancestor, pid);
}

Tree::Kin Tree::is_ancestor(std::int64_t pid, std::int64_t other) const {
  if (pid == 1) return other == 1 ? Kin::kNo : Kin::kYes;
  std::int64_t at = other;
  for (std::size_t steps = 0; steps <= processes_.size(); ++steps) {
    at = parent_of(at);
    if (at == pid) return Kin::kYes;
    if (at < 0) return Kin::kUnknown;
    if (at <= 1) return Kin::kNo;
  }
  return Kin::kUnknown;
}

}  // namespace rollcall::macos_backend
