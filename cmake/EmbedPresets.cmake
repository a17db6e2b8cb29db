# llmcalc_embed_presets(<target>): compiles everything under presets/ into the target, as the table that
# src/read/presets/embedded_presets.hpp declares. The files are checked on the way: a mistake in one of them stops the build.

set(llmcalc_presets_root "${CMAKE_CURRENT_LIST_DIR}/..")

# The tool that writes the table reads presets with the library's own reader, hence these of its sources.
function(llmcalc_add_embed_presets_tool)
  set(sources "${llmcalc_presets_root}/cmake/embed_presets.cpp")
  foreach(
    source IN
    ITEMS quantity/checked quantity/decimal quantity/error quantity/suggest quantity/text quantity/written spec/names
          read/config/activation read/config/document read/config/expression read/config/family read/config/fields
          read/config/reader read/config/writing read/json_text read/presets/accelerator read/presets/fields
          read/presets/json read/presets/model read/presets/names read/presets/rates read/presets/shape)
    list(APPEND sources "${llmcalc_presets_root}/src/${source}.cpp")
  endforeach()
  add_executable(llmcalc_embed_presets_tool ${sources})
  target_include_directories(
    llmcalc_embed_presets_tool PRIVATE "${llmcalc_presets_root}/include" "${llmcalc_presets_root}/src")
  target_compile_features(llmcalc_embed_presets_tool PRIVATE cxx_std_20)
  # It runs once, for a moment: nobody waits for its optimization.
  target_compile_options(llmcalc_embed_presets_tool PRIVATE "$<$<CXX_COMPILER_ID:GNU,Clang,AppleClang>:-O0>")
  target_link_libraries(llmcalc_embed_presets_tool PRIVATE fmt::fmt nlohmann_json::nlohmann_json)
endfunction()

function(llmcalc_embed_presets target)
  if(NOT TARGET llmcalc_embed_presets_tool)
    llmcalc_add_embed_presets_tool()
  endif()
  set(presets "${llmcalc_presets_root}/presets")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_presets.cpp")
  file(GLOB files CONFIGURE_DEPENDS "${presets}/models/*.json" "${presets}/accelerators/*.json"
       "${presets}/families/*.json" "${presets}/rates/*.json")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND llmcalc_embed_presets_tool "${presets}" "${output}"
    DEPENDS llmcalc_embed_presets_tool ${files}
    COMMENT "Embedding presets"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
