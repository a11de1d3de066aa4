# CMake toolchain: zig's clang 16 with its libc++ and its stubs of the macOS SDK, for macOS 11 and
# later. `scripts/cross.sh macos-x86_64 macos-arm64` prepares what it needs, compilers included; the
# presets of these names use it.
#   ROLLCALL_MACOS_ARCH   x86_64 or arm64

# Read a second time as CMAKE_USER_MAKE_RULES_OVERRIDE, when CMake knows its rules for Darwin: those
# that zig's linker refuses are replaced.
if(DEFINED CMAKE_C_VERBOSE_FLAG OR DEFINED CMAKE_CXX_VERBOSE_FLAG)
  foreach(language IN ITEMS C CXX)
    set(CMAKE_${language}_VERBOSE_FLAG -v)
    set(CMAKE_SHARED_MODULE_CREATE_${language}_FLAGS -dynamiclib)
    # Without a deployment target, which zig has and CMake does not see, there would be no rpath.
    set(CMAKE_SHARED_LIBRARY_RUNTIME_${language}_FLAG -Wl,-rpath,)
  endforeach()
  return()
endif()
set(CMAKE_USER_MAKE_RULES_OVERRIDE ${CMAKE_CURRENT_LIST_FILE})

set(ROLLCALL_MACOS_ARCH x86_64 CACHE STRING "x86_64 or arm64")
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ROLLCALL_MACOS_ARCH)
set(ROLLCALL_CROSS_TARGET macos-${ROLLCALL_MACOS_ARCH})
include(${CMAKE_CURRENT_LIST_DIR}/cross_prefix.cmake)

set(CMAKE_SYSTEM_NAME Darwin)
set(CMAKE_SYSTEM_VERSION 20)  # of macOS 11
set(CMAKE_SYSTEM_PROCESSOR ${ROLLCALL_MACOS_ARCH})
set(CMAKE_C_COMPILER ${ROLLCALL_CROSS_PREFIX}/bin/clang)
set(CMAKE_CXX_COMPILER ${ROLLCALL_CROSS_PREFIX}/bin/clang++)

# A file for arm64 is signed as it is linked, and neither strip nor install_name_tool may touch it
# afterwards: it gets at once the rpath that it is installed with.
set(CMAKE_BUILD_WITH_INSTALL_RPATH ON)

# CMake would ask xcrun for these.
set(CMAKE_OSX_SYSROOT "" CACHE STRING "" FORCE)
set(CMAKE_OSX_DEPLOYMENT_TARGET "" CACHE STRING "" FORCE)
foreach(tool IN ITEMS ar ranlib nm strip install-name-tool)
  string(TOUPPER ${tool} variable)
  string(REPLACE - _ variable CMAKE_${variable})
  find_program(${variable} NAMES llvm-${tool}-14 llvm-${tool} NO_CMAKE_FIND_ROOT_PATH)
endforeach()
