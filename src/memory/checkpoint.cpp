#include "memory/checkpoint.hpp"

#include "frameworks/abilities.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/states.hpp"
#include "spec/traits.hpp"

#include <algorithm>

namespace llmcalc::memory {

using frameworks::CheckpointWriting;
using frameworks::Saving;
using layers::Weight;
using quantity::Bytes;
using quantity::bytes;
using spec::SaveCheckpoint;

namespace {

/// Part of a checkpoint that one stage's weights are.
struct Saved {
  Bytes weights;         ///< whole
  Bytes optimizer;       ///< whole: moments, and masters where those are its own
  Bytes root_unit;       ///< of `weights`, those outside the layers, which FSDP gathers as one unit
  Bytes largest_unit;    ///< that or the widest layer
  Bytes largest_tensor;  ///< whole
  Bytes masters;         ///< of this rank
  Bytes shard;           ///< of this rank, of all that is written
  Bytes largest_shard;   ///< of one tensor of it

  void add(const Saved& block, std::int64_t count);
};

void Saved::add(const Saved& block, std::int64_t count) {
  weights += count * block.weights;
  optimizer += count * block.optimizer;
  masters += count * block.masters;
  shard += count * block.shard;
  largest_unit = std::max(largest_unit, block.largest_unit);
  largest_tensor = std::max(largest_tensor, block.largest_tensor);
  largest_shard = std::max(largest_shard, block.largest_shard);
}

class Checkpoint {
 public:
  Checkpoint(const spec::Question& question, const Saving& saving) : question_(question), saving_(saving) {}

  Saved of_block(const layers::Block& block) const;
  CheckpointNeeds needs(const Saved& saved) const;

 private:
  bool gathers() const { return saving_.way == SaveCheckpoint::full || saving_.way == SaveCheckpoint::full_cpu; }
  Saved of_weight(const Weight& weight) const;
  Bytes gathered(const Saved& saved) const;
  Bytes own_part(const Saved& saved) const;
  std::int64_t writers(const Weight& weight) const;

  const spec::Question& question_;
  const Saving& saving_;
  program::StateSharding sharding_{question_.layout};
};

/// Ranks that have the same part of a weight, where each writes a share of it (Megatron-LM core/dist_checkpointing/
/// strategies/fully_parallel.py).
std::int64_t Checkpoint::writers(const Weight& weight) const {
  if (!saving_.spreads_replicas) return 1;
  const spec::Layout& layout = question_.layout;
  const std::int64_t replicas = layout.dp * layout.cp;
  const bool expert = weight.split == layers::Split::expert;
  const std::int64_t alike = expert ? replicas * layout.tp / (layout.ep * layout.etp) : replicas;
  return std::max<std::int64_t>(1, alike / sharding_.of(weight.split).weights);
}

Saved Checkpoint::of_weight(const Weight& weight) const {
  Saved saved;
  const spec::Training& training = question_.training;
  const bool adapters_alone = saving_.leaves_out_frozen && training.method != spec::Method::full;
  if (weight.shared || (adapters_alone && !weight.trainable)) return saved;
  const auto whole = program::weight_states(weight, training, {});
  const auto own = program::weight_states(weight, training, sharding_);
  const std::int64_t parts = weight.elements == 0 ? 1 : std::max<std::int64_t>(1, weight.whole / weight.elements);
  saved.weights = parts * formats::storage_bytes(weight.dtype, weight.elements);
  saved.optimizer = parts * (whole.master + whole.optimizer + whole.paged);
  saved.masters = own.master;
  const Bytes of_rank = bytes(in_bytes(own.weights + own.adapters) / writers(weight));
  const std::int64_t once = sharding_.of(weight.split).optimizer == 1 ? writers(weight) : 1;
  saved.shard = of_rank + bytes(in_bytes(own.master + own.optimizer + own.paged) / once);
  const std::int64_t tensors = program::tensors_of(weight);
  saved.largest_tensor = bytes(in_bytes(saved.weights) / (tensors * parts));
  saved.largest_shard = bytes(in_bytes(std::max({own.weights + own.adapters, own.master})) / tensors);
  return saved;
}

Saved Checkpoint::of_block(const layers::Block& block) const {
  Saved sum;
  for (const Weight& weight : block.weights) sum.add(of_weight(weight), 1);
  sum.largest_unit = sum.weights;
  return sum;
}

/// FSDP gathers a unit in the type in which it rests, DeepSpeed the weights of a module and FSDP2 one after another.
/// State that stays on the accelerator is copied unit by unit, while that of the weights outside the layers is there
/// from the first to the last (torch/distributed/fsdp/_state_dict_utils.py, _full_pre_state_dict_hook).
Bytes Checkpoint::gathered(const Saved& saved) const {
  if (!gathers() || sharding_.of(layers::Split::replicated).weights == 1) return bytes(0);
  const bool by_unit = question_.layout.sharding == spec::Sharding::fsdp1;
  if (saving_.way == SaveCheckpoint::full) return saved.weights + (by_unit ? saved.root_unit : bytes(0));
  return by_unit ? std::max(saved.root_unit, saved.largest_unit) : saved.largest_tensor;
}

/// DeepSpeed's stage 3 has buffers of 1e9 elements (runtime/zero/config.py, sub_group_size), below it one.
Bytes Checkpoint::own_part(const Saved& saved) const {
  constexpr Bytes largest_group = bytes(4'000'000'000);
  const bool by_group = spec::zero_stage(question_.layout.sharding) == 3;
  switch (saving_.writing) {
    case CheckpointWriting::by_tensor:
    case CheckpointWriting::by_file: return saved.largest_shard;
    case CheckpointWriting::by_buffer: return by_group ? std::min(saved.masters, largest_group) : saved.masters;
    case CheckpointWriting::whole: return saved.shard;
  }
  return {};
}

CheckpointNeeds Checkpoint::needs(const Saved& saved) const {
  CheckpointNeeds needs;
  needs.accelerator = gathered(saved);
  if (saving_.way == SaveCheckpoint::full) {
    const bool by_file = saving_.writing == CheckpointWriting::by_file;
    needs.host_of_first = by_file ? std::min(bytes(saving_.file_bytes), saved.weights) : saved.largest_tensor;
  } else if (saving_.way == SaveCheckpoint::full_cpu) {
    needs.host_of_first = std::max(saved.weights, saving_.gathers_optimizer ? saved.optimizer : bytes(0));
    if (saving_.writing == CheckpointWriting::by_buffer) needs.host_of_each = own_part(saved);
  } else {
    needs.host_of_each = own_part(saved);
  }
  return needs;
}

bool is_layer(const layers::Block& block) { return block.name == "layer"; }

}  // namespace

CheckpointNeeds checkpoint_needs(const program::Program& program, std::span<const program::BlockRun> runs,
                                 const spec::Question& question) {
  const Saving* saving = frameworks::saving_of(question);
  if (saving == nullptr) return {};
  const Checkpoint checkpoint(question, *saving);
  Saved sum;
  for (const auto& [index, count] : runs) {
    const auto& block = program.blocks[index];
    const Saved saved = checkpoint.of_block(block);
    sum.add(saved, count);
    if (!is_layer(block)) sum.root_unit += count * saved.weights;
  }
  return checkpoint.needs(sum);
}

CheckpointNeeds highest_checkpoint_needs(const program::Program& program, const spec::Question& question) {
  CheckpointNeeds highest;
  for (const auto& group : program::stage_groups(program)) {
    const CheckpointNeeds needs = checkpoint_needs(program, group.runs, question);
    highest.accelerator = std::max(highest.accelerator, needs.accelerator);
    highest.host_of_each = std::max(highest.host_of_each, needs.host_of_each);
    highest.host_of_first = std::max(highest.host_of_first, needs.host_of_first);
  }
  return highest;
}

}  // namespace llmcalc::memory
