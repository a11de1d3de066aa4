#include "details.hpp"

#include <vector>

#include "backend/outcomes.hpp"
#include "decode.hpp"
#include "processes.hpp"

namespace rollcall::windows_backend {
namespace {

using backend::name;

constexpr std::size_t kLimit = std::size_t{8} << 20;
constexpr int kTries = 3;  // readings of parameters that change meanwhile

// A reading of another's memory that failed: it may have ended meanwhile.
plugin::Status failed(const System& system, Handle process, std::int64_t pid, const char* what,
                      Code error) {
  Code ignored = 0;
  if (system.wait(process, 0, ignored) == WaitState::kSignalled) {
    return {ROLLCALL_E_NOT_FOUND, name(pid) + " has exited and has no " + what, error};
  }
  const std::string why = std::string(what) + " of " + name(pid) + ": " + error_text(error);
  if (error == kAccessDenied) return {ROLLCALL_E_DENIED, "may not read the " + why, error};
  return {ROLLCALL_E_IO, "cannot read the " + why, error};
}

class Block {
 public:
  Block(const System& system, std::int64_t pid, const char* what)
      : system_(system), pid_(pid), what_(what), pin_(system) {}

  plugin::Status open() {
    open_pin(system_, pid_, kToObserve | kMayReadMemory, pin_);
    if (pin_.other || pin_.error == kInvalidParameter) {
      return {ROLLCALL_E_NOT_FOUND, "no process holds " + name(pid_), pin_.error};
    }
    if (pin_.handle.open()) return {};
    const std::string why =
        std::string("the ") + what_ + " of " + name(pid_) + ": " + error_text(pin_.error);
    if (pin_.error == kAccessDenied) return {ROLLCALL_E_DENIED, "may not read " + why, pin_.error};
    return {ROLLCALL_E_IO, "cannot read " + why, pin_.error};
  }

  plugin::Status text(const RemoteText& from, std::u16string& out) const {
    return memory(from.address, from.bytes, out);
  }

  // The environment may be made anew while it is read: it counts only if the parameters say the
  // same afterwards.
  plugin::Status environment(std::string& out) const {
    for (int i = 0; i < kTries; ++i) {
      Parameters before;
      if (auto status = parameters(before); !status.ok()) return status;
      std::u16string block;
      auto status = memory(before.environment, before.environment_size, block);
      Parameters after;
      if (auto again = parameters(after); !again.ok()) return again;
      if (!(before == after)) continue;
      if (!status.ok()) return status;
      auto entries = decode_environment(block);
      if (!entries) return {ROLLCALL_E_CORRUPT, "the environment of " + name(pid_) + " is cut"};
      out = std::move(*entries);
      return {};
    }
    return {ROLLCALL_E_IO, "the environment of " + name(pid_) + " changes while it is read"};
  }

  plugin::Status parameters(Parameters& out) const {
    PebPlace place;
    return read_parameters(system_, pin_.handle.get(), pid_, place, out);
  }

 private:
  plugin::Status memory(std::uint64_t address, std::uint64_t bytes, std::u16string& out) const {
    if (bytes > kLimit) {
      return {ROLLCALL_E_TOO_LARGE,
              std::string("the ") + what_ + " of " + name(pid_) + " is larger than 8 MiB"};
    }
    out.resize(static_cast<std::size_t>(bytes) / sizeof(char16_t));
    if (out.empty()) return {};
    const Code error =
        system_.read_memory(pin_.handle.get(), address, out.data(), out.size() * sizeof(char16_t));
    if (error == 0) return {};
    return failed(system_, pin_.handle.get(), pid_, what_, error);
  }

  const System& system_;
  std::int64_t pid_;
  const char* what_;
  Pin pin_;
};

plugin::Status command(const System& system, std::int64_t pid, std::string& out) {
  Block block(system, pid, "command line");
  if (auto status = block.open(); !status.ok()) return status;
  Parameters parameters;
  if (auto status = block.parameters(parameters); !status.ok()) return status;
  std::u16string line;
  if (auto status = block.text(parameters.command_line, line); !status.ok()) return status;
  out = split_command_line(line);
  return {};
}

plugin::Status directory(const System& system, std::int64_t pid, std::string& out) {
  Block block(system, pid, "working directory");
  if (auto status = block.open(); !status.ok()) return status;
  Parameters parameters;
  if (auto status = block.parameters(parameters); !status.ok()) return status;
  std::u16string path;
  if (auto status = block.text(parameters.current_directory, path); !status.ok()) return status;
  out = to_utf8(trim_directory(path));
  return {};
}

plugin::Status environment(const System& system, std::int64_t pid, std::string& out) {
  Block block(system, pid, "environment");
  if (auto status = block.open(); !status.ok()) return status;
  return block.environment(out);
}

plugin::Status from_table(const System& system, std::int64_t pid, bool wants_name,
                          std::string& out) {
  ProcessTable table(system);
  if (const Code error = table.read(); error != 0) {
    return {ROLLCALL_E_IO, "cannot take a snapshot of the processes: " + error_text(error), error};
  }
  const ProcessRow* row = table.find(pid);
  if (row == nullptr) return {ROLLCALL_E_NOT_FOUND, "no process holds " + name(pid)};
  if (wants_name) {
    out = to_utf8(row->name);
    return {};
  }
  const auto parent = table.parent_of(pid);
  switch (parent.kin) {
    case ProcessTable::Kin::kYes:
      out = std::to_string(parent.pid);
      return {};
    case ProcessTable::Kin::kNo:
      return {ROLLCALL_E_NOT_FOUND, "the parent of " + name(pid) + " has gone"};
    case ProcessTable::Kin::kUnknown:
      break;
  }
  return {ROLLCALL_E_DENIED, "whether " + name(parent.pid) + " is the parent of " + name(pid) +
                                 " or only has its number cannot be told"};
}

}  // namespace

plugin::Status read_parameters(const System& system, Handle process, std::int64_t pid,
                               PebPlace& place, Parameters& out) {
  constexpr const char* kWhat = "process parameters";
  if (const Code error = system.peb(process, place); error != 0) {
    return failed(system, process, pid, kWhat, error);
  }
  if (place.address == 0) {
    Code ignored = 0;
    if (system.wait(process, 0, ignored) == WaitState::kSignalled) {
      return {ROLLCALL_E_NOT_FOUND, name(pid) + " has exited and has no parameters"};
    }
    return {ROLLCALL_E_UNSUPPORTED, name(pid) + " is the kernel's own and has no parameters"};
  }
  const ParameterLayout& layout = parameter_layout(place.narrow);
  std::byte pointer[8] = {};
  if (const Code error = system.read_memory(process, place.address + layout.peb_parameters, pointer,
                                            layout.pointer);
      error != 0) {
    return failed(system, process, pid, kWhat, error);
  }
  const std::uint64_t address = decode_pointer(layout.pointer, pointer);
  if (address == 0) return {ROLLCALL_E_IO, name(pid) + " is being made and has no parameters yet"};
  std::vector<std::byte> bytes(layout.size);
  if (const Code error = system.read_memory(process, address, bytes.data(), bytes.size());
      error != 0) {
    return failed(system, process, pid, kWhat, error);
  }
  out = decode_parameters(layout, bytes);
  return {};
}

plugin::Status read_detail(const System& system, std::int64_t pid, std::uint32_t what,
                           std::string& out) {
  switch (what) {
    case ROLLCALL_READ_COMMAND:
      return command(system, pid, out);
    case ROLLCALL_READ_ENVIRONMENT:
      return environment(system, pid, out);
    case ROLLCALL_READ_CWD:
      return directory(system, pid, out);
    case ROLLCALL_READ_PARENT:
      return from_table(system, pid, false, out);
    case ROLLCALL_READ_NAME:
      return from_table(system, pid, true, out);
    case ROLLCALL_READ_USERS:
      return {ROLLCALL_E_UNSUPPORTED, "users have no numbers on Windows"};
    default:
      return {ROLLCALL_E_INVALID, "unknown reading " + std::to_string(what)};
  }
}

}  // namespace rollcall::windows_backend
