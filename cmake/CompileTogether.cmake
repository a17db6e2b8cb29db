# llmcalc_compile_together(<target> [ALWAYS]): in builds for developers, or in all, the files of a folder are compiled some
# at a time, so that what they include is read once for all of them. In release builds each file of the program still
# shows that it includes what it needs.

option(LLMCALC_COMPILE_TOGETHER "Compile the files of a folder together: less to wait for after a touch of a header" OFF)

# More together wait longer for a change of one of them.
set(llmcalc_files_together 8)
# There a file is a format or a part of the vocabulary, and all call their tables alike.
set(llmcalc_tables_apart "/(dialects/(trainers|servers)|read/presets)/|/vocabulary")

# It takes longest to read, and some file of most groups does.
set(llmcalc_headers_together)
if(LLMCALC_COMPILE_TOGETHER)
  set(llmcalc_headers_together <nlohmann/json.hpp>)
endif()

function(llmcalc_compile_together target)
  if(NOT LLMCALC_COMPILE_TOGETHER AND NOT "ALWAYS" IN_LIST ARGN)
    return()
  endif()
  get_target_property(sources ${target} SOURCES)
  list(FILTER sources INCLUDE REGEX "^/.*\\.cpp$")
  list(FILTER sources EXCLUDE REGEX "${llmcalc_tables_apart}")
  foreach(source IN LISTS sources)
    cmake_path(GET source PARENT_PATH folder)
    string(MAKE_C_IDENTIFIER "${folder}" group)
    if(NOT DEFINED files_of_${group})
      set(files_of_${group} 0)
    endif()
    math(EXPR part "${files_of_${group}} / ${llmcalc_files_together}")
    math(EXPR files_of_${group} "${files_of_${group}} + 1")
    set_property(SOURCE "${source}" PROPERTY UNITY_GROUP "${group}_${part}")
  endforeach()
  set_target_properties(${target} PROPERTIES UNITY_BUILD ON UNITY_BUILD_MODE GROUP)
endfunction()

# The programs of the tests are many: lld links them in half of the time.
if(LLMCALC_COMPILE_TOGETHER)
  include(CheckLinkerFlag)
  check_linker_flag(CXX -fuse-ld=lld LLMCALC_HAS_LLD)
  if(LLMCALC_HAS_LLD)
    add_link_options(-fuse-ld=lld)
  endif()
endif()
