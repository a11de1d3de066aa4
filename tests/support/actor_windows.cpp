// A command for tests on Windows, where there is no shell to write one in: does the one thing that
// its first word says. Its words and its output are UTF-8, its output is written as it is.
#include <windows.h>
// After windows.h:
#include <shellapi.h>

#include <atomic>
#include <cstdlib>
#include <string>
#include <vector>

#include "core/command_line.hpp"
#include "core/handle_windows.hpp"
#include "core/spawn_windows.hpp"
#include "core/text_windows.hpp"
#include "rollcall/stop_listener.hpp"

namespace {

using Words = std::vector<std::string>;
namespace core = rollcall::core;

constexpr DWORD kLongMs = 600'000;  // nobody waits for that long

void put(HANDLE file, std::string_view bytes) {
  DWORD done = 0;
  ::WriteFile(file, bytes.data(), static_cast<DWORD>(bytes.size()), &done, nullptr);
}
void say(const std::string& text) { put(::GetStdHandle(STD_OUTPUT_HANDLE), text); }

int fault(const std::string& what) {
  put(::GetStdHandle(STD_ERROR_HANDLE),
      "actor: " + what + ": " + core::error_text(::GetLastError()) + "\n");
  return 99;
}

std::wstring wide(const std::string& text) { return core::widen(text).value_or(L""); }

// exit CODE
int exit_with(const Words& words) {
  ::ExitProcess(static_cast<UINT>(std::strtoul(words.at(1).c_str(), nullptr, 0)));
}

// args WORD...: each between brackets, on a line.
int say_words(const Words& words) {
  std::string text;
  for (std::size_t i = 1; i < words.size(); ++i) text += "[" + words[i] + "]\n";
  say(text);
  return 0;
}

// cat: input to output, and a word to the error output.
int copy(const Words&) {
  char block[4096];
  DWORD got = 0;
  while (::ReadFile(::GetStdHandle(STD_INPUT_HANDLE), block, sizeof block, &got, nullptr) != 0 &&
         got > 0) {
    put(::GetStdHandle(STD_OUTPUT_HANDLE), {block, got});
  }
  put(::GetStdHandle(STD_ERROR_HANDLE), "to-err\n");
  return 0;
}

// env [stay]: the whole environment and the command line; then ends, or when its input does.
int say_environment(const Words& words) {
  std::string text;
  for (const wchar_t* entry = ::GetEnvironmentStringsW(); *entry != L'\0';
       entry += std::wstring_view(entry).size() + 1) {
    text += core::narrow_lossy(entry) + "\n";
  }
  say(text + core::narrow_lossy(::GetCommandLineW()) + "\n");
  return words.size() > 1 ? copy({}) : 0;
}

// set NUMBER: sets the event of that handle, if this process was given it.
int set_event(const Words& words) {
  const auto number = std::strtol(words.at(1).c_str(), nullptr, 10);
  say(::SetEvent(::LongToHandle(number)) != 0 ? "set\n" : "not set\n");
  return 0;
}

// listen COUNT: says that it is ready, and each time that it is asked to stop; ends with 3 when it
// was asked COUNT times (0: never).
int listen(const Words& words) {
  const int most = std::atoi(words.at(1).c_str());
  const core::Handle over(::CreateEventW(nullptr, TRUE, FALSE, nullptr));
  std::atomic<int> count = 0;
  const auto listener = rollcall::StopListener::start([&] {
    say("asked\n");
    if (++count == most) ::SetEvent(over.get());
  });
  if (!listener) return fault(listener.error().message);
  say("ready\n");
  ::WaitForSingleObject(over.get(), kLongMs);
  return 3;
}

int sleep(const Words&) {
  say("ready\n");
  ::Sleep(kLongMs);
  return 0;
}

std::string own_path() {
  std::wstring path(32'768, L'\0');
  path.resize(::GetModuleFileNameW(nullptr, path.data(), static_cast<DWORD>(path.size())));
  return core::narrow(path).value_or("");
}

// spawn leave|stay: starts one that sleeps, says its pid, and ends, or stays.
int spawn(const Words& words) {
  core::Spawn what;
  what.program = own_path();
  what.command_line = core::windows_command_line({"actor", "sleep"}).value_or("");
  const core::Handle nothing(::CreateFileW(L"NUL", GENERIC_READ | GENERIC_WRITE,
                                           FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr,
                                           OPEN_EXISTING, 0, nullptr));
  what.streams = {nothing.get(), nothing.get(), nothing.get()};
  const auto child = core::spawn(what);
  if (!child) return fault(child.error().message);
  say(std::to_string(child->pid) + "\n");
  if (words.at(1) == "stay") ::Sleep(kLongMs);
  return 0;
}

LRESULT CALLBACK on_message(HWND window, UINT message, WPARAM wide_word, LPARAM long_word) {
  if (message == WM_CLOSE) ::ExitProcess(4);
  return ::DefWindowProcW(window, message, wide_word, long_word);
}

// window: opens one, says so, and ends with 4 when it is closed. 77: no window can be had.
int open_window(const Words&) {
  WNDCLASSW kind{};
  kind.lpfnWndProc = on_message;
  kind.hInstance = ::GetModuleHandleW(nullptr);
  kind.lpszClassName = L"RollcallActor";
  ::RegisterClassW(&kind);
  const HWND window =
      ::CreateWindowExW(0, kind.lpszClassName, L"actor", WS_OVERLAPPEDWINDOW | WS_VISIBLE, 0, 0,
                        100, 100, nullptr, nullptr, kind.hInstance, nullptr);
  if (window == nullptr || ::IsWindowVisible(window) == 0) {
    say("no window\n");
    return 77;
  }
  say("ready\n");
  MSG message{};
  while (::GetMessageW(&message, nullptr, 0, 0) > 0) ::DispatchMessageW(&message);
  return 0;
}

BOOL WINAPI on_break(DWORD event) {
  if (event == CTRL_BREAK_EVENT) ::ExitProcess(5);
  return FALSE;
}

// console: says that it is ready and ends with 5 on Ctrl-Break. 77: it is on no console.
int wait_for_break(const Words&) {
  DWORD pid = 0;
  if (::GetConsoleProcessList(&pid, 1) == 0) {
    say("no console\n");
    return 77;
  }
  ::SetConsoleCtrlHandler(on_break, TRUE);
  return sleep({});
}

// append FILE TEXT
int append(const Words& words) {
  const core::Handle file(::CreateFileW(wide(words.at(1)).c_str(), FILE_APPEND_DATA,
                                        FILE_SHARE_READ | FILE_SHARE_WRITE, nullptr, OPEN_ALWAYS, 0,
                                        nullptr));
  if (!file.valid()) return fault(words.at(1));
  put(file.get(), words.at(2));
  return 0;
}

int act(const Words& words) {
  struct Act {
    std::string_view name;
    int (*run)(const Words&);
  };
  constexpr Act kActs[] = {{"exit", exit_with},     {"args", say_words},
                           {"cat", copy},           {"env", say_environment},
                           {"set", set_event},      {"listen", listen},
                           {"sleep", sleep},        {"spawn", spawn},
                           {"window", open_window}, {"console", wait_for_break},
                           {"append", append}};
  for (const Act& known : kActs) {
    if (!words.empty() && words.front() == known.name) return known.run(words);
  }
  return fault("no such act");
}

}  // namespace

int main() {
  ::SetErrorMode(SEM_FAILCRITICALERRORS | SEM_NOGPFAULTERRORBOX);
  int count = 0;
  wchar_t** const given = ::CommandLineToArgvW(::GetCommandLineW(), &count);
  Words words;
  for (int i = 1; given != nullptr && i < count; ++i) words.push_back(core::narrow_lossy(given[i]));
  return act(words);
}
