#include "core/spawn_windows.hpp"

#include <fmt/format.h>

#include <cstddef>
#include <utility>

#include "core/text_windows.hpp"

namespace rollcall::core {
namespace {

tl::unexpected<Error> refused(const std::string& program, DWORD code) {
  const bool missing = code == ERROR_FILE_NOT_FOUND || code == ERROR_PATH_NOT_FOUND;
  return fail(missing ? ErrorCode::kNotFound : ErrorCode::kIo,
              fmt::format("cannot start {}: {}", program, error_text(code)),
              static_cast<std::int64_t>(code));
}

// UpdateProcThreadAttribute keeps a pointer to the list: both live here.
class HandleList {
 public:
  explicit HandleList(std::vector<HANDLE> handles) : handles_(std::move(handles)) {}
  HandleList(const HandleList&) = delete;
  HandleList& operator=(const HandleList&) = delete;
  ~HandleList() {
    if (made_) ::DeleteProcThreadAttributeList(get());
  }

  // False with GetLastError(). Nothing is to be inherited where there is no handle.
  bool make() {
    SIZE_T size = 0;
    (void)::InitializeProcThreadAttributeList(nullptr, 1, 0, &size);
    bytes_.resize(size);
    made_ = ::InitializeProcThreadAttributeList(get(), 1, 0, &size) != 0;
    return made_ &&
           ::UpdateProcThreadAttribute(get(), 0, PROC_THREAD_ATTRIBUTE_HANDLE_LIST, handles_.data(),
                                       handles_.size() * sizeof(HANDLE), nullptr, nullptr) != 0;
  }
  [[nodiscard]] bool empty() const { return handles_.empty(); }
  [[nodiscard]] LPPROC_THREAD_ATTRIBUTE_LIST get() {
    return reinterpret_cast<LPPROC_THREAD_ATTRIBUTE_LIST>(bytes_.data());
  }

 private:
  std::vector<HANDLE> handles_;
  std::vector<std::byte> bytes_;
  bool made_ = false;
};

}  // namespace

Result<Spawned> spawn(const Spawn& what) {
  const auto program = widen(what.program);
  if (!program) return tl::unexpected(program.error());
  auto line = widen(what.command_line);
  if (!line) return tl::unexpected(line.error());
  std::array<Handle, 3> streams;
  std::vector<HANDLE> inherited = what.also;
  for (std::size_t i = 0; i < streams.size(); ++i) {
    HANDLE copy = nullptr;
    if (what.streams[i] == nullptr || what.streams[i] == INVALID_HANDLE_VALUE) continue;
    if (::DuplicateHandle(::GetCurrentProcess(), what.streams[i], ::GetCurrentProcess(), &copy, 0,
                          TRUE, DUPLICATE_SAME_ACCESS) == 0) {
      return refused(what.program, ::GetLastError());
    }
    streams[i] = Handle(copy);
    inherited.push_back(copy);
  }
  HandleList list(std::move(inherited));
  if (!list.empty() && !list.make()) return refused(what.program, ::GetLastError());
  STARTUPINFOEXW start{};
  start.StartupInfo.cb = sizeof start;
  start.StartupInfo.dwFlags = STARTF_USESTDHANDLES;
  start.StartupInfo.hStdInput = streams[0].get();
  start.StartupInfo.hStdOutput = streams[1].get();
  start.StartupInfo.hStdError = streams[2].get();
  if (!list.empty()) start.lpAttributeList = list.get();
  PROCESS_INFORMATION made{};
  if (::CreateProcessW(program->c_str(), line->data(), nullptr, nullptr,
                       list.empty() ? FALSE : TRUE, what.flags | EXTENDED_STARTUPINFO_PRESENT,
                       nullptr, nullptr, &start.StartupInfo, &made) == 0) {
    return refused(what.program, ::GetLastError());
  }
  return Spawned{Handle(made.hProcess), Handle(made.hThread), made.dwProcessId};
}

}  // namespace rollcall::core
