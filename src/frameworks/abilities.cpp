#include "frameworks/abilities.hpp"

#include "frameworks/table.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>

namespace llmcalc::frameworks {

using spec::Question;

namespace {

/// The ability that a term of the vocabulary asks of a framework.
struct Demand {
  std::string_view term;
  bool (*is_met)(const Abilities& can, const Question& question);
};

bool is_split(std::int64_t ranks, Parallelism way, const Abilities& can) { return ranks == 1 || can.splits.has(way); }

bool is_asked(const Saving& saving, const Question& question) {
  const auto way = question.training.save_checkpoint;
  return way == spec::SaveCheckpoint::framework || saving.way == way;
}

bool saves_as_asked(const Abilities& can, const Question& question) {
  const auto is_way = [&](const Saving& saving) { return is_asked(saving, question); };
  return question.training.save_checkpoint == spec::SaveCheckpoint::none || std::ranges::any_of(can.savings, is_way);
}

/// No trainer adds up gradients in integers; courses count them so.
bool takes_gradients(const Abilities& /*can*/, const Question& question) {
  const bool is_textbook = row_of(question.training.framework).states == StateRecipe::textbook;
  return is_textbook || question.training.precision.grads != formats::Dtype::int8;
}

constexpr Demand demands[] = {
#include "layouts/demands.inc"
};

}  // namespace

std::string_view unable_to(spec::Framework framework, const Question& question) {
  const Abilities& can = row_of(framework);
  const auto found = std::ranges::find_if(demands, [&](const Demand& demand) { return !demand.is_met(can, question); });
  return found == std::end(demands) ? std::string_view() : found->term;
}

std::vector<std::string_view> able_to(std::string_view term, const Question& question) {
  constexpr std::size_t enough = 5;
  const auto demand = std::ranges::find(demands, term, &Demand::term);
  const TrainingEngine engine = row_of(question.training.framework).engine;
  std::vector<std::string_view> words;
  const auto add = [&](bool relatives) {
    for (const FrameworkRow* row : rows()) {
      if ((row->engine == engine) != relatives || row->states == StateRecipe::textbook) continue;
      if (demand->is_met(*row, question) && words.size() < enough) words.push_back(row->words.front());
    }
  };
  add(true);
  add(false);
  return words;
}

/// A way that was asked for by name is taken where the framework would do otherwise.
const Saving* saving_of(const spec::Question& question) {
  if (question.training.save_checkpoint == spec::SaveCheckpoint::none) return nullptr;
  const auto savings = row_of(question.training.framework).savings;
  const auto is_way = [&](const Saving& saving) { return is_asked(saving, question); };
  const auto holds = [&](const Saving& saving) {
    return is_way(saving) && (saving.holds == nullptr || saving.holds(question));
  };
  auto found = std::ranges::find_if(savings, holds);
  if (found == savings.end()) found = std::ranges::find_if(savings, is_way);
  return found == savings.end() ? nullptr : &*found;
}

namespace {

bool delays_scales(formats::Dtype compute) {
  return formats::is_narrow_float(compute) && formats::facts(compute).scale.block == 0;
}

/// Whether recomputing it alone is worth a try: the MLPs of a mixture are its dense layers, which are few. What
/// Megatron Core refuses (core/transformer/transformer_config.py): experts that run one after another, and 8-bit
/// products whose scales are delayed, as its command line has them unasked.
bool may_recompute(spec::RecomputeModule module, const spec::Question& question) {
  using enum spec::RecomputeModule;
  const auto& [shape, training] = std::tie(question.model.shape, question.training);
  const bool is_mixture = shape.moe.experts > 0;
  switch (module) {
    case mla_up_proj: return shape.latent.kv_rank > 0;
    case moe_act: return is_mixture && training.grouped_experts && !delays_scales(training.precision.compute);
    case moe: return is_mixture;
    case shared_experts: return shape.moe.shared_ffn > 0;
    case mlp: return !is_mixture;
    case core_attn:
    case layernorm: return true;
  }
  return false;
}

}  // namespace

/// The attention core has next to nothing to compute again where its kernel keeps no scores (Megatron Core warns of it:
/// "for fused attention, you have no need to set core_attn") and the product behind it keeps what it made; one of fewer
/// bits keeps a copy of its own.
std::vector<spec::Recompute> ways_to_recompute(const spec::Question& question) {
  using enum spec::RecomputePolicy;
  const FrameworkRow& row = row_of(question.training.framework);
  std::vector<spec::Recompute> ways;
  std::vector<spec::RecomputeModule> modules;
  const auto add = [&](spec::RecomputePolicy policy) {
    if (row.recomputes.has(policy)) ways.push_back({policy, spec::RecomputeLayers::all, 1, modules, {}});
  };
  add(none);
  for (const spec::RecomputeModule module : row.space.modules) {
    if (!may_recompute(module, question)) continue;
    modules.push_back(module);
    add(selective);
  }
  const auto& training = question.training;
  const bool keeps_more =
      training.attention != spec::AttentionKernel::flash || formats::is_narrow_float(training.precision.compute);
  const bool covers_core = modules.empty() || keeps_more;
  modules.clear();
  if (covers_core) add(selective);
  add(full);
  return ways;
}

}  // namespace llmcalc::frameworks
