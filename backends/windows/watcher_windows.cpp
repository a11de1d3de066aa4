#include "watcher_windows.hpp"

#include <windows.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstring>
#include <utility>

#include "backend/outcomes.hpp"
#include "decode.hpp"
#include "reading.hpp"
#include "system_windows.hpp"

namespace rollcall::windows_backend {
namespace {

using backend::name;
using backend::settle;

constexpr ULONG_PTR kWakeKey = 0;
constexpr std::size_t kBufferBytes = 64 * 1024;  // more is refused on a network drive
constexpr DWORD kChanges = FILE_NOTIFY_CHANGE_FILE_NAME | FILE_NOTIFY_CHANGE_DIR_NAME |
                           FILE_NOTIFY_CHANGE_ATTRIBUTES | FILE_NOTIFY_CHANGE_SIZE |
                           FILE_NOTIFY_CHANGE_LAST_WRITE | FILE_NOTIFY_CHANGE_CREATION |
                           FILE_NOTIFY_CHANGE_SECURITY;

std::uint32_t outcome_of(DWORD error) {
  switch (error) {
    case ERROR_NO_SYSTEM_RESOURCES:
    case ERROR_NOT_ENOUGH_MEMORY:
    case ERROR_OUTOFMEMORY:
    case ERROR_TOO_MANY_OPEN_FILES:
      return ROLLCALL_WATCH_LIMIT;
    default:
      return ROLLCALL_WATCH_UNSUPPORTED;
  }
}

std::wstring widen(std::string_view text) {
  const int size = static_cast<int>(text.size());
  const int units =
      ::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), size, nullptr, 0);
  std::wstring wide(static_cast<std::size_t>(std::max(units, 0)), L'\0');
  (void)::MultiByteToWideChar(CP_UTF8, MB_ERR_INVALID_CHARS, text.data(), size, wide.data(), units);
  return wide;
}

// With the prefix that lifts the limit of 260 units.
std::wstring long_path(std::string_view path) {
  std::wstring wide = widen(path);
  std::replace(wide.begin(), wide.end(), L'/', L'\\');
  return wide.size() > 2 && wide[1] == L':' ? L"\\\\?\\" + wide : wide;
}

std::string narrow(const wchar_t* text, std::size_t units) {
  const int size = static_cast<int>(units);
  const int bytes = ::WideCharToMultiByte(CP_UTF8, 0, text, size, nullptr, 0, nullptr, nullptr);
  std::string narrow(static_cast<std::size_t>(std::max(bytes, 0)), '\0');
  (void)::WideCharToMultiByte(CP_UTF8, 0, text, size, narrow.data(), bytes, nullptr, nullptr);
  return narrow;
}

}  // namespace

struct NativeWatcher::Process {
  Process() : pin(windows_system()) {}
  Process(const Process&) = delete;
  Process& operator=(const Process&) = delete;
  ~Process() {
    // Returns once the callback has: it uses this very object.
    if (registered != nullptr) (void)::UnregisterWaitEx(registered, INVALID_HANDLE_VALUE);
  }
  static void CALLBACK ended(void* context, BOOLEAN) {
    const auto& self = *static_cast<const Process*>(context);
    (void)::PostQueuedCompletionStatus(self.port, 0, self.key, nullptr);
  }

  std::uint64_t id = 0;
  ULONG_PTR key = 0;
  HANDLE port = nullptr;
  Pin pin;
  HANDLE registered = nullptr;
};

struct NativeWatcher::Directory {
  Directory() = default;
  Directory(const Directory&) = delete;
  Directory& operator=(const Directory&) = delete;
  ~Directory() {
    if (handle != INVALID_HANDLE_VALUE) (void)::CloseHandle(handle);
  }
  // 0, or why no changes can be had. On success a completion follows, sooner or later.
  DWORD read() {
    overlapped = {};
    const BOOL begun = ::ReadDirectoryChangesW(handle, buffer.data(), kBufferBytes, FALSE, kChanges,
                                               nullptr, &overlapped, nullptr);
    is_reading = begun != 0;
    return is_reading ? 0 : ::GetLastError();
  }

  std::uint64_t id = 0;
  HANDLE handle = INVALID_HANDLE_VALUE;
  bool is_closing = false;  // nobody wants to know of it; its completion is still to come
  bool is_reading = false;
  OVERLAPPED overlapped{};
  alignas(DWORD) std::array<std::byte, kBufferBytes> buffer{};
};

NativeWatcher::NativeWatcher()
    : port_(::CreateIoCompletionPort(INVALID_HANDLE_VALUE, nullptr, 0, 1)) {
  if (port_ == nullptr) {
    const DWORD error = ::GetLastError();
    throw plugin::Error(ROLLCALL_E_IO, "cannot make a watcher: " + error_text(error), error);
  }
}

NativeWatcher::~NativeWatcher() noexcept {
  processes_.clear();
  while (!keys_.empty()) drop_directory(keys_.begin()->first);
  // The system writes into the buffers until each has said that it is done.
  constexpr DWORD kPatienceMs = 5000;
  while (!directories_.empty() && take_one(kPatienceMs)) {
  }
  for (auto& [key, directory] : directories_) (void)directory.release();
  (void)::CloseHandle(port_);
}

plugin::Status NativeWatcher::add_process(std::uint64_t id, std::int64_t pid,
                                          const plugin::Judge& judge, rollcall_watch_outcome& out,
                                          const plugin::Call& call) {
  if (auto status = call.check(); !status.ok()) return status;
  if (keys_.count(id) > 0) return {ROLLCALL_E_EXISTS, "this id is taken already"};
  auto process = std::make_unique<Process>();
  rollcall_observation seen = {.pid = pid, .presence = ROLLCALL_PRESENCE_ABSENT};
  if (backend::is_possible(pid)) {
    open_pin(windows_system(), pid, kToObserve, process->pin);
    observe_pinned(windows_system(), process->pin,
                   {.pid = pid, .wants = judge.wants() | ROLLCALL_WANT_START_TOKEN}, seen);
  }
  if (backend::settle_unwatched(judge(seen), seen, out)) return {};
  process->id = id;
  process->key = ++last_key_;
  process->port = port_;
  if (::RegisterWaitForSingleObject(&process->registered, process->pin.handle.get(),
                                    &Process::ended, process.get(), INFINITE,
                                    WT_EXECUTEONLYONCE) == 0) {
    const DWORD error = ::GetLastError();
    process->registered = nullptr;
    settle(out, outcome_of(error), name(pid) + " cannot be watched: " + error_text(error), error);
    return {};
  }
  out.outcome = ROLLCALL_WATCH_WATCHED;
  keys_[id] = process->key;
  processes_[process->key] = std::move(process);
  return {};
}

plugin::Status NativeWatcher::add_directory(std::uint64_t id, std::string_view path,
                                            rollcall_watch_outcome& out, const plugin::Call& call) {
  if (auto status = call.check(); !status.ok()) return status;
  const std::wstring wide = long_path(path);
  if (wide.empty()) return {ROLLCALL_E_INVALID, "a directory is named by an absolute path"};
  auto directory = std::make_unique<Directory>();
  directory->id = id;
  directory->handle = ::CreateFileW(
      wide.c_str(), FILE_LIST_DIRECTORY | SYNCHRONIZE,
      FILE_SHARE_READ | FILE_SHARE_WRITE | FILE_SHARE_DELETE, nullptr, OPEN_EXISTING,
      FILE_FLAG_BACKUP_SEMANTICS | FILE_FLAG_OVERLAPPED | FILE_FLAG_OPEN_REPARSE_POINT, nullptr);
  DWORD error = directory->handle == INVALID_HANDLE_VALUE ? ::GetLastError() : 0;
  const std::uintptr_t key = last_key_ + 1;
  if (error == 0 && ::CreateIoCompletionPort(directory->handle, port_, key, 0) == nullptr) {
    error = ::GetLastError();
  }
  if (error == 0) error = directory->read();
  // The earlier one goes last: nothing is missed between the two.
  if (error == 0 || error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) {
    drop_directory(id);
  }
  if (error == 0) {
    out.outcome = ROLLCALL_WATCH_WATCHED;
    last_key_ = key;
    keys_[id] = key;
    directories_[key] = std::move(directory);
  } else if (error == ERROR_FILE_NOT_FOUND || error == ERROR_PATH_NOT_FOUND) {
    settle(out, ROLLCALL_WATCH_GONE, "there is no such directory", error);
  } else {
    settle(out, outcome_of(error), "it cannot be watched: " + error_text(error), error);
  }
  return {};
}

plugin::Status NativeWatcher::remove(std::uint64_t id) {
  forget_pending(id);
  const auto found = keys_.find(id);
  if (found == keys_.end()) return {ROLLCALL_E_NOT_FOUND, "nothing of this id is watched"};
  if (processes_.erase(found->second) > 0) {
    keys_.erase(found);
  } else {
    drop_directory(id);
  }
  return {};
}

void NativeWatcher::forget_pending(std::uint64_t id) {
  pending_.erase(std::remove_if(pending_.begin(), pending_.end(),
                                [id](const Happening& one) {
                                  return one.id == id && one.kind != ROLLCALL_WATCH_EVENT_OVERFLOW;
                                }),
                 pending_.end());
}

void NativeWatcher::drop_directory(std::uint64_t id) {
  const auto found = keys_.find(id);
  if (found == keys_.end()) return;
  const std::uintptr_t key = found->second;
  keys_.erase(found);
  const auto directory = directories_.find(key);
  if (directory == directories_.end()) return;
  directory->second->is_closing = true;
  if (directory->second->is_reading) {
    (void)::CancelIoEx(directory->second->handle, &directory->second->overlapped);
  } else {
    directories_.erase(directory);
  }
}

// One completion, whatever it is. False: none came in time.
bool NativeWatcher::take_one(std::uint32_t timeout_ms) {
  DWORD bytes = 0;
  ULONG_PTR key = 0;
  OVERLAPPED* overlapped = nullptr;
  const BOOL good = ::GetQueuedCompletionStatus(port_, &bytes, &key, &overlapped, timeout_ms);
  const DWORD error = good != 0 ? 0 : ::GetLastError();
  if (good == 0 && overlapped == nullptr) return false;
  if (key == kWakeKey) return true;
  if (const auto process = processes_.find(key); process != processes_.end()) {
    const std::uint64_t id = process->second->id;
    keys_.erase(id);
    processes_.erase(process);
    pending_.push_back({id, ROLLCALL_WATCH_EVENT_ENDED, {}});
  } else if (const auto directory = directories_.find(key); directory != directories_.end()) {
    directory->second->is_reading = false;
    if (directory->second->is_closing) {
      directories_.erase(directory);
    } else {
      take_directory(*directory->second, bytes, error);
    }
  }
  return true;
}

void NativeWatcher::take_directory(Directory& directory, std::uint32_t bytes, Code error) {
  if (error == 0 && bytes == 0) {
    pending_.push_back({0, ROLLCALL_WATCH_EVENT_OVERFLOW, {}});
  }
  constexpr std::size_t kHead = offsetof(FILE_NOTIFY_INFORMATION, FileName);
  for (std::size_t at = 0; error == 0 && at + kHead <= bytes;) {
    FILE_NOTIFY_INFORMATION info{};
    std::memcpy(&info, directory.buffer.data() + at, kHead);
    if (at + kHead + info.FileNameLength > bytes) break;
    std::wstring wide(info.FileNameLength / sizeof(wchar_t), L'\0');
    std::memcpy(wide.data(), directory.buffer.data() + at + kHead, wide.size() * sizeof(wchar_t));
    std::string changed = narrow(wide.data(), wide.size());
    const bool same =
        !pending_.empty() && pending_.back().id == directory.id && pending_.back().name == changed;
    if (!same) {
      pending_.push_back({directory.id, ROLLCALL_WATCH_EVENT_CHANGED, std::move(changed)});
    }
    if (info.NextEntryOffset == 0) break;
    at += info.NextEntryOffset;
  }
  if (error == 0) error = directory.read();
  if (error == 0) return;
  // Removed, or its volume is gone.
  const std::uint64_t id = directory.id;
  drop_directory(id);
  pending_.push_back({id, ROLLCALL_WATCH_EVENT_LOST, {}});
}

plugin::Status NativeWatcher::wait(plugin::WatchBatch& batch, const plugin::Call& call) {
  if (call.cancelled()) return {ROLLCALL_E_CANCELLED, "the call was cancelled"};
  constexpr int kMost = 64;
  if (pending_.empty() &&
      take_one(static_cast<std::uint32_t>(backend::wait_ms(call, INFINITE - 1)))) {
    for (int i = 1; i < kMost && take_one(0); ++i) {
    }
  }
  while (!pending_.empty() && !batch.full()) {
    const Happening& one = pending_.front();
    batch.add(one.id, one.kind, one.name);
    pending_.pop_front();
  }
  return {};
}

void NativeWatcher::wake() { (void)::PostQueuedCompletionStatus(port_, 0, kWakeKey, nullptr); }

}  // namespace rollcall::windows_backend
