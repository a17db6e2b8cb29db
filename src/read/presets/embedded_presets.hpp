// The presets that were compiled into the program: a table that cmake/embed_presets.cpp writes at build time.
#pragma once

#include <span>
#include <string_view>

namespace llmcalc::read {

/// One entry of presets/, findable without parsing it.
struct EmbeddedPreset {
  std::string_view id;
  std::string_view aliases;  ///< lower case, joined by '|'
  std::string_view hf_id;    ///< empty for accelerators and where there is none
  std::string_view file;     ///< "presets/models/llama.json"
  std::string_view json;     ///< the entry itself, without white space
};

std::span<const EmbeddedPreset> embedded_models();
std::span<const EmbeddedPreset> embedded_accelerators();

}  // namespace llmcalc::read
