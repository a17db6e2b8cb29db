#include "answer/parts.hpp"
#include "llmcalc/quantity/format.hpp"
#include "llmcalc/spec/names.hpp"

#include <fmt/format.h>

namespace llmcalc::answer {

using spec::name_of;

namespace {

/// The field's rule of thumb for pre-training: below some 200 B tokens a model is under-trained for general use.
constexpr double fewest_pretraining_tokens = 200e9;

}  // namespace

std::vector<std::string> notes(const spec::Question& question) {
  std::vector<std::string> lines;
  const bool modelled = question.training.method == spec::Method::full || question.training.adapter.rank > 0;
  if (!modelled) {
    lines.push_back(
        fmt::format("not modelled yet: method '{}' is answered as if nothing were trained but what it names",
                    name_of(question.training.method)));
  }
  return lines;
}

std::vector<std::string> warnings(const spec::Question& question, const Estimate& estimate) {
  std::vector<std::string> lines;
  const auto& data = question.pricing.data;
  const bool stated = data.tokens || data.tokens_per_parameter || data.samples;
  if (stated && quantity::in_tokens(estimate.compute.tokens) < fewest_pretraining_tokens) {
    lines.push_back(fmt::format("{} tokens is little for pre-training; the field's rule of thumb is at least 200B",
                                quantity::format_tokens(estimate.compute.tokens)));
  }
  if (estimate.verdict.kind == VerdictKind::tight) {
    lines.push_back(
        fmt::format("tight: the room left is inside the error bar of {:.0f} %", 100.0 * estimate.verdict.error_share));
  }
  return lines;
}

}  // namespace llmcalc::answer
