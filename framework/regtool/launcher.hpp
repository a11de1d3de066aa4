// Runs one command as a child that waits at a gate until its session is recorded, and then attends
// it: signals, the terminal, stopping and going on, its end.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "regtool/failure.hpp"
#include "regtool/platform.hpp"
#include "rollcall/result.hpp"

namespace rollcall::regtool::launcher {

// Holds back the signals that are passed on to the command. Called before any thread is started,
// so that every thread has them held. What we were started with as ignored stays ignored. Windows:
// the console's events (Ctrl-C, Ctrl-Break, closing, logging off, shutting down).
void hold_signals(const platform::InheritedLimits& inherited);

// The file that the system would run for `command`, by PATH where it has no slash. Failures:
// no_command (127), not_runnable (126). Windows: never the current directory's, unless PATH names
// it; .com, .exe, .bat and .cmd are tried behind a name without an extension of those.
[[nodiscard]] Outcome<std::string> find_program(const std::string& command);

[[nodiscard]] Status change_directory(const std::string& path);

struct Plan {
  std::string program;               // find_program()'s
  std::vector<std::string> command;  // argv
  std::string session_id;            // put into the environment, if the session was recorded;
                                     // empty: the command is no session, its environment is ours
  platform::InheritedLimits limits;
};

// Whether become_command() can do what it says here: not on Windows.
[[nodiscard]] bool can_become_command();

// This process becomes the command of the plan, with the limits and signals that it was started
// with; its session id is not used. Returns where that failed: no_command (127), not_runnable
// (126), capability_unavailable (125). Threads: any others end.
[[nodiscard]] tl::unexpected<Failure> become_command(const Plan& plan);

// How the command ended.
struct End {
  int exit_code = 0;  // 128+n where signal n ended it; Windows: all 32 bits of its own
  // SIGINT or SIGQUIT ended it, by a key, or sent to us and passed on: we are to die of it as well,
  // so that a shell above us knows. 0: not so.
  int signal = 0;
  // The key went to the command's group alone, which had the terminal.
  bool tell_group = false;
};

// Sends the signal to our process group where that is to be told, and dies of it. Returns where
// there is nothing to die of, or the kernel does not let us (pid 1 of a container).
void die_of(const End& end);

// The child has a process group of its own, default signal dispositions and mask (but what we were
// started with as ignored stays so, but SIGTTIN and SIGTTOU where our group holds the terminal),
// the limits that we were started with, none of our descriptors, and dies with the thread that
// called start(). Threads: that one only. Windows: it is created suspended, in a console group of
// its own, with our three standard streams and no other handle, in a job that ends with this
// process: what it started and did not leave to itself ends too if we are killed, and lives on if
// it ended before us.
class GatedChild {
 public:
  // Failures: io (5); Windows, where a file is looked at as soon as the process is created, also
  // those of release().
  [[nodiscard]] static Outcome<std::unique_ptr<GatedChild>> start(const Plan& plan);
  // Ends the child if it still waits at the gate.
  ~GatedChild();
  GatedChild(const GatedChild&) = delete;
  GatedChild& operator=(const GatedChild&) = delete;

  [[nodiscard]] std::int64_t pid() const;
  // Whether what the command leaves behind stays with this process, which stays too while somebody
  // stops the whole tree: rollcall/tree_hold.hpp. Linux only.
  [[nodiscard]] bool can_be_held() const;
  // Opens the gate and waits until the command runs. `recorded`: it gets ROLLCALL_SESSION_ID, else
  // it has none. Failures: no_command (127), not_runnable (126), run_failed (125).
  [[nodiscard]] Outcome<void> release(bool recorded);
  // Until it has ended.
  [[nodiscard]] End attend();

 private:
  struct State;
  explicit GatedChild(std::unique_ptr<State> state);
  std::unique_ptr<State> state_;
};

// As if somebody had asked this process, which attends a command, to stop: by SIGTERM; on Windows
// by the event of rollcall/windows_stop.hpp. Threads: any.
void ask_ourselves_to_stop();

// What the detached half tells the one that waits for it.
struct Readiness {
  bool recorded = false;
  std::int64_t wrapper_pid = 0;
  std::int64_t command_pid = 0;
  std::string session_id;
  std::string warning;             // empty: none
  std::optional<Failure> failure;  // it could not be run
};

// As it travels through a pipe; nullopt: that is no whole one. Pure.
[[nodiscard]] std::string packed(const Readiness& readiness);
[[nodiscard]] std::optional<Readiness> unpacked(const std::string& bytes);

// Two processes come out of detach(): the caller, and one in a session of its own without a
// terminal, its input empty and its output in `log_file` or nowhere. Windows: the other begins anew
// at main(), with the same words, and comes out of its own detach().
class Detachment {
 public:
  // Errors: kIo (the log file, a fork). Threads: no other may run.
  [[nodiscard]] static Result<Detachment> detach(const std::optional<std::string>& log_file);
  Detachment(Detachment&& other) noexcept;
  ~Detachment();

  [[nodiscard]] bool is_caller() const { return is_caller_; }
  // The caller: waits for the other's word. Errors: kIo (it ended without one).
  [[nodiscard]] Result<Readiness> await();
  // The other: says it, once.
  void tell(const Readiness& readiness);

 private:
  Detachment(bool is_caller, int fd) : is_caller_(is_caller), fd_(fd) {}
  bool is_caller_;
  int fd_;  // our end of the pipe; Windows: the 32 significant bits of its handle
};

}  // namespace rollcall::regtool::launcher
