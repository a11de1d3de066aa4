# CMake toolchain: Debian's mingw-w64 (GCC 12, posix threads), for Windows 10 and later on x86-64.
# `scripts/cross.sh windows` prepares what it needs; the preset `mingw` uses it.
set(CMAKE_SYSTEM_NAME Windows)
set(CMAKE_SYSTEM_VERSION 10.0)
set(CMAKE_SYSTEM_PROCESSOR x86_64)

# The variant with posix threads, by its name: the plain names are alternatives, and may lead to the
# win32 variant, whose libstdc++ has no std::thread.
set(CMAKE_C_COMPILER x86_64-w64-mingw32-gcc-posix)
set(CMAKE_CXX_COMPILER x86_64-w64-mingw32-g++-posix)
set(CMAKE_RC_COMPILER x86_64-w64-mingw32-windres)
set(CMAKE_MC_COMPILER /usr/bin/x86_64-w64-mingw32-windmc)

# Nothing of the compiler's own runtime is left to be shipped beside a program or a plugin.
set(CMAKE_EXE_LINKER_FLAGS_INIT -static)
set(CMAKE_SHARED_LINKER_FLAGS_INIT -static)
set(CMAKE_MODULE_LINKER_FLAGS_INIT -static)

set(ROLLCALL_CROSS_TARGET windows)
include(${CMAKE_CURRENT_LIST_DIR}/cross_prefix.cmake)
list(APPEND CMAKE_FIND_ROOT_PATH /usr/x86_64-w64-mingw32)

# ctest, and whatever else CMake runs of what it built, goes through Wine.
set(CMAKE_CROSSCOMPILING_EMULATOR ${CMAKE_CURRENT_LIST_DIR}/../../scripts/wine.sh)
