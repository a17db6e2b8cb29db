#include "frameworks/inner/profiles.hpp"
#include "frameworks/inner/workspaces.hpp"

namespace llmcalc::frameworks {

namespace {

/// Defaults of deepspeed/runtime/zero/config.py, DeepSpeedZeroConfig.
constexpr ZeroEngine default_engine{
    .reduce_bucket = 500'000'000,
    .gather_bucket = 500'000'000,
    .prefetch_bucket = 50'000'000,
    .smallest_sharded = 100'000,
    .step_group = 1'000'000'000,
};

}  // namespace

/// 16-bit gradients are made in each backward pass and widened for the step; fp32 ones are the flat buffer of
/// BF16_Optimizer, full-size whatever is sharded, to which every 16-bit gradient is added in fp32 behind the backward
/// pass (runtime/bf16_optimizer.py, fp32_groups_gradients_flat and update_hp_grads) and which all ranks reduce whole
/// (runtime/pipe/engine.py, _bf16_reduce_grads).
void apply_deepspeed(const Run& run, Profile& profile) {
  const spec::Training& training = run.training;
  const auto& precision = training.precision;
  profile.exchange.zero = default_engine;
  profile.gradients.persistent = precision.master && precision.grads == formats::Dtype::fp32;
  profile.gradients.accumulation = profile.gradients.persistent ? Accumulation::apart_widened : Accumulation::apart;
  profile.gradients.dummy_weight = false;
  profile.exchange.reduces_whole_gradients = profile.gradients.persistent;
  profile.step.widens_gradients = true;
  profile.narrow.keeps_inputs = false;
  profile.allocator.workspace = product_workspaces(run);
  profile.allocator.allocates_tensors = false;
}

}  // namespace llmcalc::frameworks
