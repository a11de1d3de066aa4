// One mounted procfs, read through a descriptor of its root that is held open.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "decode.hpp"
#include "system.hpp"

namespace rollcall::linux_backend {

// "PID/NAME" without allocation. `name` is short: the whole must fit 48 bytes.
class ProcPath {
 public:
  ProcPath(std::int64_t pid, std::string_view name);
  [[nodiscard]] const char* c_str() const { return text_; }

 private:
  char text_[48];
};

// Threads: all methods are safe to call concurrently.
class Procfs {
 public:
  // Does not fail: where the root cannot be opened, each reading says so and tries again.
  Procfs(const System& system, std::string root);
  Procfs(const Procfs&) = delete;
  Procfs& operator=(const Procfs&) = delete;
  ~Procfs();

  // The root's descriptor, for *at calls. -1 and errno where it cannot be opened.
  [[nodiscard]] int root() const;
  [[nodiscard]] const std::string& path() const { return path_; }

  // Whether the link `self` names this very process. Where it does not, the mount belongs to
  // another pid namespace (or is no procfs), and nothing read there says anything of a pid of ours.
  [[nodiscard]] bool is_ours() const;

  // /proc/PID/stat, whole, into `buffer`, in one read(2) where the kernel gives it in one, and
  // decoded: nullopt where it is cut or malformed. Its views point into `buffer`. 0, or an errno.
  [[nodiscard]] int read_stat(std::int64_t pid, char* buffer, std::size_t size,
                              std::optional<Stat>& stat) const;

  // A file below the root. 0, or errno; EFBIG: more than `limit` bytes. `whole`, of a file that is
  // a process's memory (environ): whether all was read, nothing being no proof. Such a file belongs
  // to the program that ran when it was opened, and is at its end once that executes another
  // (environ_read of the kernel's fs/proc/base.c); then not even its first byte is read again.
  [[nodiscard]] int read_file(const char* name, std::size_t limit, std::string& out,
                              bool* whole = nullptr) const;

  // The target of a link below the root. The number of bytes; -1 and errno.
  [[nodiscard]] ssize_t read_link(const char* name, char* buffer, std::size_t size) const;

  // Calls `visit` with each name in a directory below the root ("." for the root) until it returns
  // false, handing it the directory's descriptor too. 0, or errno.
  using Visitor = std::function<bool(int directory, std::string_view name)>;
  [[nodiscard]] int each_entry(const char* name, const Visitor& visit) const;

 private:
  const System& system_;
  std::string path_;
  mutable std::atomic<int> root_{-1};
};

// Reads a whole file that is open. 0, or errno; EFBIG: more than `limit` bytes.
[[nodiscard]] int read_all(const System& system, int fd, std::size_t limit, std::string& out);

}  // namespace rollcall::linux_backend
