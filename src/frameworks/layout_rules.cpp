#include "frameworks/layout_rules.hpp"

#include "frameworks/release.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <cmath>
#include <string>

namespace llmcalc::frameworks {

using quantity::product;
using spec::CudaGraph;
using spec::Layout;
using spec::Method;
using spec::Offload;
using spec::OffloadTarget;
using spec::RecomputePolicy;
using spec::Schedule;
using spec::Sharding;

namespace {

// The conditions of presets/layouts/rules.rows.

bool learns_positions(const LayoutUse& use) { return use.training.adapter.virtual_tokens > 0; }

std::int64_t layers(const LayoutUse& use) { return use.shape.layers + use.shape.decoder_layers; }

bool is_core(const spec::Training& training) {
  return row_of(training.framework).engine == TrainingEngine::megatron_core;
}

bool has_grouped_heads(const LayoutUse& use) { return use.shape.latent.kv_rank == 0; }

/// Ranks that are several times as many as the key and value heads: a single head is everybody's, and newer cores of
/// Megatron gather others. torchtitan has no such layout (pull request 4016).
bool shares_heads(const LayoutUse& use) {
  if (!is_core(use.training)) return use.shape.kv_heads == 1;
  return use.layout.tp % use.shape.kv_heads == 0 && holds(Behaviour::core_gathers_heads, use.training.software);
}

bool cuts_tower_unevenly(const LayoutUse& use) {
  const auto is_uneven = [&](const spec::Tower& tower) { return tower.layers.heads % use.layout.tp != 0; };
  return use.training.towers != spec::TowerUse::absent && std::ranges::any_of(use.shape.towers, is_uneven);
}

bool has_experts_for(std::int64_t ranks, const spec::MoeShape& moe) {
  return moe.experts > 0 && moe.experts % ranks == 0;
}

bool exchanges_heads(const LayoutUse& use) {
  return use.layout.cp > 1 && use.layout.cp_exchange == spec::ContextExchange::all_to_all;
}

std::int64_t head_ranks(const LayoutUse& use) { return product(use.layout.tp, use.layout.cp); }

/// Stages whose number of layers is said leave the others as many layers each, and at least one a virtual stage.
bool leaves_others_short(const LayoutUse& use) {
  const Layout& l = use.layout;
  const std::int64_t chunks = product(l.pp - (l.first_stage_layers ? 1 : 0) - (l.last_stage_layers ? 1 : 0), l.vpp);
  const std::int64_t left = use.shape.layers - l.first_stage_layers.value_or(0) - l.last_stage_layers.value_or(0);
  return chunks == 0 ? left != 0 : left < chunks || left % chunks != 0;
}

bool moves_states(Offload offload) { return offload != Offload::none && offload != Offload::activations; }

bool runs_deepspeed(const spec::Training& training) {
  return row_of(training.framework).engine == TrainingEngine::deepspeed;
}

bool shards_by_deepspeed(const LayoutUse& use) {
  return runs_deepspeed(use.training) || hands_to_deepspeed(use.training, use.layout.sharding);
}

bool offloads_inputs_alone(const spec::Training& training) { return row_of(training.framework).offloads_inputs_alone; }

/// XLA places any array, and a textbook run may have it as it likes.
bool offloads_shards(const spec::Training& training) {
  const FrameworkRow& row = row_of(training.framework);
  return !row.under_xla && row.states != StateRecipe::textbook;
}

bool splits_by_accelerate(const spec::Training& training) { return row_of(training.framework).splits_by_accelerate; }

bool cuts_by_accelerate(const LayoutUse& use) {
  const auto sharding = use.layout.sharding;
  if (use.layout.cp_exchange == spec::ContextExchange::all_to_all) return hands_to_deepspeed(use.training, sharding);
  return sharding == Sharding::fsdp2 || sharding == Sharding::hsdp;
}

bool quantizes_on_one(const spec::Training& training) { return row_of(training.framework).quantizes_on_one; }

/// ZeRO-Infinity belongs to stage 3 of DeepSpeed (Rajbhandari et al. 2021, arXiv:2104.07857); a textbook run may have
/// it as it likes.
bool swaps_to_drives(const LayoutUse& use) {
  const bool deepspeed = shards_by_deepspeed(use) && use.layout.sharding == Sharding::zero3;
  return deepspeed || row_of(use.training.framework).states == StateRecipe::textbook;
}

std::int64_t chunks(const Layout& layout) { return product(layout.pp, layout.vpp); }

/// The embedding and the loss.
constexpr std::int64_t ends = 2;

bool overlaps_experts(const LayoutUse& use) { return use.layout.expert_overlap && use.layout.ep > 1; }

constexpr LayoutRule rules[] = {
#include "layouts/rules.inc"
};

template <class IsAsked>
const LayoutRule* first_broken(const LayoutUse& use, const IsAsked& is_asked) {
  const auto breaks = [&](const LayoutRule& rule) { return is_asked(rule) && rule.broken(use); };
  return quantity::find_if_or_null(rules, breaks);
}

}  // namespace

std::span<const LayoutRule> layout_rules() { return rules; }

bool counts_ends_as_layers(const LayoutUse& use) {
  const Layout& l = use.layout;
  if (!is_core(use.training) || l.pp == 1 || l.first_stage_layers || l.last_stage_layers ||
      use.shape.decoder_layers > 0)
    return false;
  return use.shape.layers % chunks(l) != 0 && (use.shape.layers + ends) % chunks(l) == 0;
}

const LayoutRule* broken_rule(const LayoutUse& use) {
  return first_broken(use, [](const LayoutRule&) { return true; });
}

const LayoutRule* broken_rule(const LayoutUse& use, LooksAt what) {
  return first_broken(use, [&](const LayoutRule& rule) { return rule.looks_at == what; });
}

namespace {

using quantity::BadInput;

struct Count {
  std::string_view term;
  std::int64_t value;
};

/// Everything that something is divided by, or of which nothing would be left.
void check_counts(const spec::Question& question) {
  const spec::Training& t = question.training;
  const spec::Layout& l = question.layout;
  const Count counts[] = {{"seq", t.seq},
                          {"micro_batch", t.micro_batch},
                          {"grad_accum", t.grad_accum},
                          {"global_batch", t.global_batch},
                          {"recompute", t.recompute.count},
                          {"gpus", l.gpus},
                          {"nodes", l.nodes},
                          {"dp", l.dp},
                          {"tp", l.tp},
                          {"pp", l.pp},
                          {"vpp", l.vpp},
                          {"cp", l.cp},
                          {"ep", l.ep},
                          {"etp", l.etp}};
  for (const Count& count : counts) {
    if (count.value < 1) throw BadInput(std::string(count.term), fmt::format("{} is less than 1", count.value));
  }
}

void check_products(const spec::Question& question) {
  const spec::Layout& l = question.layout;
  if (quantity::product(l.dp, l.tp, l.pp, l.cp) == l.gpus) return;
  throw BadInput("gpus", fmt::format("{} are not dp x tp x pp x cp", l.gpus));
}

void check_rates(const spec::Question& question) {
  const auto& mfu = question.pricing.mfu;
  if (mfu && !(*mfu > 0.0 && *mfu <= 1.0)) throw BadInput("mfu", fmt::format("{} is no share above 0", *mfu));
  const auto& ratio = question.runtime.reserved_ratio;
  if (ratio && !(*ratio >= 1.0 && std::isfinite(*ratio))) {
    throw BadInput("reserved_ratio", fmt::format("{} is less than 1", *ratio));
  }
}

/// Without them nothing has a speed.
void check_accelerator(const spec::Question& question) {
  if (!question.gpu || question.gpu->rates.known()) return;
  throw BadInput("gpu", "no rates were looked up for '" + question.gpu->id + "'", "read::Catalogue::add_rates");
}

void check_layout(const spec::Question& question) {
  const auto* rule = broken_rule({question.model.shape, question.training, question.layout});
  if (rule == nullptr) return;
  throw BadInput(std::string(rule->term), fmt::format("contradicts {}: {}", rule->other, rule->why),
                 std::string(rule->hint));
}

}  // namespace

void check_question(const spec::Question& question) {
  if (question.model.layers.empty()) throw BadInput("layers", "the model was not built", "spec::build_model(shape)");
  check_counts(question);
  check_products(question);
  check_rates(question);
  check_accelerator(question);
  check_layout(question);
}

}  // namespace llmcalc::frameworks
