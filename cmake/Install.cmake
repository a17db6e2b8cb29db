# Installs the program with its pages and completions, the library and its headers, and what find_package(llmcalc) needs.

include(CMakePackageConfigHelpers)
include(GNUInstallDirs)

set(llmcalc_package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/llmcalc")

install(TARGETS llmcalc_cli COMPONENT program)
# The program writes them itself; one for another machine has them written by one for this.
set(llmcalc_writer "$<TARGET_FILE:llmcalc_cli>")
if(LLMCALC_HOST_TOOLS)
  set(llmcalc_writer "${LLMCALC_HOST_TOOLS}/llmcalc")
endif()
foreach(folder IN ITEMS MANDIR DATADIR DOCDIR)
  install(CODE "set(${folder} \"${CMAKE_INSTALL_${folder}}\")" COMPONENT program)
endforeach()
install(CODE "set(PROGRAM \"${llmcalc_writer}\")" COMPONENT program)
install(SCRIPT "${PROJECT_SOURCE_DIR}/cmake/InstallPages.cmake" COMPONENT program)
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
install(
  FILES "${PROJECT_SOURCE_DIR}/LICENSE"
  DESTINATION "${CMAKE_INSTALL_DOCDIR}"
  RENAME copyright
  COMPONENT program)

include(Package)
