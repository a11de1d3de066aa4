# rollcall_options: the flags that every target of the project is built with.
add_library(rollcall_options INTERFACE)
target_compile_options(rollcall_options INTERFACE
  -Wall -Wextra -Wshadow -Wno-missing-field-initializers
  $<$<COMPILE_LANGUAGE:CXX>:-Wconversion>
  # clang's -Wconversion has what g++ keeps apart.
  $<$<COMPILE_LANG_AND_ID:CXX,Clang,AppleClang>:-Wno-sign-conversion>
  $<$<BOOL:${ROLLCALL_WERROR}>:-Werror>)
if(ROLLCALL_SANITIZE)
  target_compile_options(rollcall_options INTERFACE
    -fsanitize=${ROLLCALL_SANITIZE} -fno-omit-frame-pointer -fno-sanitize-recover=all)
  target_link_options(rollcall_options INTERFACE -fsanitize=${ROLLCALL_SANITIZE})
  add_compile_definitions(ROLLCALL_SANITIZED=1)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  set(CMAKE_CXX_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
  set(CMAKE_C_COMPILER_LAUNCHER ${CCACHE_PROGRAM})
endif()
