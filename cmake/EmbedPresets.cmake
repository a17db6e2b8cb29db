# llmcalc_embed_presets(<target>): compiles everything under presets/ into the target, as the table that
# src/read/presets/embedded_presets.hpp declares. The files are checked on the way: a mistake in one of them stops the build.

cmake_path(GET CMAKE_CURRENT_LIST_DIR PARENT_PATH llmcalc_presets_root)

# What the tool that writes the table needs of the library: its own reader of presets, compiled once for both.
set(llmcalc_preset_reader)
foreach(
  source IN
  ITEMS formats/dtype read/checkpoint/stored_quant quantity/decimal quantity/error quantity/suggest
        quantity/text spec/file_tensors spec/image spec/names spec/roles
        read/config/document read/config/expression read/config/family
        read/config/layers read/config/read_config
        read/config/read_shape read/config/reader read/config/stored_modules read/config/towers read/inner/json_text
        read/presets/accelerator read/presets/fields read/presets/model read/presets/names read/presets/rates)
  list(APPEND llmcalc_preset_reader "${llmcalc_presets_root}/src/${source}.cpp")
endforeach()

set(LLMCALC_HOST_TOOLS "" CACHE PATH "A build for this machine, whose tools a build for another takes")

function(llmcalc_add_embed_presets_tool)
  if(LLMCALC_HOST_TOOLS)
    add_executable(llmcalc_embed_presets_tool IMPORTED GLOBAL)
    set_property(
      TARGET llmcalc_embed_presets_tool PROPERTY IMPORTED_LOCATION "${LLMCALC_HOST_TOOLS}/src/llmcalc_embed_presets_tool")
    return()
  endif()
  add_executable(llmcalc_embed_presets_tool "${llmcalc_presets_root}/cmake/embed_presets.cpp")
  target_include_directories(
    llmcalc_embed_presets_tool PRIVATE "${llmcalc_presets_root}/include" "${llmcalc_presets_root}/src")
  target_link_libraries(llmcalc_embed_presets_tool PRIVATE llmcalc_preset_reader_objects fmt::fmt
                                                           nlohmann_json::nlohmann_json llmcalc_settings)
endfunction()

function(llmcalc_embed_presets target)
  if(NOT TARGET llmcalc_embed_presets_tool)
    llmcalc_add_embed_presets_tool()
  endif()
  set(presets "${llmcalc_presets_root}/presets")
  set(output "${CMAKE_CURRENT_BINARY_DIR}/embedded_presets.cpp")
  file(GLOB files CONFIGURE_DEPENDS "${presets}/models/*.json" "${presets}/accelerators/*.json"
       "${presets}/families/*.json" "${presets}/rates/*.json" "${presets}/generations/*.json")
  add_custom_command(
    OUTPUT "${output}"
    COMMAND "$<TARGET_FILE:llmcalc_embed_presets_tool>" "${presets}" "${output}"
    DEPENDS llmcalc_embed_presets_tool ${files}
    COMMENT "Embedding presets"
    VERBATIM)
  target_sources(${target} PRIVATE "${output}")
endfunction()
