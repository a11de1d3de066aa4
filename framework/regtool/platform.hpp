// What the command asks of the system it runs on. One implementation per platform.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rollcall/result.hpp"

namespace rollcall::regtool::platform {

// The limits and ignored signals that this process was started with, for its children; opaque.
struct InheritedLimits {
  std::uint64_t descriptors_soft = 0;
  std::uint64_t descriptors_hard = 0;
  std::uint64_t core_soft = 0;
  std::uint64_t core_hard = 0;
  bool known = false;                 // the four above
  std::uint64_t ignored_signals = 0;  // signal n: bit n-1
  std::uint32_t error_mode = 0;       // Windows: GetErrorMode

  [[nodiscard]] bool ignores(int signal) const {
    return signal >= 1 && signal <= 64 && (ignored_signals >> (signal - 1) & 1U) != 0;
  }
};

// Makes the process fit to work: descriptors 0 to 2 are open (one that was closed reads as empty,
// and writing to it fails; Windows: what is written is lost), no core file is written, as many
// descriptors as the hard limit allows; a closed pipe, or a file at its size limit, is an error
// instead of a signal; no box asks anybody about a fault; sockets can be had. Called once, first.
// Returns what children get back.
InheritedLimits prepare_process();

// The words behind the program's name; `argc` and `argv` are main()'s. Of Windows in UTF-8.
// Errors: kInvalid (a word that is no text).
[[nodiscard]] Result<std::vector<std::string>> arguments(int argc, char** argv);

// From here on a core dump of this process holds no memory, whoever collects it: a limit of no core
// file is not asked where dumps go to a program. Linux: proc(5), /proc/PID/coredump_filter, which
// children started later inherit. Windows: WerSetFlags, which they do not.
void keep_memory_out_of_dumps();

// The value of a variable; nullopt where it is unset, or where the program was given privileges
// that its user does not have (secure_getenv).
[[nodiscard]] std::optional<std::string> environment(const char* name);

struct User {
  std::string name;
  std::uint64_t uid = 0;
  std::string home;
};
// Of Windows: a number made of the user's SID, for equality only.
[[nodiscard]] std::uint64_t effective_uid();
// Whether another user's home may be read. Errors: kRefused (only the superuser may), kUnsupported.
[[nodiscard]] Status may_read_other_homes();
// Errors: kNotFound, kIo.
[[nodiscard]] Result<User> user_by_name(const std::string& name);
// The home directory of who runs this: $HOME or %USERPROFILE% where that is an absolute path, else
// what the system knows. Errors: kNotFound, kIo.
[[nodiscard]] Result<std::string> home_directory();

enum class Stream : std::uint8_t { kInput, kOutput, kError };
[[nodiscard]] bool is_terminal(Stream stream);
// Whether the stream is a terminal that takes colours and movements of the cursor. POSIX: TERM says
// so; Windows: the console takes escape sequences (from here on, if it did not before).
[[nodiscard]] bool takes_escapes(Stream stream);
// Whether text may go out as UTF-8. POSIX: the locale says so (LC_ALL, else LC_CTYPE, else LANG);
// Windows: always, since a console is written to in UTF-16.
[[nodiscard]] bool is_utf8_locale();

// Writes it all; waits where the stream is full, also one that does not block. Errors: kIo,
// os_code; a closed pipe ends the process quietly, by the signal that it would have had (Windows:
// with exit code 5).
Status write_all(Stream stream, std::string_view bytes);

// A whole small file that only we, or the superuser, can have written: a regular file, not a
// symlink, owned by us or the superuser, and neither it nor its directory writable by others.
// Errors: kNotFound, kDenied (with the rule), kTooLarge, kIo.
[[nodiscard]] Result<std::string> read_trusted_file(const std::string& path, std::size_t most);

// A whole small file, or standard input where `path` is "-". Errors: kNotFound, kTooLarge, kIo.
[[nodiscard]] Result<std::string> read_small_file(const std::string& path, std::size_t most);

[[nodiscard]] Result<std::string> current_directory();
// The path from the top, as seen from the working directory; as it is where that cannot be told.
[[nodiscard]] std::string absolute_path(const std::string& path);
// What stands behind the last separator; the whole path where nothing does.
[[nodiscard]] std::string base_name(const std::string& path);
[[nodiscard]] std::int64_t current_pid();
// The file that this process runs. Errors: kIo.
[[nodiscard]] Result<std::string> own_executable();

// Being asked to end, for a command that runs until then: SIGINT, SIGTERM or SIGHUP; Windows:
// Ctrl-C, Ctrl-Break, or a console that closes. Costs nothing while nobody asks. A signal that was
// ignored stays so; SIGINT or SIGTERM once more ends the process. One at a time, and before any
// other thread is started.
class EndRequest {
 public:
  // Whether it also ends where standard output is a pipe or a socket that nobody reads any more.
  // Windows does not tell that before something is written.
  enum class Readers : std::uint8_t { kNoMatter, kNeeded };
  // `asked` is called in a thread of its own, at most once.
  explicit EndRequest(std::function<void()> asked, Readers readers = Readers::kNoMatter);
  // From then on `asked` is not called.
  ~EndRequest();
  EndRequest(const EndRequest&) = delete;
  EndRequest& operator=(const EndRequest&) = delete;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

// The platform's path of the system's configuration; empty: there is none.
[[nodiscard]] std::string system_config_path();

}  // namespace rollcall::regtool::platform
