#include "core/own_socket.hpp"

#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <climits>
#include <system_error>

#include "core/text.hpp"

namespace rollcall::core {
namespace {

constexpr int kMaxLinks = 40;  // path_resolution(7)

tl::unexpected<Error> refuse(const std::string& path, std::string_view why) {
  return fail(ErrorCode::kRefused, fmt::format("{} {}", text::for_terminal(path), why));
}

tl::unexpected<Error> failed(const std::string& path, int code) {
  const bool missing = code == ENOENT || code == ENOTDIR;
  return fail(missing ? ErrorCode::kNotFound : ErrorCode::kIo,
              fmt::format("cannot look at {}: {}", text::for_terminal(path),
                          std::generic_category().message(code)),
              code);
}

bool is_trusted(const struct stat& info) { return info.st_uid == 0 || info.st_uid == ::geteuid(); }

Status check_directory(const std::string& path, const struct stat& info) {
  if (!S_ISDIR(info.st_mode)) return refuse(path, "is no directory");
  if (!is_trusted(info)) {
    return refuse(
        path, fmt::format("belongs to uid {}, who could put another socket below it", info.st_uid));
  }
  const bool shared = (info.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (!shared || (info.st_mode & S_ISVTX) != 0) return {};
  return refuse(path, fmt::format("is writable by others (mode {:04o}), who could put another "
                                  "socket below it",
                                  static_cast<unsigned>(info.st_mode & 07777U)));
}

Status check_socket(const std::string& path, const struct stat& info) {
  if (S_ISLNK(info.st_mode)) return refuse(path, "is a symbolic link and no socket");
  if (!S_ISSOCK(info.st_mode)) return refuse(path, "is no socket");
  if (info.st_uid == ::geteuid()) return {};
  return refuse(path, fmt::format("is a socket of uid {} and not of the effective user (uid {})",
                                  info.st_uid, ::geteuid()));
}

Result<std::string> target_of(const std::string& path, const struct stat& info) {
  if (!is_trusted(info)) {
    return refuse(path, fmt::format("is a link of uid {}, who could make it another", info.st_uid));
  }
  std::array<char, PATH_MAX> target{};
  const ssize_t size = ::readlink(path.c_str(), target.data(), target.size());
  if (size < 0) return failed(path, errno);
  if (size == 0 || static_cast<std::size_t>(size) == target.size()) {
    return refuse(path, "is a link to a path that is empty or too long");
  }
  return std::string(target.data(), static_cast<std::size_t>(size));
}

}  // namespace

Status check_own_socket(const std::string& path) {
  if (path.empty() || path.front() != '/') return refuse(path, "is no absolute path of a socket");
  std::string above;        // the directory, proven; empty: the root
  std::string left = path;  // what follows it
  struct stat info {};
  if (::lstat("/", &info) != 0) return failed("/", errno);
  if (auto good = check_directory("/", info); !good) return good;
  for (int links = 0; links <= kMaxLinks;) {
    const std::size_t begin = left.find_first_not_of('/');
    if (begin == std::string::npos) return refuse(path, "is a directory and no socket");
    const std::size_t end = left.find('/', begin);
    const std::string here = above + "/" + left.substr(begin, end - begin);
    if (::lstat(here.c_str(), &info) != 0) return failed(here, errno);
    if (end == std::string::npos) return check_socket(here, info);
    left.erase(0, end);
    if (S_ISLNK(info.st_mode)) {
      const auto target = target_of(here, info);
      if (!target) return tl::unexpected(target.error());
      left.insert(0, *target);
      if (target->front() == '/') above.clear();
      ++links;
    } else {
      if (auto good = check_directory(here, info); !good) return good;
      above = here;
    }
  }
  return refuse(path, "leads through too many links");
}

}  // namespace rollcall::core
