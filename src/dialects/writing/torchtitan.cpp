// The options of torchtitan: torchtitan/config/job_config.py.
#include "dialects/writing/command_text.hpp"
#include "dialects/writing/launchers.hpp"
#include "llmcalc/spec/question.hpp"
#include "program/sharding.hpp"
#include "spec/names.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::dialects {

using spec::Layout;
using spec::Question;
using spec::Training;

namespace {

/// Ranks over which the weights are sharded.
std::int64_t sharding_ranks(const Layout& layout) {
  return program::StateSharding(layout).of(layers::Split::replicated).weights;
}

std::string_view titan_schedule(const Layout& layout) {
  if (layout.schedule == spec::Schedule::gpipe) return "GPipe";
  return layout.vpp > 1 ? "Interleaved1F1B" : "1F1B";
}

void add_titan_layout(const Layout& layout, CommandText& command) {
  const std::int64_t shards = std::max<std::int64_t>(1, sharding_ranks(layout) / layout.cp);
  command.option("--parallelism.data_parallel_shard_degree", shards);
  command.option("--parallelism.data_parallel_replicate_degree", layout.dp / shards);
  command.option("--parallelism.tensor_parallel_degree", layout.tp);
  command.option("--parallelism.context_parallel_degree", layout.cp);
  command.option("--parallelism.pipeline_parallel_degree", layout.pp);
  if (layout.pp > 1) command.word("--parallelism.pipeline_parallel_schedule", titan_schedule(layout));
  if (layout.ep > 1) {
    command.option("--parallelism.expert_parallel_degree", layout.ep);
    command.option("--parallelism.expert_tensor_parallel_degree", layout.etp);
  }
}

}  // namespace

std::string torchtitan_command(const Question& question) {
  const Layout& layout = question.layout;
  const Training& training = question.training;
  CommandText command(fmt::format("torchrun --nnodes {} --nproc-per-node {} -m torchtitan.train", layout.nodes,
                                  layout.gpus / layout.nodes));
  // A local batch is what a pipeline cuts into micro-batches; without one torchtitan accumulates up to the global
  // batch.
  const std::int64_t local = training.micro_batch * (layout.pp > 1 ? training.grad_accum : 1);
  command.option("--training.local_batch_size", local);
  command.option("--training.global_batch_size", training.global_batch);
  command.option("--training.seq_len", training.seq);
  add_titan_layout(layout, command);
  if (layout.pp > 1) command.option("--parallelism.pipeline_parallel_microbatch_size", training.micro_batch);
  command.word("--activation_checkpoint.mode", spec::name_of(training.recompute.policy));  // its words are ours
  if (spec::offloads_weights(training.offload)) command.flag("--training.enable_cpu_offload");
  return command.text();
}

}  // namespace llmcalc::dialects
