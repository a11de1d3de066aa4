# ROLLCALL_PLATFORM: linux, macos or windows; it names the backend's folder and the platform files.
# ROLLCALL_SYSTEM_LIBRARIES: what the framework needs of the system beyond what compilers link.
if(WIN32)
  set(ROLLCALL_PLATFORM windows)
  set(ROLLCALL_SYSTEM_LIBRARIES ws2_32 iphlpapi advapi32 shell32 ole32 userenv bcrypt
                                ntdll)
  # Windows 10 and later; the system's headers without what gets into the way.
  add_compile_definitions(_WIN32_WINNT=0x0A00 WINVER=0x0A00 NOMINMAX WIN32_LEAN_AND_MEAN)
elseif(APPLE)
  set(ROLLCALL_PLATFORM macos)
  set(ROLLCALL_SYSTEM_LIBRARIES "")
elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux")
  set(ROLLCALL_PLATFORM linux)
  set(ROLLCALL_SYSTEM_LIBRARIES "")
else()
  message(FATAL_ERROR "Rollcall knows Linux, macOS and Windows, and not ${CMAKE_SYSTEM_NAME}")
endif()

# rollcall_keep_platform_files(LIST): of the sources in LIST keeps those for this platform. A file
# named *_linux.cpp, *_macos.cpp or *_windows.cpp is built there only; *_posix.cpp everywhere but on
# Windows; every other file everywhere. So too *_linux_test.cpp and the rest.
function(rollcall_keep_platform_files list)
  set(foreign linux macos windows posix)
  list(REMOVE_ITEM foreign ${ROLLCALL_PLATFORM})
  if(NOT WIN32)
    list(REMOVE_ITEM foreign posix)
  endif()
  list(JOIN foreign "|" foreign)
  set(files ${${list}})
  list(FILTER files EXCLUDE REGEX "_(${foreign})(_test)?\\.(c|cpp)$")
  set(${list} ${files} PARENT_SCOPE)
endfunction()
