// What searches try, for frameworks that shard in the same way.
#pragma once

#include "frameworks/table.hpp"

namespace llmcalc::frameworks {

using spec::Offload;
using spec::Schedule;
using spec::Sharding;

/// torch.distributed.pipelining has all three; Megatron-LM core/pipeline_parallel/schedules.py and DeepSpeed
/// runtime/pipe/schedule.py train with 1F1B alone.
inline constexpr List<Schedule> all_schedules{Schedule::one_f_one_b, Schedule::gpipe, Schedule::zero_bubble};
inline constexpr List<Schedule> one_schedule{Schedule::one_f_one_b};

inline constexpr List<Sharding> zero_stages{Sharding::ddp, Sharding::zero1, Sharding::zero2, Sharding::zero3};
inline constexpr List<Offload> all_offloads{Offload::none, Offload::optimizer, Offload::params_optimizer,
                                            Offload::activations};

inline constexpr Space textbook_space{zero_stages, all_schedules, all_offloads};
inline constexpr Space deepspeed_space{zero_stages, one_schedule, all_offloads};

/// FSDP's CPUOffload has one switch for weights, gradients and optimizer.
inline constexpr Space torch_space{{Sharding::ddp, Sharding::zero1, Sharding::zero2, Sharding::fsdp2},
                                   all_schedules,
                                   {Offload::none, Offload::params, Offload::activations}};

/// transformers' trainers; their ZeRO is DeepSpeed's, with states of its own, and is searched where it is asked for.
inline constexpr Space trainer_space{
    {Sharding::ddp, Sharding::fsdp2}, one_schedule, {Offload::none, Offload::params, Offload::activations}, false};

/// The distributed optimizer, and --optimizer-cpu-offload.
inline constexpr Space megatron_space{
    {Sharding::ddp, Sharding::zero1}, one_schedule, {Offload::none, Offload::optimizer}};

/// One rank, or a replica a rank.
constexpr Space unsplit(Space space) {
  space.splits_models = false;
  space.schedules = one_schedule;
  return space;
}

}  // namespace llmcalc::frameworks
