# For the toolchain files: finds the libraries of ROLLCALL_CROSS_TARGET where scripts/cross.sh keeps
# them, and looks for the target's files there alone; the host's own would not link.
#   ROLLCALL_CROSS_PREFIX   another prefix to take them from
if(NOT ROLLCALL_CROSS_PREFIX)
  execute_process(
    COMMAND ${CMAKE_CURRENT_LIST_DIR}/../../scripts/cross.sh --prefix ${ROLLCALL_CROSS_TARGET}
    OUTPUT_VARIABLE ROLLCALL_CROSS_PREFIX OUTPUT_STRIP_TRAILING_WHITESPACE
    RESULT_VARIABLE _failed)
  if(_failed)
    message(FATAL_ERROR "the libraries for ${ROLLCALL_CROSS_TARGET} are not here; "
      "build them with: scripts/cross.sh ${ROLLCALL_CROSS_TARGET}")
  endif()
endif()
# CMake's own checks read the toolchain file again, without the cache.
list(APPEND CMAKE_TRY_COMPILE_PLATFORM_VARIABLES ROLLCALL_CROSS_PREFIX)

set(CMAKE_FIND_ROOT_PATH ${ROLLCALL_CROSS_PREFIX})
set(CMAKE_FIND_ROOT_PATH_MODE_PROGRAM NEVER)
set(CMAKE_FIND_ROOT_PATH_MODE_LIBRARY ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_INCLUDE ONLY)
set(CMAKE_FIND_ROOT_PATH_MODE_PACKAGE ONLY)
