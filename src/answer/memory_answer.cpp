#include "answer/parts.hpp"

#include "llmcalc/program/count.hpp"

#include <fmt/format.h>

#include <cmath>

namespace llmcalc::answer {

using memory::Phase;
using quantity::Bytes;
using quantity::bytes;
using quantity::in_bytes;

namespace {

/// The course rule of thumb: fp32 training takes 4 bytes of weights and "20 extra bytes a parameter": 4 of gradients, 8
/// of AdamW states and 8 of activations and temporary memory (Hugging Face, "Anatomy of model's memory").
constexpr std::int64_t rule_of_thumb_bytes = 8;

/// "layer 31 of 32", "head", "embedding"; positions count blocks, of which the first is the embedding.
std::string place_of(const Walks& walks, const memory::PhasePeak& peak) {
  if (peak.phase == Phase::optimizer) return "optimizer step";
  const auto position = static_cast<std::size_t>(peak.position);
  const std::string_view pass = peak.phase == Phase::backward ? "backward" : "forward";
  const auto& block = walks.program.blocks[walks.program.sequence[position]];
  if (block.name != "layer") return fmt::format("{} of {}", pass, block.name);
  return fmt::format("{} of layer {} of {}", pass, peak.position, walks.program.sequence.size() - 2);
}

Bytes scaled(Bytes size, double factor) {
  return bytes(static_cast<std::int64_t>(std::ceil(static_cast<double>(in_bytes(size)) * factor)));
}

/// The textbook totals have no phases: states, and at most a flat share for everything else.
void apply_textbook(const spec::Question& question, const Walks& walks, MemoryAnswer& answer) {
  const std::int64_t share = question.training.activations == spec::ActivationModel::rule_of_thumb ? rule_of_thumb_bytes : 0;
  const auto& states = walks.memory.persistent;
  const Bytes total = states.weights + states.master + states.gradients + states.optimizer +
                      bytes(quantity::product(walks.size.total, share));
  answer.peak_allocated = answer.peak_first_step = answer.peak_reserved = answer.peak_device = total;
  answer.persistent = total;
  answer.peak_phase = Phase::backward;
  answer.peak_place = "no phases: textbook totals";
  for (auto& phase : answer.phases) phase.allocated = total;
}

}  // namespace

MemoryAnswer memory_answer(const spec::Question& question, const Walks& walks) {
  const auto& peak = walks.memory.peak();
  MemoryAnswer answer;
  for (const auto& phase : walks.memory.steady) answer.phases.push_back({phase.phase, phase.alive.total()});
  answer.peak_phase = peak.phase;
  answer.peak_place = place_of(walks, peak);
  answer.persistent = walks.memory.persistent.total();
  answer.peak_first_step = walks.memory.first_peak().alive.total();
  answer.peak_allocated = peak.alive.total();
  answer.peak_reserved = scaled(answer.peak_allocated, walks.profile.reserved_over_allocated);
  answer.peak_device = answer.peak_reserved + walks.profile.context;
  if (question.training.activations != spec::ActivationModel::program) apply_textbook(question, walks, answer);
  answer.ledger = ledger(question, walks, answer);
  return answer;
}

}  // namespace llmcalc::answer
