#include "search/framework_stack.hpp"

#include "llmcalc/spec/traits.hpp"

#include <array>

namespace llmcalc::search {

using spec::Framework;
using spec::Offload;
using spec::Schedule;
using spec::Sharding;

namespace {

/// The row of the framework's stack.
template <class Item>
std::span<const Item> choose(Stack stack, std::span<const Item> textbook, std::span<const Item> torch,
                             std::span<const Item> megatron) {
  switch (stack) {
    case Stack::textbook:
      return textbook;
    case Stack::torch:
      return torch;
    case Stack::megatron:
      return megatron;
  }
  return {};
}

}  // namespace

Stack stack_of(Framework framework) {
  switch (framework) {
    case Framework::generic:
    case Framework::pax:
    case Framework::maxtext:
    case Framework::deepspeed:
    case Framework::megatron_deepspeed:
      return Stack::textbook;
    case Framework::megatron:
    case Framework::nemo:
    case Framework::internevo:
    case Framework::colossalai:
    case Framework::llm_c:
      return Stack::megatron;
    default:
      return Stack::torch;
  }
}

bool splits_models(Framework framework) {
  const bool by_torch = framework == Framework::torchtitan || framework == Framework::torch;
  return by_torch || (stack_of(framework) != Stack::torch && framework != Framework::llm_c);
}

std::span<const Sharding> shardings_of(Framework framework) {
  static constexpr std::array textbook{Sharding::ddp, Sharding::zero1, Sharding::zero2, Sharding::zero3};
  static constexpr std::array torch{Sharding::ddp, Sharding::zero1, Sharding::zero2, Sharding::fsdp2};
  static constexpr std::array megatron{Sharding::ddp, Sharding::zero1};  // the distributed optimizer
  return choose<Sharding>(stack_of(framework), textbook, torch, megatron);
}

/// Megatron-LM core/pipeline_parallel/schedules.py and DeepSpeed runtime/pipe/schedule.py train with 1F1B alone;
/// torch.distributed.pipelining has all three.
std::span<const Schedule> schedules_of(Framework framework) {
  static constexpr std::array all{Schedule::one_f_one_b, Schedule::gpipe, Schedule::zero_bubble};
  const bool one = stack_of(framework) == Stack::megatron || spec::runs_deepspeed(framework);
  return std::span(all).first(one ? 1 : all.size());
}

/// FSDP's CPUOffload has one switch for weights, gradients and optimizer; Megatron-LM has --optimizer-cpu-offload.
std::span<const Offload> offloads_of(Framework framework) {
  static constexpr std::array textbook{Offload::none, Offload::optimizer, Offload::params_optimizer,
                                       Offload::activations};
  static constexpr std::array torch{Offload::none, Offload::params, Offload::activations};
  static constexpr std::array megatron{Offload::none, Offload::optimizer};
  return choose<Offload>(stack_of(framework), textbook, torch, megatron);
}

}  // namespace llmcalc::search
