// A home of one test's own, and processes that are restricted in one way.
#pragma once

#include <errno.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "registry/record_samples.hpp"
#include "rollcall/file_store.hpp"
#include "support/process.hpp"
#include "support/temp_dir.hpp"

namespace rollcall::testing {

// The system's clock, with a wall clock that a test moves.
class ShiftedClock final : public Clock {
 public:
  [[nodiscard]] std::int64_t monotonic_ns() const override { return real_->monotonic_ns(); }
  [[nodiscard]] std::int64_t unix_ns() const override { return real_->unix_ns() + shift_ns; }
  std::int64_t shift_ns = 0;

 private:
  std::shared_ptr<const Clock> real_ = system_clock();
};

inline constexpr std::int64_t kSecond = 1'000'000'000;
inline constexpr std::int64_t kMinute = 60 * kSecond;
inline constexpr std::int64_t kDay = 86'400 * kSecond;

inline std::string record_bytes(std::string_view id, std::string_view name = "worker") {
  Record record = sample_record(id);
  record.name = name;
  return *serialize_record(record);
}

class Home {
 public:
  using Tweak = std::function<void(FileStore::Options&)>;

  [[nodiscard]] std::shared_ptr<FileStore> open(const Tweak& tweak = {}) const {
    FileStore::Options options{.home = path().string(), .clock = clock};
    options.lock_timeout_ms = 30'000;  // a busy machine is no fault
    if (tweak) tweak(options);
    return FileStore::open(options).value();
  }
  [[nodiscard]] std::filesystem::path path() const { return dir_ / "home"; }
  [[nodiscard]] std::filesystem::path running() const { return path() / "running"; }
  [[nodiscard]] std::filesystem::path record(std::string_view id) const {
    return running() / (std::string(id) + ".json");
  }
  // Writes a file as a foreign program would.
  void plant(std::string_view name, std::string_view bytes) const {
    dir_.write("home/running/" + std::string(name), bytes);
    std::filesystem::permissions(path(), std::filesystem::perms::owner_all);
    std::filesystem::permissions(running(), std::filesystem::perms::owner_all);
  }
  // As plant(), by rename over whatever stands there.
  void plant_over(std::string_view name, std::string_view bytes) const {
    plant("foreign-writer", bytes);
    std::filesystem::rename(running() / "foreign-writer", running() / name);
  }
  [[nodiscard]] const TempDir& dir() const { return dir_; }

  std::shared_ptr<ShiftedClock> clock = std::make_shared<ShiftedClock>();

 private:
  TempDir dir_;
};

// The names in a directory, sorted; none where there is no directory.
inline std::vector<std::string> names_in(const std::filesystem::path& dir) {
  std::vector<std::string> names;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator(dir, error)) {
    names.push_back(entry.path().filename());
  }
  std::sort(names.begin(), names.end());
  return names;
}

inline mode_t mode_of(const std::filesystem::path& path) {
  struct stat info {};
  return ::lstat(path.c_str(), &info) == 0 ? info.st_mode & 07777 : 0;
}

inline std::vector<std::string> names_of(const std::vector<StoredRecord>& records) {
  std::vector<std::string> names;
  for (const auto& record : records) names.push_back(record.name);
  return names;
}

// Makes these system calls of the calling process fail from now on.
inline bool deny_system_calls(std::initializer_list<long> numbers, int error) {
  std::vector<sock_filter> filter;
  filter.push_back(BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)));
  for (const long number : numbers) {
    filter.push_back(BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(number), 0, 1));
    filter.push_back(BPF_STMT(BPF_RET | BPF_K,
                              SECCOMP_RET_ERRNO | (static_cast<std::uint32_t>(error) & 0xFFFFU)));
  }
  filter.push_back(BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW));
  sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// As on a file system that knows none of renameat2(2)'s flags (NFS).
inline bool deny_special_renames() {
  constexpr std::uint32_t kFlags = offsetof(seccomp_data, args) + 4 * sizeof(std::uint64_t);
  sock_filter filter[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_renameat2, 0, 3),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kFlags),  // the low half, on a little-endian machine
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, 0, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EINVAL),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  };
  sock_fprog program{static_cast<unsigned short>(std::size(filter)), filter};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

// Runs `body` in a child that permissions bind: as root it becomes the user nobody, whom `dir` is
// handed to. Returns what `body` returns; -1 where the child did not end well.
inline int run_as_ordinary_user(const TempDir& dir, const std::function<int()>& body) {
  constexpr uid_t kNobody = 65534;
  const bool root = ::geteuid() == 0;
  if (root && ::chown(dir.path().c_str(), kNobody, kNobody) != 0) return -1;
  Child child = Child::run([&] {
    if (root &&
        (::setgroups(0, nullptr) != 0 || ::setgid(kNobody) != 0 || ::setuid(kNobody) != 0)) {
      return 99;
    }
    return body();
  });
  const auto status = child.wait(60s);
  return status && WIFEXITED(*status) ? WEXITSTATUS(*status) : -1;
}

// In a child: says why and counts one up.
#define CHILD_CHECK(failures, condition)                                               \
  do {                                                                                 \
    if (!(condition)) {                                                                \
      ::fprintf(stderr, "%s:%d: does not hold: %s\n", __FILE__, __LINE__, #condition); \
      ++(failures);                                                                    \
    }                                                                                  \
  } while (false)

}  // namespace rollcall::testing
