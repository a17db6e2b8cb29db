// What trainers are told of a run in common: how its weights are trained, and where adapters stand.
#pragma once

#include "llmcalc/spec/training.hpp"

#include <string>
#include <string_view>

namespace llmcalc::dialects {

inline bool has_adapters(const spec::Training& training) {
  return training.method == spec::Method::lora || training.method == spec::Method::qlora;
}
inline bool in_4_bits(const spec::Training& training) { return training.method == spec::Method::qlora; }
inline bool recomputes(const spec::Training& training) {
  return training.recompute.policy == spec::RecomputePolicy::full;
}

bool adapts(const spec::Training& training, std::string_view target);
bool adapts_all_linear(const spec::Training& training);

/// The modules with adapters under peft's names, those of a Llama-like model: "q_proj v_proj", or "all-linear".
std::string module_names(const spec::Training& training, std::string_view between);

}  // namespace llmcalc::dialects
