#include "memory/cache_walk.hpp"

#include "layers/widths.hpp"
#include "llmcalc/spec/question.hpp"
#include "memory/block_prices.hpp"
#include "memory/caching_allocator.hpp"
#include "memory/inner/block_run.hpp"
#include "memory/inner/buffers.hpp"
#include "program/build.hpp"
#include "program/offload.hpp"
#include "quantity/lists.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::memory {

using layers::Block;
using layers::no_tensor;
using program::Companion;
using program::CompanionRole;
using quantity::Bytes;
using quantity::bytes;
using quantity::in_bytes;

namespace {

using Place = CachingAllocator::Place;
constexpr Place nowhere = CachingAllocator::nowhere;

/// Steps of one rank through the allocator.
class CacheWalk {
 public:
  CacheWalk(const program::Program& program, const spec::Question& question, const frameworks::Profile& profile,
            Bytes room);

  CacheUse run();

 private:
  using Layer = Alive<CachingAllocator>;

  void load();
  void load_weight(const layers::Weight& weight, const program::States& states);
  void load_companions();
  void hold_buffers(Bytes gradients);
  void begin_batch(std::int64_t length);
  void micro_batch(bool first_of_step);
  void pass_companions();
  void pass(const Companion& companion);
  void forward();
  void backward(const WeightGradients& gradients);
  Place backward(std::size_t position, const WeightGradients& gradients, Place gradient);
  void adopt_kept(std::size_t position);
  void update(bool makes_states);
  void update_weight(const layers::Weight& weight, const program::States& states, bool makes_states,
                     std::vector<Place>& temporaries);
  program::States states_of(const layers::Weight& weight) const;
  bool is_layer(std::size_t position) const { return position > 0 && position + 1 < program_.sequence.size(); }
  bool leaves(std::size_t position) const;
  bool has_buffer(std::size_t position) const;
  const Block& block_at(std::size_t position) const { return batch_->blocks[program_.sequence[position]]; }
  const Lifetimes& lifetimes_at(std::size_t position) const { return lifetimes_[program_.sequence[position]]; }
  template <class Visit>
  void each_weight(const Visit& visit) const {
    for (const std::uint16_t index : program_.sequence) {
      const auto& weights = program_.blocks[index].weights;
      for (std::size_t i = 0; i < weights.size(); ++i) visit(weights[i], states_[index][i]);
    }
  }

  const program::Program& program_;  ///< of the longest micro-batch
  program::Program shorter_;         ///< of another
  const program::Program* batch_;    ///< of the micro-batch that runs
  const spec::Question& question_;
  const frameworks::Profile& profile_;
  StepRules rules_;
  WeightGradients first_gradients_;                   ///< of the first micro-batch of a step, which makes them
  std::vector<std::vector<program::States>> states_;  ///< of the weights of each block
  std::vector<Lifetimes> lifetimes_;
  std::vector<Layer> layers_;
  std::vector<Place> last_graph_;
  CachingAllocator allocator_;
};

WeightGradients gradients_of_first(const spec::Question& question, const frameworks::Profile& profile) {
  spec::Question alone = question;
  alone.training.grad_accum = 1;
  return step_rules(alone, profile).gradients;
}

CacheWalk::CacheWalk(const program::Program& program, const spec::Question& question,
                     const frameworks::Profile& profile, Bytes room)
    : program_(program),
      batch_(&program),
      question_(question),
      profile_(profile),
      rules_(step_rules(question, profile)),
      first_gradients_(gradients_of_first(question, profile)),
      allocator_(in_bytes(room)) {
  for (const Block& block : program.blocks) {
    lifetimes_.emplace_back(block);
    states_.push_back(quantity::mapped(block.weights, [&](const auto& weight) { return states_of(weight); }));
  }
  layers_.reserve(program.sequence.size());
}

CacheUse CacheWalk::run() {
  load();
  load_companions();
  const std::size_t of_step = question_.training.grad_accum > 1 ? 2 : 1;
  const auto lengths = batch_lengths(question_, 2 * of_step);
  for (std::size_t i = 0; i < lengths.size(); ++i) {
    begin_batch(lengths[i]);
    micro_batch(i % of_step == 0);
    if ((i + 1) % of_step == 0) update(i < of_step);
  }
  return {bytes(allocator_.highest_allocated()), bytes(allocator_.highest_reserved())};
}

program::States CacheWalk::states_of(const layers::Weight& weight) const {
  program::States states = program::weight_states(weight, question_.training, rules_.sharding);
  program::move_out(states, rules_.offload);
  return states;
}

/// A quantized weight is made of a wide one, which stays until it is.
void CacheWalk::load_weight(const layers::Weight& weight, const program::States& states) {
  const std::int64_t tensors = program::tensors_of(weight);
  const bool is_made = formats::is_quantized(weight.dtype) && weight.rows > 0 && !weight.shared;
  const std::int64_t wide = is_made ? profile_.quantized.loading_bytes * (weight.elements / tensors) : 0;
  for (std::int64_t i = 0; i < tensors; ++i) {
    const Place made_of = allocator_.allocate(wide);
    for (const Bytes all : {states.weights, states.adapters, states.master}) {
      allocator_.allocate(in_bytes(all) / tensors);
    }
    allocator_.free(made_of);
  }
}

void CacheWalk::load() {
  Bytes gradients;
  each_weight([&](const layers::Weight& weight, const program::States& states) {
    load_weight(weight, states);
    gradients += states.gradients;
    if (rules_.gradient_buffer) allocator_.allocate(in_bytes(states.gradients));
  });
  hold_buffers(gradients);
}

/// Buffers that stay.
void CacheWalk::hold_buffers(Bytes gradients) {
  allocator_.allocate(in_bytes(workspaces(program_, profile_)));
  allocator_.allocate(in_bytes(score_buffer(question_, profile_)));
  allocator_.allocate(in_bytes(bucket_copy(profile_, rules_.sharding, gradients)));
  Bytes largest;
  for (std::size_t i = 0; i < program_.sequence.size(); ++i) {
    if (has_buffer(i)) largest = std::max(largest, walk_block(block_at(i), rules_.gradients).kept);
  }
  for (int i = 0; i < profile_.loop.checkpoint_buffers; ++i) allocator_.allocate(in_bytes(largest));
}

void CacheWalk::load_companions() {
  for (const Companion& companion : program_.companions) {
    if (!companion.owns_weights) continue;
    for (const std::uint16_t block : program_.sequence) {
      for (const auto& weight : program_.blocks[companion.runs[block]].weights) {
        const program::States states = states_of(weight);
        load_weight(weight, states);
        if (!weight.trainable) continue;
        allocator_.allocate(in_bytes(states.gradients));
        allocator_.allocate(in_bytes(states.optimizer));
      }
    }
  }
}

/// Blocks of the same sequence, as large as the micro-batch is long.
void CacheWalk::begin_batch(std::int64_t length) {
  const bool is_longest = length == question_.training.seq;
  if (is_longest && batch_ == &program_) return;
  if (!is_longest) program::build_program(of_length(question_, length), profile_, shorter_);
  batch_ = is_longest ? &program_ : &shorter_;
  lifetimes_.clear();
  for (const Block& block : batch_->blocks) lifetimes_.emplace_back(block);
}

/// Whether the activations of a block go to the host.
bool CacheWalk::leaves(std::size_t position) const {
  const auto& offload = rules_.offload;
  if (!offload.activations) return false;
  if (offload.layers == program::Offloaded::unlimited) return true;
  return is_layer(position) && std::cmp_less_equal(position, offload.layers);
}

/// Whether they come back into buffers that stay.
bool CacheWalk::has_buffer(std::size_t position) const {
  return profile_.loop.checkpoint_buffers > 0 && is_layer(position) && leaves(position);
}

/// Frozen models run block by block and keep nothing; generation keeps its cache.
void CacheWalk::pass(const Companion& companion) {
  std::int64_t kept = 0;
  Place input = nowhere;
  for (const std::uint16_t index : program_.sequence) {
    const std::uint16_t own = companion.runs[index];
    const Block& block = batch_->blocks[own];
    if (companion.role == CompanionRole::generation) {
      kept += in_bytes(walk_block(block, rules_.gradients).kept);
      continue;
    }
    Layer alive(block, allocator_);
    if (block.input != no_tensor) alive.adopt(block.input, input);
    run_group(
        block, lifetimes_[own], 0, [](layers::TensorId) { return false; }, allocator_, alive);
    input = block.output == no_tensor ? nowhere : alive.hand_over(block.output);
    alive.end_all();
  }
  allocator_.free(input);
  allocator_.touch(kept);
}

void CacheWalk::pass_companions() {
  for (const Companion& companion : batch_->companions) {
    if (!companion.is_trained()) pass(companion);
  }
}

void CacheWalk::micro_batch(bool first_of_step) {
  if (!rules_.asks_in_loss) pass_companions();
  forward();
  for (const Place place : std::exchange(last_graph_, {})) allocator_.free(place);
  if (rules_.asks_in_loss) pass_companions();
  backward(first_of_step ? first_gradients_ : rules_.gradients);
}

/// Activations that go to the host are there until the next block has run (torchtune
/// training/_activation_offloading.py).
void CacheWalk::forward() {
  layers_.clear();
  Place input = nowhere;
  for (std::size_t i = 0; i < program_.sequence.size(); ++i) {
    const Block& block = block_at(i);
    Layer& alive = layers_.emplace_back(block, allocator_);
    if (block.input != no_tensor) alive.adopt(block.input, input);
    run_forward(block, lifetimes_at(i), allocator_, alive);
    input = nowhere;
    if (block.output != no_tensor && !is_kept(block, lifetimes_at(i), block.output)) {
      input = alive.hand_over(block.output);
    }
    if (i > 0 && leaves(i - 1)) layers_[i - 1].end_all();
  }
  allocator_.free(input);
}

/// Gradients that are not kept are added to others that are there.
void CacheWalk::backward(const WeightGradients& gradients) {
  const std::size_t kept_before = allocator_.left();
  Place gradient = nowhere;
  std::vector<Place> held_by_loop;
  for (std::size_t i = layers_.size(); i-- > 0;) {
    if (i > 0 && leaves(i - 1) && !has_buffer(i - 1)) start_kept(block_at(i - 1), lifetimes_at(i - 1), layers_[i - 1]);
    gradient = backward(i, gradients, gradient);
    held_by_loop.push_back(allocator_.allocate(in_bytes(block_at(i).held_by_loop)));
  }
  allocator_.free(gradient);
  for (const Place place : held_by_loop) allocator_.free(place);
  if (!gradients.kept) allocator_.end_left(kept_before);
}

/// Tensors that come back into a buffer take nothing beside it.
void CacheWalk::adopt_kept(std::size_t position) {
  const Block& block = block_at(position);
  for (std::size_t i = 0; i < block.tensors.size(); ++i) {
    const auto id = static_cast<layers::TensorId>(i);
    if (is_kept(block, lifetimes_at(position), id)) layers_[position].adopt(id, nowhere);
  }
}

/// \param gradient  of what the block handed on, made by the next one
/// \returns that of its input
Place CacheWalk::backward(std::size_t position, const WeightGradients& gradients, Place gradient) {
  const Block& block = block_at(position);
  Layer& alive = layers_[position];
  if (has_buffer(position)) adopt_kept(position);
  BackwardRun run(block, lifetimes_at(position), gradients, allocator_, alive);
  if (block.output != no_tensor && gradient != nowhere) run.arrived().adopt(block.output, gradient);
  run.run();
  Place of_input = nowhere;
  if (block.input != no_tensor && run.arrived().has(block.input)) {
    of_input = run.arrived().hand_over(block.input);
  } else {
    run.arrived().end_all();
  }
  alive.end_all();
  if (rules_.keeps_last_graph && !block.checkpointed) {
    for (const auto& tensor : block.tensors) {
      if (tensor.kept_by_node) last_graph_.push_back(allocator_.allocate(in_bytes(tensor.size)));
    }
  }
  return of_input;
}

/// The optimizer's states of a tensor are one or two, and stay; temporaries stay until all tensors are updated. What
/// its update needs meanwhile are tensors no larger than it is in fp32.
void CacheWalk::update_weight(const layers::Weight& weight, const program::States& states, bool makes_states,
                              std::vector<Place>& temporaries) {
  const std::int64_t tensors = program::tensors_of(weight);
  const std::int64_t moment = in_bytes(states.moment_temporaries) / tensors;
  for (std::int64_t i = 0; i < tensors; ++i) {
    if (makes_states) {
      const std::int64_t all = in_bytes(states.optimizer) / tensors;
      const std::int64_t pieces = all > moment && moment > 0 ? 2 : 1;
      for (std::int64_t piece = 0; piece < pieces; ++piece) allocator_.allocate(all / pieces);
    }
    for (int k = 0; k < profile_.step.temporaries; ++k) temporaries.push_back(allocator_.allocate(moment));
    if (profile_.step.widens_gradients) {
      temporaries.push_back(allocator_.allocate(in_bytes(states.gradient_copies) / tensors));
    }
    if (profile_.kernels.have_workspace) {
      allocator_.touch(in_bytes(states.update_scratch) / tensors, layers::fp32_width * weight.elements / tensors);
    }
  }
}

void CacheWalk::update(bool makes_states) {
  std::vector<Place> temporaries;
  each_weight([&](const layers::Weight& weight, const program::States& states) {
    if (weight.trainable && !weight.shared) update_weight(weight, states, makes_states, temporaries);
  });
  for (const Place place : temporaries) allocator_.free(place);
  allocator_.end_left();
}

// More than any model on one accelerator has, and as many as are walked while somebody waits: DeepSeek-V3 has 45,000
// matrices of experts.
constexpr std::size_t most_blocks = 1000;
constexpr std::int64_t most_tensors = 100'000;

bool is_described(const program::Program& program, const spec::Question& question, const frameworks::Profile& profile) {
  const StepRules rules = step_rules(question, profile);
  const bool groups =
      std::ranges::any_of(program.blocks, [](const Block& b) { return b.group_end > b.group_first + 1; });
  // Releases that copy all logits but the last position's leave one block more in the cache than is found here (equal
  // lengths in tests/measured/hf-fms.csv), next to what lengths that vary leave. Losses that make no logits leave none.
  const spec::Loss loss = question.training.loss;
  const bool cuts = loss == spec::Loss::fused_linear || loss == spec::Loss::cut || loss == spec::Loss::chunked;
  if (profile.head.shifts_logits && !cuts && !has_lengths(question)) return false;
  const bool comes_and_goes = rules.streams_weights || rules.sharding.gathers_once() || rules.offload.gradients;
  if (comes_and_goes || groups || !rules.differentiates || question.layout.pp > 1) return false;
  if (program.sequence.size() > most_blocks) return false;
  std::int64_t tensors = 0;
  for (const std::uint16_t index : program.sequence) {
    for (const auto& weight : program.blocks[index].weights) tensors += program::tensors_of(weight);
  }
  return tensors <= most_tensors;
}

}  // namespace

std::optional<CacheUse> use_of_cache(const program::Program& program, const spec::Question& question,
                                     const frameworks::Profile& profile, Bytes room) {
  if (!is_described(program, question, profile)) return std::nullopt;
  return CacheWalk(program, question, profile, room).run();
}

}  // namespace llmcalc::memory
