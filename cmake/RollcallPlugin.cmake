# rollcall_add_plugin(NAME SOURCES file... [MANIFEST file] [LIBRARIES target...]
#                     [OUTPUT_DIRECTORY dir] [NO_INSTALL])
#
# A shared library (NAME.so, NAME.dylib or NAME.dll) that exports exactly one symbol,
# rollcall_plugin_v1, with its manifest (NAME.rollcall.json) beside it. Works in this tree and,
# through find_package(Rollcall), outside.
if(APPLE)
  # Written as a pattern: a name in plain would have to be there, and some test plugins lack it.
  set(ROLLCALL_PLUGIN_MAP ${CMAKE_CURRENT_LIST_DIR}/rollcall_plugin.exports)
else()
  set(ROLLCALL_PLUGIN_MAP ${CMAKE_CURRENT_LIST_DIR}/rollcall_plugin.map)
endif()

function(rollcall_add_plugin name)
  cmake_parse_arguments(ARG "NO_INSTALL" "MANIFEST;OUTPUT_DIRECTORY" "SOURCES;LIBRARIES" ${ARGN})
  if(NOT ARG_SOURCES)
    message(FATAL_ERROR "rollcall_add_plugin(${name}): SOURCES is empty")
  endif()
  add_library(${name} SHARED ${ARG_SOURCES})
  set_target_properties(${name} PROPERTIES
    PREFIX "" CXX_VISIBILITY_PRESET hidden C_VISIBILITY_PRESET hidden VISIBILITY_INLINES_HIDDEN ON
    LINK_DEPENDS ${ROLLCALL_PLUGIN_MAP})
  if(ARG_OUTPUT_DIRECTORY)
    set(output ${ARG_OUTPUT_DIRECTORY})
  elseif(ROLLCALL_PLUGIN_OUTPUT_DIR)
    set(output ${ROLLCALL_PLUGIN_OUTPUT_DIR})
  else()
    set(output ${CMAKE_CURRENT_BINARY_DIR})
  endif()
  set_target_properties(${name} PROPERTIES LIBRARY_OUTPUT_DIRECTORY ${output}
                                           RUNTIME_OUTPUT_DIRECTORY ${output})
  target_link_libraries(${name} PRIVATE rollcall::plugin ${ARG_LIBRARIES})
  if(NOT APPLE)
    # On macOS a library without a name of its own takes the path that it was linked at.
    set_target_properties(${name} PROPERTIES NO_SONAME ON)
  endif()
  if(MINGW)
    # What is not marked for export is not exported, even where nothing is marked. The runtime of the
    # compiler goes into the library: hosts need not have it.
    target_link_options(${name} PRIVATE -static LINKER:--exclude-all-symbols)
  elseif(APPLE)
    target_link_options(${name} PRIVATE LINKER:-exported_symbols_list,${ROLLCALL_PLUGIN_MAP})
  elseif(CMAKE_SYSTEM_NAME STREQUAL "Linux")
    target_link_options(${name} PRIVATE LINKER:--version-script=${ROLLCALL_PLUGIN_MAP})
    if(NOT ROLLCALL_SANITIZE)
      target_link_options(${name} PRIVATE LINKER:-z,defs)
    endif()
  endif()
  if(TARGET rollcall_options)
    target_link_libraries(${name} PRIVATE rollcall_options)
  endif()
  if(ARG_MANIFEST)
    file(MAKE_DIRECTORY ${output})
    configure_file(${ARG_MANIFEST} ${output}/${name}.rollcall.json COPYONLY)
  endif()
  if(NOT ARG_NO_INSTALL)
    set_property(GLOBAL APPEND PROPERTY ROLLCALL_PLUGINS ${name})
  endif()
  if(ROLLCALL_PLUGIN_INSTALL_DIR AND NOT ARG_NO_INSTALL)
    install(TARGETS ${name} LIBRARY DESTINATION ${ROLLCALL_PLUGIN_INSTALL_DIR}
                            RUNTIME DESTINATION ${ROLLCALL_PLUGIN_INSTALL_DIR})
    if(ARG_MANIFEST)
      install(FILES ${output}/${name}.rollcall.json DESTINATION ${ROLLCALL_PLUGIN_INSTALL_DIR})
    endif()
  endif()
endfunction()
