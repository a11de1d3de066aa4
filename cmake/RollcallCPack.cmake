# Read by cpack before it packs. CPack makes a package without dependencies, and says nothing, where
# it cannot find them out; such a package would install and not run.
if(CPACK_GENERATOR STREQUAL "DEB")
  foreach(tool dpkg-shlibdeps file)
    find_program(ROLLCALL_TOOL_${tool} ${tool})
    if(NOT ROLLCALL_TOOL_${tool})
      message(FATAL_ERROR "there is no '${tool}' here, which finds out what the packages depend on; "
        "install dpkg-dev and file (scripts/deps.sh package)")
    endif()
  endforeach()
endif()
