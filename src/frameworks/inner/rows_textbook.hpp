// The textbook, and programs of which no more is known than it says.
#pragma once

#include "frameworks/inner/ability_sets.hpp"
#include "frameworks/inner/conditions.hpp"
#include "frameworks/inner/profiles.hpp"

namespace llmcalc::frameworks {

inline constexpr Default textbook_defaults[] = {
    {"dtype", "bf16", "the textbook's 2 + 2 + 8 bytes a parameter"},
    {"weights", "nf4-dq", "Dettmers et al. 2023, arXiv:2305.14314 section 3", is_qlora},
};

inline constexpr Default pax_defaults[] = {
    {"dtype", "mixed-bf16", "praxis base_layer.py: fprop_dtype"},
};

constexpr std::string_view maxtext_file = "MaxText 0.2.4 configs/base.yml";

inline constexpr Default maxtext_defaults[] = {
    {"weights", "nf4", "the one type of its 4-bit bases", is_qlora},
    {"dtype", "mixed-bf16", maxtext_file},
    {"seq", "2048", maxtext_file},
    {"micro_batch", "12", maxtext_file},
    {"recompute", "full", "MaxText 0.2.4 configs/base.yml: remat_policy", can_recompute},
    {"sharding", "zero3", "MaxText 0.2.4 configs/base.yml: ici_fsdp_parallelism=-1", on_several},
};

inline constexpr Abilities pax_abilities{
    .methods = pretraining.with({Method::lora}),
    .algorithms = next_token,
    .shardings = replicas.with(zero),
    .splits = all_splits,
    .exchanges = ring,
    .schedules = one_f_one_b.with({Schedule::gpipe}),
    .offloads = offload_activations.with(no_offload),
    .optimizers = of_torch.with({Optimizer::lion, Optimizer::shampoo, Optimizer::lamb}),
    .quantized = whole_weights,
    .narrow = fp8,
    .losses = standard_loss,
};

inline constexpr Abilities maxtext_abilities{
    .methods = pretraining.with({Method::lora, Method::qlora}),
    .algorithms = all_algorithms.without({Algorithm::kto, Algorithm::ppo}),
    .shardings = replicas.with(zero),
    .splits = {Parallelism::tensor, Parallelism::sequence, Parallelism::pipeline, Parallelism::virtual_stages,
               Parallelism::context, Parallelism::experts},
    .exchanges = both_exchanges,
    .schedules = one_f_one_b.with({Schedule::gpipe}),
    .offloads = every_offload,
    .optimizers = adamw_alone.with({Optimizer::sgd, Optimizer::muon}),
    .quantized = {Dtype::nf4},
    .narrow = all_narrow,
    .losses = chunked_loss,
    .savings = maxtext_savings,
};

constexpr Space jax_space(List<Schedule> schedules, List<Offload> offloads) {
  Space space = textbook_space;
  space.schedules = schedules;
  space.offloads = offloads;
  return space;
}

/// JAX and torch_xla hand whole programs to XLA.
constexpr Abilities under_xla(Abilities abilities) {
  abilities.under_xla = true;
  return abilities;
}

inline constexpr FrameworkRow textbook_rows[] = {
    {.framework = spec::Framework::generic,
     .words = {"generic", "textbook"},
     .title = "the textbook",
     .states = StateRecipe::textbook,
     .engine = TrainingEngine::own,
     .profile = &textbook_profile,
     .space = textbook_space,
     .abilities = under_xla(everything),
     .defaults = textbook_defaults,
     .half = HalfPrecision::pure,
     .memory_runs = MemoryRuns::textbook,
     .time_runs = TimeRuns::few,
     .measured = {}},
    {.framework = spec::Framework::pax,
     .words = {"pax", "paxml"},
     .title = "Pax",
     .states = StateRecipe::torch,
     .engine = TrainingEngine::own,
     .profile = &pax_profile,
     .space = jax_space({Schedule::one_f_one_b, Schedule::gpipe}, {Offload::none, Offload::activations}),
     .abilities = under_xla(pax_abilities),
     .defaults = pax_defaults,
     .half = HalfPrecision::autocast,
     .memory_runs = MemoryRuns::textbook,
     .time_runs = TimeRuns::few,
     .measured = "its documentation"},
    {.framework = spec::Framework::maxtext,
     .words = {"maxtext"},
     .title = "MaxText",
     .states = StateRecipe::torch,
     .engine = TrainingEngine::own,
     .profile = &maxtext_profile,
     .space = jax_space({Schedule::one_f_one_b, Schedule::gpipe}, all_offloads),
     .abilities = under_xla(maxtext_abilities),
     .defaults = maxtext_defaults,
     .half = HalfPrecision::autocast,
     .memory_runs = MemoryRuns::textbook,
     .time_runs = TimeRuns::few,
     .measured = {}},
};

}  // namespace llmcalc::frameworks
