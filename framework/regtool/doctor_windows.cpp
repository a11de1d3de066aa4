#include <fmt/format.h>

#include <windows.h>
#include <cstring>
#include <utility>

#include "core/handle_windows.hpp"
#include "core/native_windows.hpp"
#include "core/paths.hpp"
#include "core/security_windows.hpp"
#include "core/stop_event_windows.hpp"
#include "core/text_windows.hpp"
#include "regtool/doctor.hpp"

namespace rollcall::regtool {
namespace {

template <class Function>
Function system_function(const char* name) {
  const HMODULE module = ::GetModuleHandleW(L"ntdll.dll");
  if (module == nullptr) return nullptr;
  return reinterpret_cast<Function>(reinterpret_cast<void*>(::GetProcAddress(module, name)));
}

// GetVersionEx tells a program without a manifest what it is thought to expect. Source:
// RtlGetVersion (learn.microsoft.com, wdm.h).
DoctorLine version_line() {
  OSVERSIONINFOW info{};
  info.dwOSVersionInfoSize = sizeof info;
  const auto get_version = system_function<LONG(WINAPI*)(OSVERSIONINFOW*)>("RtlGetVersion");
  if (get_version == nullptr || get_version(&info) != 0) {
    return {"system", Health::kLimited, "the version of Windows could not be read"};
  }
  const std::string version =
      fmt::format("Windows {}.{}.{}", info.dwMajorVersion, info.dwMinorVersion, info.dwBuildNumber);
  if (const auto wine = system_function<const char*(CDECL*)()>("wine_get_version")) {
    return {"system", Health::kLimited,
            fmt::format("{}, by Wine {}: not every answer is that of Windows", version, wine())};
  }
  if (info.dwMajorVersion < 10) {
    return {"system", Health::kLimited, version + ": older than Windows 10, where it is tested"};
  }
  return {"system", Health::kGood, version};
}

DoctorLine stop_event_line() {
  const auto event = core::make_stop_event();
  if (!event) {
    return {"stop event", Health::kBad,
            event.error().message + "; a session that needs one cannot be asked to stop"};
  }
  return {"stop event", Health::kGood, "to be had: a session is asked to stop by name"};
}

// What --detach starts leaves our job where the job lets it.
DoctorLine job_line() {
  BOOL in_job = FALSE;
  if (::IsProcessInJob(::GetCurrentProcess(), nullptr, &in_job) == 0) {
    return {"job", Health::kLimited, core::error_text(::GetLastError())};
  }
  if (in_job == FALSE) return {"job", Health::kGood, "none: a detached command outlives this one"};
  JOBOBJECT_EXTENDED_LIMIT_INFORMATION limits{};
  if (::QueryInformationJobObject(nullptr, JobObjectExtendedLimitInformation, &limits,
                                  sizeof limits, nullptr) == 0) {
    return {"job", Health::kLimited, core::error_text(::GetLastError())};
  }
  const DWORD flags = limits.BasicLimitInformation.LimitFlags;
  const bool ends = (flags & JOB_OBJECT_LIMIT_KILL_ON_JOB_CLOSE) != 0;
  const bool may_leave =
      (flags & (JOB_OBJECT_LIMIT_BREAKAWAY_OK | JOB_OBJECT_LIMIT_SILENT_BREAKAWAY_OK)) != 0;
  if (ends && !may_leave) {
    return {"job", Health::kLimited,
            "this process is in one that nothing may leave: a detached command ends with it"};
  }
  return {"job", Health::kGood, "a detached command outlives this one"};
}

DoctorLine unreadable_line(const std::string& topic, const std::string& path, DWORD code) {
  if (code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND) {
    return {topic, Health::kGood, path + ": not there yet"};
  }
  return {topic, Health::kBad, fmt::format("{}: {}", path, core::error_text(code))};
}

DoctorLine access_line(HANDLE directory, const std::string& path, const std::string& topic,
                       std::uint64_t owner) {
  const auto access = core::read_access(directory);
  if (!access) return {topic, Health::kBad, fmt::format("{}: {}", path, access.error().message)};
  if (access->owned_by == core::OwnedBy::kOther && access->owner.number() != owner) {
    return refused_line(topic, path,
                        fmt::format("it belongs to {}", core::account_name(access->owner)));
  }
  if (access->others.empty()) {
    return {topic, Health::kGood, path + ": its user's alone"};
  }
  return {topic, Health::kLimited,
          fmt::format("{}: {} may use it too; the next write makes it private", path,
                      access->others.front().who)};
}

DoctorLine directory_line(const std::string& path, const std::string& topic, std::uint64_t owner,
                          bool is_home) {
  const auto wide = core::native::long_path(path);
  if (!wide) return {topic, Health::kBad, wide.error().message};
  const core::Handle directory(
      ::CreateFileW(wide->c_str(), READ_CONTROL | FILE_READ_ATTRIBUTES,
                    FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
                    FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OPEN_REPARSE_POINT, nullptr));
  if (!directory.valid()) return unreadable_line(topic, path, ::GetLastError());
  FILE_ATTRIBUTE_TAG_INFO info{};
  if (::GetFileInformationByHandleEx(directory.get(), FileAttributeTagInfo, &info, sizeof info) ==
      0) {
    return unreadable_line(topic, path, ::GetLastError());
  }
  if ((info.FileAttributes & FILE_ATTRIBUTE_REPARSE_POINT) != 0) {
    return refused_line(topic, path,
                        "it is a symbolic link or another reparse point; put a directory in its "
                        "place");
  }
  if ((info.FileAttributes & FILE_ATTRIBUTE_DIRECTORY) == 0) {
    return {topic, Health::kBad, path + ": not a directory"};
  }
  const std::string foreign = is_home ? foreign_entry(path, owner) : std::string();
  if (!foreign.empty()) {
    return refused_line(
        topic, path + " as a home",
        fmt::format("it is no home of Rollcall and not empty (it holds {})", foreign));
  }
  return access_line(directory.get(), path, topic, owner);
}

}  // namespace

std::vector<DoctorLine> platform_checks(const std::string& home, std::uint64_t owner) {
  return {version_line(), stop_event_line(), job_line(), directory_line(home, "home", owner, true),
          directory_line(core::join_path(home, "running"), "records", owner, false)};
}

}  // namespace rollcall::regtool
