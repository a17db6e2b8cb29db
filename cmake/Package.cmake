# `cpack -G DEB` in a build folder makes a Debian package of the program with its pages and completions.

set(CPACK_GENERATOR DEB)
set(CPACK_PACKAGE_NAME llmcalc)
set(CPACK_PACKAGE_CONTACT "llmcalc maintainers <maintainers@users.noreply.a-seed-7829b6d8.example>")
set(CPACK_PACKAGING_INSTALL_PREFIX /usr)
set(CPACK_STRIP_FILES ON)
set(CPACK_INSTALL_DEFAULT_DIRECTORY_PERMISSIONS OWNER_READ OWNER_WRITE OWNER_EXECUTE GROUP_READ GROUP_EXECUTE WORLD_READ
                                                WORLD_EXECUTE)
set(CPACK_COMPONENTS_ALL program)
set(CPACK_DEB_COMPONENT_INSTALL ON)
set(CPACK_COMPONENTS_GROUPING ALL_COMPONENTS_IN_ONE)
set(CPACK_DEBIAN_FILE_NAME DEB-DEFAULT)
set(CPACK_DEBIAN_PACKAGE_SECTION science)
set(CPACK_DEBIAN_PACKAGE_SHLIBDEPS ON)
# It is loaded by the first request to the Hub.
set(CPACK_DEBIAN_PACKAGE_RECOMMENDS libcurl4)
set(CPACK_PACKAGE_DESCRIPTION_SUMMARY "tell whether a run of a large language model fits")
set(CPACK_DEBIAN_PACKAGE_DESCRIPTION
    "Before a job is launched, on a machine without a GPU: does the run fit, where
does its memory peak, how long does it take, what does it cost, and what is
the smallest change that makes it fit? Training, fine-tuning and serving.")
set(CPACK_PRE_BUILD_SCRIPTS "${PROJECT_SOURCE_DIR}/cmake/DebianFiles.cmake")
include(CPack)
