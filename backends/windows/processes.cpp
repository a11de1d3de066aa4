#include "processes.hpp"

#include "reading.hpp"

namespace rollcall::windows_backend {

Code ProcessTable::read() {
  rows_.clear();
  index_.clear();
  created_.clear();
  if (const Code error = system_.processes(rows_); error != 0) return error;
  index_.reserve(rows_.size());
  for (std::size_t i = 0; i < rows_.size(); ++i) index_.emplace(rows_[i].pid, i);
  return 0;
}

const ProcessRow* ProcessTable::find(std::int64_t pid) const {
  if (pid < 0 || pid > INT32_MAX) return nullptr;
  const auto it = index_.find(static_cast<std::uint32_t>(pid));
  return it == index_.end() ? nullptr : &rows_[it->second];
}

ProcessTable::Parent ProcessTable::parent_of(std::int64_t pid) {
  const ProcessRow* row = find(pid);
  if (row == nullptr || row->parent == 0) return {};
  const Parent parent{.kin = Kin::kYes, .pid = row->parent};
  if (find(parent.pid) == nullptr || parent.pid == pid) return {.kin = Kin::kNo, .pid = parent.pid};
  const auto mine = created(row->pid);
  const auto theirs = created(row->parent);
  if (!mine || !theirs) return {.kin = Kin::kUnknown, .pid = parent.pid};
  return *theirs <= *mine ? parent : Parent{.kin = Kin::kNo, .pid = parent.pid};
}

ProcessTable::Kin ProcessTable::descends(std::int64_t pid, std::int64_t ancestor) {
  // A parent that cannot be told from a newcomer is followed all the same: only if the way leads to
  // the ancestor does it matter that one of its steps is uncertain.
  Kin certain = Kin::kYes;
  for (std::size_t steps = 0; steps <= rows_.size(); ++steps) {  // no chain is longer: a cycle ends
    if (pid == ancestor) return certain;
    const Parent parent = parent_of(pid);
    if (parent.kin == Kin::kNo) return Kin::kNo;
    if (parent.kin == Kin::kUnknown) certain = Kin::kUnknown;
    pid = parent.pid;
  }
  return Kin::kNo;
}

std::optional<std::uint64_t> ProcessTable::created(std::uint32_t pid) {
  const auto known = created_.find(pid);
  if (known != created_.end()) return known->second;
  std::optional<std::uint64_t> found;
  Pin pin(system_);
  open_pin(system_, pid, kMayQuery, pin);
  std::uint64_t created = 0;
  if (pin.handle.open() && system_.creation_time(pin.handle.get(), created) == 0 && created != 0) {
    found = created;
  }
  return created_.emplace(pid, found).first->second;
}

}  // namespace rollcall::windows_backend
