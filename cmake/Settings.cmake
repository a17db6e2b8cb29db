# What every target of this project is compiled with, as one interface target: llmcalc_settings.

add_library(llmcalc_warnings INTERFACE)
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(
    llmcalc_warnings
    INTERFACE -Wall
              -Wextra
              -Wpedantic
              # Where files are compiled together, a name of one is in the way of another's.
              $<$<NOT:$<BOOL:$<TARGET_PROPERTY:UNITY_BUILD>>>:-Wshadow>
              -Wconversion
              -Wsign-conversion
              -Wcast-qual
              -Wformat=2
              -Wnon-virtual-dtor
              -Woverloaded-virtual
              -Wundef
              -Wunused)
endif()
if(CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(llmcalc_warnings INTERFACE -Wduplicated-branches -Wduplicated-cond -Wlogical-op)
endif()
if(CMAKE_CXX_COMPILER_ID MATCHES "Clang")
  # Rows of embedded tables are flat lists, whose last member may be an array.
  target_compile_options(llmcalc_warnings INTERFACE -Wno-missing-braces)
endif()
if(LLMCALC_WARNINGS_AS_ERRORS)
  target_compile_options(llmcalc_warnings INTERFACE -Werror)
endif()

add_library(llmcalc_sanitizers INTERFACE)
if(LLMCALC_SANITIZERS)
  set(llmcalc_no_pointers)
  if(LLMCALC_SANITIZERS MATCHES "undefined")
    # What is behind a pointer the address sanitizer watches, and nothing here casts one to what is aligned otherwise or
    # of another class. A check at each use of each made a quarter of the time of compiling.
    set(llmcalc_no_pointers -fno-sanitize=null,alignment,object-size,vptr)
  endif()
  target_compile_options(llmcalc_sanitizers INTERFACE -fsanitize=${LLMCALC_SANITIZERS} ${llmcalc_no_pointers}
                                                      -fno-sanitize-recover=all -fno-omit-frame-pointer)
  target_link_options(llmcalc_sanitizers INTERFACE -fsanitize=${LLMCALC_SANITIZERS})
endif()
if(LLMCALC_FUZZ)
  if(NOT CMAKE_CXX_COMPILER_ID STREQUAL "Clang")
    message(FATAL_ERROR "LLMCALC_FUZZ needs clang, because libFuzzer is part of it")
  endif()
  target_compile_options(llmcalc_sanitizers INTERFACE -fsanitize=fuzzer-no-link)
endif()

add_library(llmcalc_settings INTERFACE)
target_compile_features(llmcalc_settings INTERFACE cxx_std_20)
target_link_libraries(llmcalc_settings INTERFACE llmcalc_warnings llmcalc_sanitizers)
# A product and a sum stay two roundings where the processor could fuse them, as AArch64 and x86-64 with FMA can, so that
# what is handed out answers alike everywhere. The processors that develop it fuse nothing unasked.
if(CMAKE_CXX_COMPILER_ID MATCHES "GNU|Clang")
  target_compile_options(llmcalc_settings INTERFACE $<$<CONFIG:Release>:-ffp-contract=off>)
endif()
# Nobody puts functions of their own before those of the library, so they may be inlined, as clang does unasked.
if(CMAKE_POSITION_INDEPENDENT_CODE AND CMAKE_CXX_COMPILER_ID STREQUAL "GNU")
  target_compile_options(llmcalc_settings INTERFACE -fno-semantic-interposition)
endif()

# What nearly every file includes and nothing of ours changes: compiled once. In angle brackets, so that two checkouts
# share what their compiler cache holds.
set(llmcalc_standard_headers
    <algorithm>
    <array>
    <cmath>
    <cstdint>
    <functional>
    <map>
    <optional>
    <span>
    <string>
    <string_view>
    <utility>
    <variant>
    <vector>
    <fmt/format.h>
    ${llmcalc_headers_together})
