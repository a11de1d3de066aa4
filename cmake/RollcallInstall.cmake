# Install rules, the CMake package (rollcall::framework for hosts, rollcall::plugin for authors) and
# the .deb packages. Two components: `runtime`, what an operator needs, and `development`.
include(CMakePackageConfigHelpers)

set(ROLLCALL_CMAKE_DIR ${CMAKE_INSTALL_LIBDIR}/cmake/Rollcall)

install(TARGETS rollcall rollcall_abi EXPORT RollcallTargets
  LIBRARY DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT runtime
          NAMELINK_COMPONENT development
  ARCHIVE DESTINATION ${CMAKE_INSTALL_LIBDIR} COMPONENT development
  RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
if(TARGET regtool)
  install(TARGETS regtool RUNTIME DESTINATION ${CMAKE_INSTALL_BINDIR} COMPONENT runtime)
endif()

install(DIRECTORY framework/abi/rollcall framework/include/rollcall
  DESTINATION ${CMAKE_INSTALL_INCLUDEDIR} COMPONENT development
  FILES_MATCHING PATTERN "*.h" PATTERN "*.hpp")

install(EXPORT RollcallTargets NAMESPACE rollcall:: DESTINATION ${ROLLCALL_CMAKE_DIR}
  COMPONENT development)
configure_package_config_file(cmake/RollcallConfig.cmake.in
  ${CMAKE_BINARY_DIR}/RollcallConfig.cmake INSTALL_DESTINATION ${ROLLCALL_CMAKE_DIR})
# Before 1.0 a minor version may change the C++ interfaces.
write_basic_package_version_file(${CMAKE_BINARY_DIR}/RollcallConfigVersion.cmake
  COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_BINARY_DIR}/RollcallConfig.cmake
              ${CMAKE_BINARY_DIR}/RollcallConfigVersion.cmake
              cmake/RollcallPlugin.cmake cmake/rollcall_plugin.map cmake/rollcall_plugin.exports
  DESTINATION ${ROLLCALL_CMAKE_DIR} COMPONENT development)

# Documents, in the folders that they have here, so that their links lead somewhere. What a link of
# an author's document leads to comes with the development component.
set(ROLLCALL_DOC_DIR ${CMAKE_INSTALL_DATADIR}/doc)
set(ROLLCALL_DOC_ROOT ${ROLLCALL_DOC_DIR}/rollcall)
install(FILES README.md SECURITY.md CHANGELOG.md CONTRIBUTING.md LICENSE
  DESTINATION ${ROLLCALL_DOC_ROOT} COMPONENT runtime)
install(DIRECTORY docs DESTINATION ${ROLLCALL_DOC_ROOT} COMPONENT runtime
  FILES_MATCHING PATTERN "*.md" PATTERN "*.init" PATTERN "man" EXCLUDE)
install(FILES bench/README.md DESTINATION ${ROLLCALL_DOC_ROOT}/bench COMPONENT runtime)
install(FILES framework/abi/RULES.md framework/abi/CHANGELOG.md
  DESTINATION ${ROLLCALL_DOC_ROOT}/framework/abi COMPONENT runtime)
install(DIRECTORY examples DESTINATION ${ROLLCALL_DOC_ROOT} COMPONENT development)
install(DIRECTORY plugins/examples DESTINATION ${ROLLCALL_DOC_ROOT}/plugins COMPONENT development)
# plugin.h is linked to where it is installed, not copied.
file(RELATIVE_PATH ROLLCALL_PLUGIN_H
  ${CMAKE_INSTALL_FULL_DATADIR}/doc/rollcall/framework/abi/rollcall
  ${CMAKE_INSTALL_FULL_INCLUDEDIR}/rollcall/plugin.h)
file(MAKE_DIRECTORY ${CMAKE_BINARY_DIR}/doc)
if(CMAKE_HOST_WIN32)  # where links are not for everybody
  configure_file(framework/abi/rollcall/plugin.h ${CMAKE_BINARY_DIR}/doc/plugin.h COPYONLY)
else()
  file(CREATE_LINK ${ROLLCALL_PLUGIN_H} ${CMAKE_BINARY_DIR}/doc/plugin.h SYMBOLIC)
endif()
install(FILES ${CMAKE_BINARY_DIR}/doc/plugin.h
  DESTINATION ${ROLLCALL_DOC_ROOT}/framework/abi/rollcall COMPONENT development)

# What Debian asks of every package: its licence and its changelog.
if(ROLLCALL_PLATFORM STREQUAL "linux")
  find_program(GZIP_PROGRAM gzip)
endif()
configure_file(cmake/debian-changelog.in ${CMAKE_BINARY_DIR}/debian/changelog.Debian @ONLY)
if(GZIP_PROGRAM)
  execute_process(COMMAND ${GZIP_PROGRAM} -9nkf ${CMAKE_BINARY_DIR}/debian/changelog.Debian)
  foreach(package rollcall:runtime librollcall-dev:development)
    string(REPLACE ":" ";" package ${package})
    list(GET package 0 name)
    list(GET package 1 component)
    install(FILES cmake/copyright ${CMAKE_BINARY_DIR}/debian/changelog.Debian.gz
      DESTINATION ${ROLLCALL_DOC_DIR}/${name} COMPONENT ${component})
  endforeach()
endif()

# Man pages docs/man/NAME.SECTION; compressed, as Debian wants them, where gzip is there.
file(GLOB ROLLCALL_MAN_PAGES CONFIGURE_DEPENDS ${CMAKE_SOURCE_DIR}/docs/man/*.[1-8])
foreach(page IN LISTS ROLLCALL_MAN_PAGES)
  get_filename_component(name ${page} NAME)
  string(REGEX REPLACE "^.*\\." "" section ${name})
  if(GZIP_PROGRAM)
    set(packed ${CMAKE_BINARY_DIR}/man/${name}.gz)
    add_custom_command(OUTPUT ${packed} DEPENDS ${page}
      COMMAND ${CMAKE_COMMAND} -E make_directory ${CMAKE_BINARY_DIR}/man
      COMMAND sh -c "\"$1\" -9nc \"$2\" > \"$3\"" sh ${GZIP_PROGRAM} ${page} ${packed} VERBATIM)
    list(APPEND ROLLCALL_PACKED_PAGES ${packed})
  else()
    set(packed ${page})
  endif()
  install(FILES ${packed} DESTINATION ${CMAKE_INSTALL_MANDIR}/man${section} COMPONENT runtime)
endforeach()
if(ROLLCALL_PACKED_PAGES)
  add_custom_target(rollcall_man ALL DEPENDS ${ROLLCALL_PACKED_PAGES})
endif()

install(FILES completions/regtool.bash DESTINATION ${CMAKE_INSTALL_DATADIR}/bash-completion/completions
  RENAME regtool COMPONENT runtime OPTIONAL)
# zsh looks in vendor-completions below /usr only, elsewhere in site-functions. The prefix is known at
# the installation.
install(CODE "
  set(folder site-functions)
  if(CMAKE_INSTALL_PREFIX STREQUAL \"/usr\")
    set(folder vendor-completions)
  endif()
  file(INSTALL \"${CMAKE_SOURCE_DIR}/completions/_regtool\"
    DESTINATION \"\${CMAKE_INSTALL_PREFIX}/share/zsh/\${folder}\"
    PERMISSIONS OWNER_READ OWNER_WRITE GROUP_READ WORLD_READ)" COMPONENT runtime)
install(FILES completions/regtool.fish DESTINATION ${CMAKE_INSTALL_DATADIR}/fish/vendor_completions.d
  COMPONENT runtime OPTIONAL)

# The packages: `cpack -G DEB` in a build tree of the `package` preset.
set(CPACK_GENERATOR DEB)
set(CPACK_PROJECT_CONFIG_FILE ${CMAKE_SOURCE_DIR}/cmake/RollcallCPack.cmake)
set(CPACK_PACKAGE_NAME rollcall)
set(CPACK_PACKAGE_VENDOR "Rollcall contributors")
set(CPACK_PACKAGE_CONTACT "Rollcall contributors <rollcall@localhost>")
set(CPACK_PACKAGE_VERSION ${PROJECT_VERSION})
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
# CPack's own default, which it leaves out: each package's description begins with its own summary.
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "${CMAKE_PROJECT_NAME} built using CMake")
set(CPACK_STRIP_FILES ON)
set(CPACK_COMPONENTS_ALL runtime development)
set(CPACK_COMPONENTS_GROUPING ONE_PER_GROUP)
# Plugin folders that the group may write to are refused, so no umask may reach the packages.
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ
  GROUP_EXECUTE WORLD_READ WORLD_EXECUTE)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
set(CPACK_DEBIAN_PACKAGE_RELEASE 1)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_NAME rollcall)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_SECTION admin)
# Written here: CPack's own generator warns of every plugin, none of which is to be linked.
get_target_property(ROLLCALL_SOVERSION rollcall SOVERSION)
configure_file(cmake/shlibs.in ${CMAKE_BINARY_DIR}/debian/shlibs @ONLY)
set(CPACK_DEBIAN_RUNTIME_PACKAGE_CONTROL_EXTRA
  "${CMAKE_SOURCE_DIR}/cmake/triggers;${CMAKE_BINARY_DIR}/debian/shlibs")
set(CPACK_COMPONENT_RUNTIME_DESCRIPTION "proves which recorded sessions really run
A session leaves a record of itself; a record is a hint, never a truth.
regtool proves each one by its process, the process's start and its door,
shows which sessions live, and signals or removes only what was proven.

This package holds regtool, librollcall, the Linux backend and the doors.")
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_NAME librollcall-dev)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SECTION libdevel)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_SHLIBDEPS OFF)
set(CPACK_DEBIAN_DEVELOPMENT_PACKAGE_DEPENDS
  "rollcall (= ${PROJECT_VERSION}-1), libexpected-dev")
set(CPACK_COMPONENT_DEVELOPMENT_DESCRIPTION "headers for hosts and plugins of Rollcall
The C++ and C interfaces of librollcall, the plugin ABI, and a CMake package
with the targets rollcall::framework and rollcall::plugin.")
include(CPack)
