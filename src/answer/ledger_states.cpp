// The ledger's lines of what rests between steps: the model's own states and those of models beside it.
#include "answer/inner/ledger.hpp"
#include "answer/inner/optimizer_source.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::answer {

using memory::Holding;
using spec::name_of;

namespace {

/// Bytes of an element, of types that have no scales.
std::int64_t width_of(formats::Dtype dtype) {
  const auto& facts = formats::facts(dtype);
  return facts.scale.block == 0 && facts.bits >= 8 ? facts.bits / 8 : 0;
}

/// "bf16", or "bf16, with fp8-e4m3 copies" where narrow products keep some beside what rests.
std::string types_of_weights(const spec::Precision& precision, const program::Program& program) {
  std::string types(name_of(precision.weights));
  for (const auto& block : program.blocks) {
    const auto copied = std::ranges::find_if(block.weights, [](const auto& w) { return w.copies > 0; });
    if (copied != block.weights.end()) return fmt::format("{}, with {} copies", types, name_of(copied->copy_type));
  }
  return types;
}

}  // namespace

void Ledger::weights(const memory::Moment& alive) {
  const auto& precision = question_.training.precision;
  const std::int64_t trained = walks_.size.trainable;
  add({Holding::weights,
       fmt::format("weights ({})", types_of_weights(precision, walks_.program)),
       alive.weights,
       {"parameters x bytes of the resting type",
        per_parameter(alive.weights, walks_.size.total, width_of(precision.weights)),
        "Rajbhandari et al. 2020, arXiv:1910.02054 section 3.1"}});
  add({Holding::adapters,
       fmt::format("adapters ({})", name_of(precision.grads)),
       alive.adapters,
       {"trained parameters beside the model x bytes of their type", per_parameter(alive.adapters, trained),
        "Hu et al. 2021, arXiv:2106.09685 section 4.1; peft, autocast_adapter_dtype"}});
}

void Ledger::update(const memory::Moment& alive) {
  const auto& training = question_.training;
  const auto& precision = training.precision;
  const std::int64_t trained = walks_.size.trainable;
  const std::int64_t wide = width_of(precision.master_type);
  add({Holding::master_weights,
       fmt::format("master weights ({})", name_of(precision.master_type)),
       alive.master,
       {fmt::format("trained parameters x {} B", wide), per_parameter(alive.master, trained, wide),
        "Micikevicius et al. 2018, arXiv:1710.03740 section 3.1"}});
  add({Holding::gradients,
       fmt::format("gradients ({})", name_of(precision.grads)),
       alive.gradients,
       {"trained parameters x bytes of the gradient type",
        per_parameter(alive.gradients, trained, width_of(precision.grads)),
        "Rajbhandari et al. 2020, arXiv:1910.02054 section 3.1"}});
  add({Holding::optimizer_states,
       fmt::format("optimizer states ({}, {})", name_of(training.optimizer), name_of(precision.moments)),
       alive.optimizer,
       {"states of each tensor, to the byte", per_parameter(alive.optimizer, trained),
        std::string(source_of(training.optimizer))}});
}

void Ledger::states(const memory::Moment& alive) {
  weights(alive);
  update(alive);
  companions(alive);
}

void Ledger::companions(const memory::Moment& alive) {
  const std::int64_t total = walks_.size.total;
  const auto weights = name_of(question_.training.precision.weights);
  add({Holding::reference_model,
       fmt::format("reference model ({})", weights),
       alive.reference,
       {"parameters x bytes of the resting type; frozen", per_parameter(alive.reference, total),
        "Rafailov et al. 2023, arXiv:2305.18290 eq. 7; Ouyang et al. 2022, arXiv:2203.02155 appendix C"}});
  add({Holding::reward_model,
       fmt::format("reward model ({})", weights),
       alive.reward,
       {"the model with one output a sample instead of its head; frozen", exact_bytes(alive.reward),
        "Ouyang et al. 2022, arXiv:2203.02155 section 3.5"}});
  add({Holding::value_model,
       fmt::format("value model ({}, trained)", weights),
       alive.value,
       {"weights, gradients and optimizer states of a model with one output a position", exact_bytes(alive.value),
        "Ouyang et al. 2022, arXiv:2203.02155 section 3.5 and appendix C"}});
}

}  // namespace llmcalc::answer
