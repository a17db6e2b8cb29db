#include "answer/parts.hpp"
#include "llmcalc/quantity/format.hpp"
#include "llmcalc/spec/names.hpp"

#include <fmt/format.h>

namespace llmcalc::answer {

using spec::name_of;

namespace {

/// The field's rule of thumb for pre-training: below some 200 B tokens a model is under-trained for general use.
constexpr double fewest_pretraining_tokens = 200e9;

/// Methods whose own tensors the program does not list yet: they are answered as a frozen base alone.
bool is_frozen_base_only(const spec::Training& training) {
  using spec::Method;
  switch (training.method) {
    case Method::ia3:
    case Method::prompt:
    case Method::prefix:
      return true;
    case Method::adapter:
      return training.framework != spec::Framework::litgpt;
    default:
      return false;
  }
}

std::vector<std::string> not_modelled(const spec::Training& training) {
  std::vector<std::string> lines;
  if (is_frozen_base_only(training)) {
    lines.push_back(
        fmt::format("not modelled: what method '{}' adds; the frozen model is counted", name_of(training.method)));
  }
  if (training.method == spec::Method::adalora) {
    lines.push_back("not modelled: AdaLoRA's own parameters; its adapters are counted as LoRA's");
  }
  return lines;
}

/// What a run keeps elsewhere than on the accelerator.
std::vector<std::string> kept_elsewhere(const memory::StepMemory& memory) {
  std::vector<std::string> lines;
  if (quantity::in_bytes(memory.host) > 0) {
    lines.push_back(fmt::format("host memory of this rank: {}", quantity::format_gib(memory.host)));
  }
  if (quantity::in_bytes(memory.paged) > 0) {
    lines.push_back(
        fmt::format("paged optimizer states, not counted above because the driver may move them to the host: {}",
                    quantity::format_gib(memory.paged)));
  }
  return lines;
}

}  // namespace

std::vector<std::string> notes(const spec::Question& question, const Walks& walks) {
  std::vector<std::string> lines = not_modelled(question.training);
  for (auto& line : kept_elsewhere(walks.memory)) lines.push_back(std::move(line));
  return lines;
}

std::vector<std::string> warnings(const spec::Question& question, const Estimate& estimate) {
  std::vector<std::string> lines;
  const auto& data = question.pricing.data;
  const bool stated = data.tokens || data.tokens_per_parameter || data.samples;
  const bool pretrains = question.training.method == spec::Method::full;
  if (pretrains && stated && quantity::in_tokens(estimate.compute.tokens) < fewest_pretraining_tokens) {
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
