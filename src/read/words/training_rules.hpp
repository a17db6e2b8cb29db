// What follows from a framework, a method or an optimizer by its name.
#pragma once

#include "frameworks/table.hpp"
#include "spec/traits.hpp"

#include <cstdint>
#include <optional>

namespace llmcalc::read {

inline frameworks::StateRecipe states_of(const spec::Training& training) {
  return frameworks::row_of(training.framework).states;
}

constexpr bool is_half(formats::Dtype dtype) { return dtype == formats::Dtype::bf16 || dtype == formats::Dtype::fp16; }

/// Prompt and prefix tuning learn positions in front of the sample's.
constexpr bool has_virtual_tokens(spec::Method method) {
  return method == spec::Method::prompt || method == spec::Method::prefix;
}

inline bool has_bottleneck(const spec::Training& training) {
  return training.method == spec::Method::adapter && !frameworks::row_of(training.framework).adapters_are_prompts;
}

constexpr bool trains_adapters(spec::Method method) {
  using spec::Method;
  return spec::has_low_rank(method) || method == Method::ia3 || method == Method::prompt || method == Method::prefix ||
         method == Method::adapter;
}

/// The rank of an optimizer that keeps the moments of projected gradients; 0 for the others. GaLore, and APOLLO where
/// transformers' Trainer makes it: trainer.py, optim_args rank; APOLLO elsewhere: its README; APOLLO-Mini by its
/// definition (arXiv:2412.05270 section 4.2).
inline std::int64_t default_projection_rank(const spec::Training& training) {
  using spec::Optimizer;
  constexpr std::int64_t of_trainer = 128;
  switch (training.optimizer) {
    case Optimizer::galore_adamw_8bit: return of_trainer;
    case Optimizer::apollo:
      return frameworks::row_of(training.framework).engine == frameworks::TrainingEngine::trainer ? of_trainer : 256;
    case Optimizer::apollo_mini: return 1;
    default: return 0;
  }
}

/// The type in which an optimizer of few bits keeps its moments; empty for the others.
constexpr std::optional<formats::Dtype> quantized_moments(spec::Optimizer optimizer) {
  using spec::Optimizer;
  switch (optimizer) {
    case Optimizer::adamw_8bit:
    case Optimizer::paged_adamw_8bit:
    case Optimizer::galore_adamw_8bit: return formats::Dtype::int8;
    case Optimizer::adamw_4bit: return formats::Dtype::int4;
    default: return std::nullopt;
  }
}

}  // namespace llmcalc::read
