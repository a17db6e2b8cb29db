# Installs the program, the library and its headers, and what find_package(llmcalc) needs.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(llmcalc_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/llmcalc")

install(TARGETS llmcalc_cli)
set(llmcalc_installed llmcalc)
if(BUILD_SHARED_LIBS)
  list(APPEND llmcalc_installed llmcalc_shared)
endif()
install(
  TARGETS ${llmcalc_installed}
  EXPORT llmcalc-targets
  FILE_SET HEADERS)
install(EXPORT llmcalc-targets NAMESPACE llmcalc:: DESTINATION "${llmcalc_package_dir}")

configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/llmcalc-config.cmake.in" llmcalc-config.cmake
                              INSTALL_DESTINATION "${llmcalc_package_dir}")
# Before 1.0 a minor version may change the interface.
write_basic_package_version_file(llmcalc-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES "${CMAKE_CURRENT_BINARY_DIR}/llmcalc-config.cmake"
              "${CMAKE_CURRENT_BINARY_DIR}/llmcalc-config-version.cmake" DESTINATION "${llmcalc_package_dir}")
install(FILES "${PROJECT_SOURCE_DIR}/LICENSE" DESTINATION "${CMAKE_INSTALL_DOCDIR}")
