// The presets that were compiled into the program: a table that cmake/embed_presets.cpp writes at build time.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/rates.hpp"
#include "llmcalc/spec/shape.hpp"
#include "read/presets.hpp"

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
  Glimpse glimpse;           ///< of an accelerator
};

/// One entry of presets/families. Presets need its writing only, which is no reason to parse it.
struct EmbeddedFamily {
  std::string_view id;            ///< a model_type
  std::string_view aliases;       ///< other model types, joined by '|'
  std::string_view architecture;  ///< "Llama" of the class LlamaForCausalLM
  std::string_view file;
  std::string_view json;
  spec::Writing writing;
};

/// One entry of presets/rates, already read: members as of RatesPreset.
struct EmbeddedRates {
  std::string_view id;
  std::string_view measured;
  std::string_view operations;
  std::string_view arch;
  std::string_view name;
  double bf16_over_fp32_below;
  quantity::Bandwidth bandwidth_from;
  spec::MeasuredRates numbers;
};

/// One entry of presets/generations that stands for accelerators.
struct EmbeddedGeneration {
  std::string_view id;
  std::string_view vendor;
  std::string_view arch;
  std::string_view memory;
  std::string_view ggml_of;
  spec::GenerationFacts facts;
};

std::span<const EmbeddedPreset> embedded_models();
std::span<const EmbeddedPreset> embedded_accelerators();
std::span<const EmbeddedFamily> embedded_families();
std::span<const EmbeddedRates> embedded_rates();
std::span<const EmbeddedGeneration> embedded_generations();

}  // namespace llmcalc::read
