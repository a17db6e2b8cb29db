
#include "answer/inner/parts.hpp"
#include "frameworks/table.hpp"
#include "layers/widths.hpp"
#include "llmcalc/quantity/error.hpp"
#include "memory/cache_walk.hpp"
#include "memory/communicators.hpp"
#include "memory/stage_walk.hpp"
#include "spec/node.hpp"
#include "spec/traits.hpp"
#include "trust/error_bar.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::answer {

using frameworks::MemoryRuns;
using memory::Phase;
using quantity::Bytes;
using quantity::bytes;
using quantity::in_bytes;

namespace {

constexpr double too_much = 9.2e18;  // 2^63 bytes, which an integer of 64 bits cannot hold

/// A size times a measured factor, rounded up.
/// \throws quantity::Overflow
Bytes scaled(Bytes size, double factor) {
  const double product = std::ceil(static_cast<double>(in_bytes(size)) * factor);
  if (product >= too_much) throw quantity::Overflow("a size beyond 2^63 bytes");
  return bytes(static_cast<std::int64_t>(product));
}

const memory::Moment& highest_of(const memory::StepMemory& memory, Phase phase) {
  return memory.steady[static_cast<std::size_t>(phase)].alive;
}

/// On one rank of those that share the sequence and the vocabulary.
std::int64_t logits_of(const spec::Question& question) {
  const std::int64_t tokens = question.training.micro_batch_tokens() / question.layout.cp;
  if (question.model.shape.headless) return 0;
  return quantity::product(tokens, question.model.shape.vocab / question.layout.tp);
}

bool shards_by_parameter(spec::Sharding sharding) {
  return sharding == spec::Sharding::fsdp2 || sharding == spec::Sharding::hsdp;
}

/// Per-parameter sharding allocates what it gathers and reduces on streams of its own, and blocks never change streams
/// (torch/distributed/fsdp/_fully_shard/_fsdp_collectives.py, foreach_all_gather and foreach_reduce). Segments that
/// grow exist on CUDA alone (c10/cuda/CUDACachingAllocator.cpp, PYTORCH_C10_DRIVER_API_SUPPORTED).
bool has_pools(const spec::Question& question, const frameworks::Profile& profile) {
  const bool grows = spec::can(question.gpu, spec::Ability::grows_segments);
  return profile.allocator.pools_by_stream && shards_by_parameter(question.layout.sharding) && grows;
}

/// Bytes that the streams' pools hold: at the peak of all else, in whose pool is the place of the 16-bit logits that
/// the eager loss has already let go, some sharded gradients are there, and nothing of what weights were gathered into
/// before they were copied out: those outside the layers, and a layer's.
Bytes pooled(const spec::Question& question, const frameworks::Profile& profile, const memory::StepMemory& memory) {
  const auto& alive = memory.peak().alive;
  const bool eager = profile.head.eager_loss && !profile.head.narrow_loss_kernel;
  const std::int64_t logits = eager ? logits_of(question) : 0;
  const Bytes gradients = std::max(bytes(0), highest_of(memory, Phase::optimizer).gradients - alive.gradients);
  return alive.total() + gradients + memory.gathering + bytes(quantity::product(logits, layers::half_width));
}

/// Whether PyTorch's kernels make the loss of whole fp32 logits, each result in a tensor of its own.
bool widens_all_logits(const spec::Question& question, const frameworks::HeadChoices& head) {
  using enum spec::Loss;
  const spec::Loss loss = question.training.loss;
  const bool of_family = head.narrow_by_family && question.model.shape.writing.narrow_loss;
  const bool stays_narrow = of_family || (head.in_own_type && !question.training.precision.autocast);
  return head.eager_loss && !head.narrow_loss_kernel && !head.fuses_loss && head.positions_at_once == 0 &&
         !stays_narrow && (loss == standard || loss == fused);
}

/// Bytes a logit of the blocks that the loss leaves in the cache. A free block serves a tensor that fits it, and what
/// the loss makes differs in size by the width or by the last position, which a shifted copy lacks: the 16-bit logits,
/// the fp32 ones, their copy, the log-probabilities and a gradient, of which only those of equal shape share a block
/// (pytorch c10/cuda/CUDACachingAllocator.cpp, get_free_block; transformers loss/loss_utils.py). A fused kernel has no
/// log-probabilities and writes the gradient over its input.
std::int64_t loss_blocks(const spec::Question& question, const frameworks::Profile& profile) {
  if (!widens_all_logits(question, profile.head)) return 0;
  const bool whole = profile.kernels.transformers_modules && question.training.micro_batch == 1;
  const bool copies = profile.head.shifts_logits && !whole;
  const bool in_place = question.training.loss == spec::Loss::fused;
  const std::int64_t wide_blocks = in_place ? (copies ? 3 : 1) : (copies ? 4 : 3);
  return layers::half_width + wide_blocks * layers::fp32_width;
}

// What a layer's tensors leave unused of the blocks around them, over what the passes allocate. With losses that make
// no logits it is 0.11 to 0.14 in 22 runs of adapters on one A100, and 0.20 to 0.28 where layers are gathered from
// their shards (fms-acceleration scripts/benchmarks/refs/a100_80gb_liger.csv).
constexpr double unused_alone = 0.13;
constexpr double unused_gathering = 0.22;

bool gathers_layers(const spec::Question& question) {
  return spec::is_fsdp(question.layout.sharding) && question.layout.dp > 1;
}

/// The gradients and temporaries of the update that the passes have not.
Bytes made_by_step(const memory::StepMemory& memory) {
  const auto& step = highest_of(memory, Phase::optimizer);
  return std::max(bytes(0), step.gradients + step.temporaries - highest_of(memory, Phase::backward).gradients);
}

/// Gradients and temporaries that lie beside the passes' blocks on one card. Where layers keep what they made, both
/// take the blocks that the backward pass has let go; a checkpointed layer's are fewer (22 and 12 runs of full tuning
/// on one H100: tests/measured/h100-trainers.csv).
Bytes left_by_step(const spec::Question& question, const memory::StepMemory& memory) {
  const bool checkpoints = question.training.recompute.policy == spec::RecomputePolicy::full;
  return checkpoints ? made_by_step(memory) : bytes(0);
}

/// Bytes that sharded runs leave in blocks that no activation fits: gradients and temporaries of the step, which are as
/// small as shards, and quantized weights, which the first rank has whole before they are sharded (transformers
/// quantizers/quantizer_bnb_4bit.py, update_device_map).
Bytes left_by_shards(const spec::Question& question, const memory::StepMemory& memory) {
  const bool transformers = frameworks::row_of(question.training.framework).memory_runs == MemoryRuns::huggingface;
  const bool loads_whole = transformers && formats::is_quantized(question.training.precision.weights);
  return made_by_step(memory) + (loads_whole ? (question.layout.dp - 1) * memory.persistent.weights : bytes(0));
}

/// The blocks of one pool whose sizes vary, of runs that memory/cache_walk.hpp leaves out: those of the passes, those
/// of the loss that none of a layer's serves, and those of the update, whose tensors are as large as weights and fit
/// none of either. Where the card has no room for all of them the allocator gives back what is free and begins anew
/// (pytorch c10/cuda/CUDACachingAllocator.cpp, release_cached_blocks).
Bytes in_one_pool(const spec::Question& question, const frameworks::Profile& profile, const memory::StepMemory& memory,
                  Bytes room) {
  const bool gathers = gathers_layers(question);
  const auto& forward = highest_of(memory, Phase::forward);
  const auto& backward = highest_of(memory, Phase::backward);
  const Bytes rest = memory.persistent.total();
  const Bytes passes = std::max({forward.total(), highest_of(memory, Phase::loss).total(), backward.total()});
  const Bytes of_layers = rest + scaled(passes - rest, 1.0 + (gathers ? unused_gathering : unused_alone));
  const std::int64_t of_loss = quantity::product(loss_blocks(question, profile), logits_of(question));
  const Bytes of_passes = std::max(of_layers, forward.total() + bytes(of_loss));
  if (gathers) return of_passes + left_by_shards(question, memory);
  const Bytes at_loading = memory.persistent.weights + memory.loading;
  const Bytes all = of_passes + left_by_step(question, memory);
  return std::max(at_loading, all <= room ? all : std::max(of_passes, highest_of(memory, Phase::optimizer).total()));
}

/// A freed block serves a tensor that fits it, so that the next matrix of the same size takes the same blocks, and a
/// larger one new ones (pytorch c10/cuda/CUDACachingAllocator.cpp, get_free_block).
void add_loading(const program::Program& program, std::int64_t of_element, memory::StepMemory& memory) {
  if (of_element == 0) return;
  std::set<std::int64_t> sizes;
  for (const auto& run : program::blocks_of_stage(program, memory.stage)) {
    for (const auto& weight : program.blocks[run.block].weights) {
      if (formats::is_quantized(weight.dtype)) sizes.insert(quantity::product(weight.rows, weight.columns));
    }
  }
  for (const std::int64_t size : sizes) memory.loading += quantity::bytes(quantity::product(size, of_element));
}

constexpr Bytes largest_walked = bytes(std::int64_t{1} << 50);  // a thousand accelerators' memory

}  // namespace

/// Torch's max_memory_reserved where nothing but `room` limits it: what does not fit is no business of a cache.
Bytes cached_level(const spec::Question& question, const frameworks::Profile& profile, const program::Program& program,
                   const memory::StepMemory& memory, Bytes room) {
  const Bytes allocated = memory.peak().alive.total();
  const double ratio = question.runtime.reserved_ratio.value_or(profile.measured.reserved_over_allocated);
  const Bytes by_ratio = scaled(allocated, ratio);
  if (question.runtime.reserved_ratio) return by_ratio;
  if (has_pools(question, profile)) return pooled(question, profile, memory);
  const double measured = trust::error_bar(question).cached;
  if (measured == 0.0) return by_ratio;
  const bool is_walked = allocated < std::min(room, largest_walked);
  const auto use = is_walked ? memory::use_of_cache(program, question, profile, room) : std::nullopt;
  if (use) return std::max(allocated, use->reserved);
  const bool trains = spec::has_backward_pass(question.training.method);
  return std::max(by_ratio, trains ? in_one_pool(question, profile, memory, room) : scaled(allocated, measured));
}

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

Bytes needed_level(const spec::Question& question, const frameworks::Profile& profile, const memory::StepMemory& memory,
                   std::int64_t parameters) {
  if (question.training.activations != spec::ActivationModel::program) {
    return textbook_total(question, memory.persistent, parameters);
  }
  return needed_level(profile, memory.peak().alive.total(), memory::beside_trainer(question));
}

Levels levels(const spec::Question& question, const frameworks::Profile& profile, const program::Program& program,
              const memory::StepMemory& memory, std::int64_t parameters) {
  const Bytes needed = needed_level(question, profile, memory, parameters);
  if (question.training.activations != spec::ActivationModel::program) return {needed, needed, needed, needed};
  const Bytes allocated = memory.peak().alive.total();
  const Bytes outside = memory::beside_trainer(question) + profile.measured.context;
  const Bytes capacity = trust::capacity_of(question).value_or(unlimited);
  const Bytes cached = cached_level(question, profile, program, memory, capacity - outside);
  const Bytes device = std::max(needed, std::min(cached + outside, capacity));
  return {allocated, device - outside, device, needed};
}

}  // namespace llmcalc::answer
