#include "answer/levels.hpp"

#include "answer/inner/cached.hpp"
#include "answer/inner/parts.hpp"
#include "layers/widths.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/question.hpp"
#include "memory/communicators.hpp"
#include "spec/node.hpp"
#include "spec/traits.hpp"
#include "trust/error_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

namespace llmcalc::answer {

using quantity::Bytes;
using quantity::bytes;
using quantity::in_bytes;

namespace {

/// The rule of thumb of courses (DeepLearning.AI, Generative AI with large language models): fp32 training takes 4
/// bytes of weights and "20 extra bytes a parameter": 4 of gradients, 8 of AdamW states and 8 of activations and
/// temporary memory (Hugging Face, "Anatomy of model's memory").
constexpr std::int64_t rule_of_thumb_bytes = 8;

/// \throws quantity::BadInput when the pipeline has no such stage
std::int64_t chosen_stage(const spec::Question& question) {
  const std::int64_t stages = question.layout.pp;
  const auto& rank = question.rank;
  if (rank.kind == spec::RankChoice::Kind::first) return 0;
  if (rank.kind == spec::RankChoice::Kind::last) return stages - 1;
  if (rank.stage < stages) return rank.stage;
  throw quantity::BadInput(
      "--rank", fmt::format("pp={} is not a stage; the pipeline has stages 0 to {}", rank.stage, stages - 1));
}

/// The textbook totals have no phases and no runtime: states, and of training at most a flat share for everything else.
Bytes textbook_total(const spec::Question& question, const memory::Moment& states, std::int64_t parameters) {
  const bool trains = spec::has_backward_pass(question.training.method);
  const bool by_rule = trains && question.training.activations == spec::ActivationModel::rule_of_thumb;
  return states.states() + bytes(quantity::product(by_rule ? rule_of_thumb_bytes : 0, parameters));
}

constexpr Bytes unlimited = bytes(std::numeric_limits<std::int64_t>::max());

}  // namespace

frameworks::Profile profile_of(const spec::Question& question) {
  const spec::Sharding sharding = question.layout.sharding;
  frameworks::Profile profile = frameworks::make_profile(question.training, question.gpu, sharding);
  const spec::Runtime& given = question.runtime;
  profile.measured.context = given.context.value_or(profile.measured.context);
  profile.measured.needed_bias = question.calibration.memory.factor;
  profile.allocator.workspace = given.workspace.value_or(profile.allocator.workspace);
  profile.measured.reserved_over_allocated = given.reserved_ratio.value_or(profile.measured.reserved_over_allocated);
  return profile;
}

memory::StepMemory walk_stage(const memory::StepWalk& step, const spec::Question& question) {
  const bool every = question.rank.kind == spec::RankChoice::Kind::max;
  memory::StepMemory memory = every ? step.walk_worst() : step.walk(chosen_stage(question));
  if (question.training.eval_batch > 0) add_evaluation(question, memory);
  add_checkpoint(step.program(), question, memory);
  add_loading(step.program(), step.profile().quantized.loading_bytes, memory);
  return memory;
}

Bytes host_need(const memory::StepWalk& step, const spec::Question& question) {
  if (!spec::uses_host(question)) return {};
  const auto saving = memory::highest_checkpoint_needs(step.program(), question);
  return spec::host_need_of(question, step.highest_host() + saving.host_of_each) + saving.host_of_first;
}

Bytes needed_level(const frameworks::Profile& profile, Bytes allocated, Bytes beside) {
  const Bytes own = scaled(allocated, profile.measured.reserved_over_allocated) + profile.measured.context;
  const Bytes all = own + beside;
  return profile.measured.needed_bias == 1.0 ? all : scaled(all, profile.measured.needed_bias);
}

Levels levels(const spec::Question& question, const frameworks::Profile& profile, const memory::StepMemory& memory,
              std::int64_t parameters) {
  if (question.training.activations != spec::ActivationModel::program) {
    const Bytes total = textbook_total(question, memory.persistent, parameters);
    return {total, total, total, total};
  }
  const Bytes allocated = memory.peak().alive.total();
  const Bytes beside = memory::beside_trainer(question);
  const Bytes needed = needed_level(profile, allocated, beside);
  const Bytes outside = beside + profile.measured.context;
  const Bytes capacity = trust::capacity_of(question).value_or(unlimited);
  const Bytes cached = cached_level(question, profile, memory, capacity - outside);
  const Bytes device = std::max(needed, std::min(cached + outside, capacity));
  return {allocated, device - outside, device, needed};
}

}  // namespace llmcalc::answer
