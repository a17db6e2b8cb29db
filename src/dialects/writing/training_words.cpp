#include "dialects/writing/training_words.hpp"

#include "quantity/lists.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace llmcalc::dialects {
namespace {

/// transformers models/llama/modeling_llama.py.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> modules{{{"q", "q_proj"},
                                                                                {"k", "k_proj"},
                                                                                {"v", "v_proj"},
                                                                                {"o", "o_proj"},
                                                                                {"gate", "gate_proj"},
                                                                                {"up", "up_proj"},
                                                                                {"down", "down_proj"},
                                                                                {"embed", "embed_tokens"},
                                                                                {"head", "lm_head"}}};
constexpr std::string_view all_linear = "all-linear";

std::string_view module_of(std::string_view target) {
  const auto* const known = std::ranges::find(modules, target, &std::pair<std::string_view, std::string_view>::first);
  return known == modules.end() ? target : known->second;
}

}  // namespace

bool adapts(const spec::Training& training, std::string_view target) {
  const auto& targets = training.adapter.targets;
  const auto is_meant = [&](const std::string& word) { return word == target || word == all_linear; };
  return std::ranges::any_of(targets, is_meant);
}

bool adapts_all_linear(const spec::Training& training) {
  constexpr std::array<std::string_view, 7> linear{"q", "k", "v", "o", "gate", "up", "down"};
  return std::ranges::all_of(linear, [&](std::string_view target) { return adapts(training, target); });
}

std::string module_names(const spec::Training& training, std::string_view between) {
  if (adapts_all_linear(training)) return std::string(all_linear);
  return quantity::joined(quantity::mapped(training.adapter.targets, module_of), between);
}

}  // namespace llmcalc::dialects
