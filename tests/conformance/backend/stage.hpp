// What a platform puts on the stage for the one conformance suite of all backends: its backend, and
// processes in the states that the behaviours are about. Real ones, or a fake kernel's.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rollcall/plugin.h"

namespace rollcall::conformance {

// The raw tables with an instance of each.
struct Backend {
  const rollcall_process_probe* probe = nullptr;
  void* probe_self = nullptr;
  const rollcall_process_control* control = nullptr;
  void* control_self = nullptr;
  const rollcall_watch* watch = nullptr;  // null: the platform has none
  void* watch_self = nullptr;
};

// What a process is started with.
struct Started {
  std::vector<std::string> arguments;
  std::vector<std::string> environment;
  std::string directory;
};

// A connected TCP socket of ours, whose other end `holder` answers.
struct Door {
  std::int64_t socket = -1;
  std::int64_t holder = 0;
  std::int64_t parent = 0;  // of the holder; not this process
};

// A situation that cannot be had on this stage is nullopt or false: the behaviour is not tried.
class Stage {
 public:
  virtual ~Stage() = default;

  [[nodiscard]] virtual std::string platform() const = 0;  // "Linux", "Windows", "macOS"
  [[nodiscard]] virtual const Backend& backend() = 0;
  [[nodiscard]] virtual std::int64_t own_pid() const = 0;
  // On the clock that the backend's deadlines are measured by.
  [[nodiscard]] virtual std::int64_t now_ns() const = 0;

  // A process that runs until it is ended. It can be asked to stop, and stops then.
  virtual std::int64_t run() = 0;
  // Ends it. Its number stays taken.
  virtual void end(std::int64_t pid, int exit_code) = 0;
  // The same while the next call of the backend waits for it.
  virtual void end_soon(std::int64_t pid, int exit_code) = 0;
  // Whether it runs, by the stage's own knowledge.
  [[nodiscard]] virtual bool runs(std::int64_t pid) = 0;
  // Whether it has ended by now or within a generous time.
  [[nodiscard]] virtual bool has_ended(std::int64_t pid) = 0;
  // A number that no process has.
  virtual std::int64_t free_pid() = 0;

  // A process that is there and may not be read, and a backend that asks for it.
  virtual std::optional<std::pair<Backend, std::int64_t>> denied() { return std::nullopt; }
  // The process ends, its number is given up, and another starts. Returned is the other's number:
  // the same, but where the system keeps a number from being used anew while the backend holds it.
  virtual std::optional<std::int64_t> replace(std::int64_t) { return std::nullopt; }
  // The number of a thread that is no process.
  virtual std::optional<std::int64_t> thread() { return std::nullopt; }
  virtual bool suspend(std::int64_t) { return false; }
  // A process whose parent is `run`'s; both are returned, the parent first.
  virtual std::optional<std::pair<std::int64_t, std::int64_t>> family() { return std::nullopt; }
  virtual std::optional<std::int64_t> run_with(const Started&) { return std::nullopt; }
  // What the name of run_with's process is.
  [[nodiscard]] virtual std::string name() const { return {}; }
  virtual std::optional<Door> door() { return std::nullopt; }
  virtual std::optional<Door> unix_door() { return std::nullopt; }
  // Why this machine may lack an exact id that the platform has; "" where it may not.
  [[nodiscard]] virtual std::string may_lack_exact_id() const { return {}; }
  // Why this machine may have no machine id, or "".
  [[nodiscard]] virtual std::string may_lack_machine_id() const { return {}; }
  // Why this stage may lack a watcher that the platform has; "" where it may not.
  [[nodiscard]] virtual std::string may_lack_watcher() const { return {}; }
};

// Defined by each test program.
std::unique_ptr<Stage> make_stage();

// Initialises a plugin's entry and makes an instance of each of its interfaces. Aborts where it
// cannot: there is nothing to test.
Backend open_backend(const rollcall_entry& entry,
                     const std::vector<std::pair<std::string, std::string>>& settings = {});
// Destroys the instances.
void close_backend(const Backend& backend);

}  // namespace rollcall::conformance
