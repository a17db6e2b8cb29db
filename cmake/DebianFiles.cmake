# What a Debian package has beside what is installed: a changelog in Debian's form, and pages that are compressed.

file(GLOB_RECURSE documents "${CPACK_TEMPORARY_DIRECTORY}/copyright")
list(GET documents 0 documents)
cmake_path(GET documents PARENT_PATH documents)
cmake_path(ABSOLUTE_PATH documents NORMALIZE)
string(TIMESTAMP now "%a, %d %b %Y %H:%M:%S +0000" UTC)
file(WRITE "${documents}/changelog"
     "llmcalc (${CPACK_PACKAGE_VERSION}) unstable; urgency=medium\n\n  * CHANGELOG.md of the source says what changed.\n\n"
     " -- ${CPACK_PACKAGE_CONTACT}  ${now}\n")
file(GLOB pages "${documents}/../../man/man1/*.1" "${documents}/changelog")
execute_process(COMMAND gzip -9nf ${pages} COMMAND_ERROR_IS_FATAL ANY)
