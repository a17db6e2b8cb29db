# Uses ccache where it is installed. A compiler launcher that the caller chose has precedence.

find_program(LLMCALC_CCACHE ccache DOC "Compiler cache")
mark_as_advanced(LLMCALC_CCACHE)

if(LLMCALC_CCACHE AND PROJECT_IS_TOP_LEVEL AND NOT CMAKE_CXX_COMPILER_LAUNCHER)
  # Standard headers and Catch2 are precompiled, which ccache only caches when it may ignore what such a header could
  # hide: its defines and the time macros. We use neither (https://ccache.dev/manual/latest.html, "Precompiled headers").
  set(CMAKE_CXX_COMPILER_LAUNCHER
      "${CMAKE_COMMAND}" -E env CCACHE_SLOPPINESS=pch_defines,time_macros "${LLMCALC_CCACHE}")
  # Clang writes into such a header when what it includes was changed last, and so never the same one twice.
  add_compile_options("$<$<CXX_COMPILER_ID:Clang>:SHELL:-Xclang -fno-pch-timestamp>")
endif()
