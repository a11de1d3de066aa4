# Install rules and the CMake package: rollcall::framework for hosts, rollcall::plugin for authors.
include(CMakePackageConfigHelpers)
