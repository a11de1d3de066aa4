// Starts itself again, which then holds what this one was given and waits without end; says which
// process that is, and exits with 7.
#include <windows.h>

#include <cstdio>

int main(int argc, char**) {
  if (argc > 1) ::Sleep(INFINITE);
  wchar_t path[MAX_PATH] = {};
  ::GetModuleFileNameW(nullptr, path, MAX_PATH);
  wchar_t line[] = L"parent wait";
  STARTUPINFOW start{};
  start.cb = sizeof(start);
  PROCESS_INFORMATION made{};
  if (::CreateProcessW(path, line, nullptr, nullptr, TRUE, 0, nullptr, nullptr, &start, &made) ==
      0) {
    return 1;
  }
  std::fprintf(stderr, "grandchild %lu\n", made.dwProcessId);
  return 7;
}
