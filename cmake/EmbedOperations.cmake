# llmcalc_embed_operations(<target>): compiles the curves under presets/operations into the target. Each file becomes a
# list of initializers, <name>.inc, for a table in src/timing/serving_kernels.cpp, whose compiler checks their number.

set(llmcalc_operations_root "${CMAKE_CURRENT_LIST_DIR}/../presets/operations")

function(llmcalc_embed_operations target)
  set(folder "${CMAKE_CURRENT_BINARY_DIR}/operations")
  file(GLOB tables CONFIGURE_DEPENDS "${llmcalc_operations_root}/*.csv")
  set_property(DIRECTORY APPEND PROPERTY CMAKE_CONFIGURE_DEPENDS ${tables})
  foreach(table IN LISTS tables)
    cmake_path(GET table STEM name)
    file(READ "${table}" text)
    # Without the line that names the columns; words are quoted, numbers are not.
    string(FIND "${text}" "\n" header)
    math(EXPR header "${header} + 1")
    string(SUBSTRING "${text}" ${header} -1 text)
    string(REGEX REPLACE "([^\n]+)\n" "{\\1},\n" text "${text}")
    string(REGEX REPLACE "([{,])([a-z][^,]*)" "\\1\"\\2\"" text "${text}")
    file(CONFIGURE OUTPUT "${folder}/${name}.inc" CONTENT "${text}" @ONLY)
  endforeach()
  target_include_directories(${target} PRIVATE "${CMAKE_CURRENT_BINARY_DIR}")
endfunction()
