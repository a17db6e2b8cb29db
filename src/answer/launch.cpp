#include "llmcalc/answer/launch.hpp"

#include "answer/command_text.hpp"
#include "llmcalc/program/sharding.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace llmcalc::answer {

using spec::Layout;
using spec::Question;
using spec::RecomputePolicy;
using spec::Sharding;
using spec::Training;

namespace {

bool offloads_optimizer(const Training& training) {
  return training.offload == spec::Offload::optimizer || training.offload == spec::Offload::params_optimizer;
}
bool offloads_weights(const Training& training) {
  return training.offload == spec::Offload::params || training.offload == spec::Offload::params_optimizer;
}

/// ZeRO stage; FSDP shards what stage 3 shards.
int stage_of(Sharding sharding) {
  switch (sharding) {
    case Sharding::none:
    case Sharding::ddp:
      return 0;
    case Sharding::zero1:
      return 1;
    case Sharding::zero2:
      return 2;
    default:
      return 3;
  }
}

/// Ranks over which the weights are sharded.
std::int64_t sharding_ranks(const Layout& layout) {
  return program::Sharding(layout).of(program::Split::replicated).weights;
}

// Megatron-LM megatron/training/arguments.py.

void add_megatron_attention(const spec::Shape& shape, CommandText& command) {
  command.option("--num-attention-heads", shape.heads);
  if (const auto& latent = shape.latent; latent.kv_rank > 0) {
    command.flag("--multi-latent-attention");
    if (latent.q_rank > 0) command.option("--q-lora-rank", latent.q_rank);
    command.option("--kv-lora-rank", latent.kv_rank);
    command.option("--qk-head-dim", latent.qk_nope_dim);
    command.option("--qk-pos-emb-head-dim", latent.qk_rope_dim);
    command.option("--v-head-dim", latent.v_dim);
    return;
  }
  if (shape.head_dim * shape.heads != shape.hidden) command.option("--kv-channels", shape.head_dim);
  if (shape.kv_heads == shape.heads) return;
  command.flag("--group-query-attention");
  command.option("--num-query-groups", shape.kv_heads);
}

void add_megatron_model(const Question& question, CommandText& command) {
  const spec::Shape& shape = question.model.shape;
  command.option("--num-layers", shape.layers);
  command.option("--hidden-size", shape.hidden);
  command.option("--ffn-hidden-size", shape.ffn);
  add_megatron_attention(shape, command);
  command.option("--seq-length", question.training.seq);
  command.option("--max-position-embeddings", std::max(question.training.seq, shape.max_position));
  if (shape.position == spec::Position::rope) command.word("--position-embedding-type", "rope");
  if (shape.norm == spec::Norm::rmsnorm) command.word("--normalization", "RMSNorm");
  if (shape.mlp == spec::Mlp::swiglu) command.flag("--swiglu");
  if (!shape.mlp_bias) command.flag("--disable-bias-linear");
  if (!shape.tied) command.flag("--untie-embeddings-and-output-weights");
  if (shape.moe.experts > 0) {
    command.option("--num-experts", shape.moe.experts);
    command.option("--moe-router-topk", shape.moe.top_k);
    command.option("--moe-ffn-hidden-size", shape.moe.expert_ffn);
    command.flag("--moe-grouped-gemm");
  }
}

void add_megatron_layout(const Layout& layout, CommandText& command) {
  command.option("--tensor-model-parallel-size", layout.tp);
  if (layout.sp) command.flag("--sequence-parallel");
  command.option("--pipeline-model-parallel-size", layout.pp);
  if (layout.vpp > 1) command.option("--num-virtual-stages-per-pipeline-rank", layout.vpp);
  if (layout.first_stage_layers) command.option("--decoder-first-pipeline-num-layers", *layout.first_stage_layers);
  if (layout.last_stage_layers) command.option("--decoder-last-pipeline-num-layers", *layout.last_stage_layers);
  if (layout.cp > 1) {
    command.option("--context-parallel-size", layout.cp);
    command.word("--cp-comm-type", layout.cp_exchange == spec::ContextExchange::ring ? "p2p" : "a2a");
  }
  if (layout.ep > 1) command.option("--expert-model-parallel-size", layout.ep);
  if (layout.ep > 1 || layout.etp != layout.tp) command.option("--expert-tensor-parallel-size", layout.etp);
}

void add_megatron_sharding(Sharding sharding, CommandText& command) {
  const int stage = stage_of(sharding);
  if (stage == 0) return;
  command.flag("--use-distributed-optimizer");
  command.flag("--overlap-grad-reduce");
  command.flag("--overlap-param-gather");
  if (stage == 1) return;
  command.flag("--use-megatron-fsdp");
  command.word("--data-parallel-sharding-strategy", stage == 2 ? "optim_grads" : "optim_grads_params");
  command.flag("--no-gradient-accumulation-fusion");
}

void add_megatron_training(const Training& training, CommandText& command) {
  command.option("--micro-batch-size", training.micro_batch);
  command.option("--global-batch-size", training.global_batch);
  if (training.precision.compute == spec::Dtype::bf16) command.flag("--bf16");
  if (training.precision.compute == spec::Dtype::fp16) command.flag("--fp16");
  if (training.recompute.policy == RecomputePolicy::selective) command.word("--recompute-granularity", "selective");
  if (training.recompute.policy == RecomputePolicy::full) {
    command.word("--recompute-granularity", "full");
    command.word("--recompute-method", "uniform");
    command.option("--recompute-num-layers", 1);
  }
  if (offloads_optimizer(training)) command.flag("--optimizer-cpu-offload");
}

Launch megatron(const Question& question) {
  const Layout& layout = question.layout;
  CommandText command(fmt::format("torchrun --nnodes {} --nproc-per-node {} pretrain_gpt.py", layout.nodes,
                                  layout.gpus / layout.nodes));
  add_megatron_model(question, command);
  add_megatron_layout(layout, command);
  add_megatron_sharding(layout.sharding, command);
  add_megatron_training(question.training, command);
  Launch launch{"Megatron-LM", command.text(), {}};
  const spec::Shape& shape = question.model.shape;
  const bool stated = layout.first_stage_layers || layout.last_stage_layers;
  if (shape.stack != spec::Stack::decoder) launch.beyond.emplace_back("the model: pretrain_gpt.py trains decoders");
  if (!stated && shape.layers % (layout.pp * layout.vpp) != 0) {
    launch.beyond.emplace_back("stages of unequal length: --pipeline-model-parallel-layout says which");
  }
  if (layout.schedule != spec::Schedule::one_f_one_b) launch.beyond.emplace_back("a schedule other than 1F1B");
  if (offloads_weights(question.training)) launch.beyond.emplace_back("weights on the host");
  if (question.training.offload == spec::Offload::activations) launch.beyond.emplace_back("activations on the host");
  if (stage_of(layout.sharding) > 1 && layout.pp > 1) launch.beyond.emplace_back("Megatron-FSDP in a pipeline");
  return launch;
}

// torchtitan torchtitan/config/job_config.py.

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

std::string_view titan_checkpoints(RecomputePolicy policy) {
  switch (policy) {
    case RecomputePolicy::none:
      return "none";
    case RecomputePolicy::selective:
      return "selective";
    case RecomputePolicy::full:
      return "full";
  }
  return {};
}

Launch torchtitan(const Question& question) {
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
  command.word("--activation_checkpoint.mode", titan_checkpoints(training.recompute.policy));
  if (offloads_weights(training)) command.flag("--training.enable_cpu_offload");
  Launch launch{"torchtitan", command.text(), {}};
  const int stage = stage_of(layout.sharding);
  if (stage == 1 || stage == 2)
    launch.beyond.emplace_back("weights whole beside sharded states: it shards all or none");
  if (layout.schedule == spec::Schedule::zero_bubble)
    launch.beyond.emplace_back("ZB-H1: it has other zero-bubble schedules");
  if (layout.tp > 1 && !layout.sp) launch.beyond.emplace_back("tensor parallelism without sequence parallelism");
  if (training.offload == spec::Offload::optimizer) launch.beyond.emplace_back("the optimizer alone on the host");
  if (training.offload == spec::Offload::activations) launch.beyond.emplace_back("activations on the host");
  return launch;
}

// DeepSpeed runtime/config.py and runtime/zero/config.py.

std::string deepspeed_json(const Question& question) {
  const Training& training = question.training;
  std::string zero = fmt::format("\"stage\": {}", stage_of(question.layout.sharding));
  if (offloads_optimizer(training)) zero += ", \"offload_optimizer\": {\"device\": \"cpu\"}";
  if (offloads_weights(training)) zero += ", \"offload_param\": {\"device\": \"cpu\"}";
  std::string json = fmt::format("{{\"train_batch_size\": {}, \"train_micro_batch_size_per_gpu\": {}",
                                 training.global_batch, training.micro_batch);
  json += fmt::format(", \"gradient_accumulation_steps\": {}", training.grad_accum);
  json += ", \"zero_optimization\": {" + zero + "}";
  if (training.precision.compute == spec::Dtype::bf16) json += ", \"bf16\": {\"enabled\": true}";
  if (training.precision.compute == spec::Dtype::fp16) json += ", \"fp16\": {\"enabled\": true}";
  if (question.layout.tp > 1) json += fmt::format(", \"tensor_parallel\": {{\"autotp_size\": {}}}", question.layout.tp);
  return json + "}";
}

Launch deepspeed(const Question& question) {
  const Layout& layout = question.layout;
  Launch launch;
  launch.framework = "DeepSpeed";
  launch.command = fmt::format("echo '{}' > ds_config.json\n", deepspeed_json(question)) +
                   fmt::format("deepspeed --num_nodes {} --num_gpus {} train.py --deepspeed_config ds_config.json",
                               layout.nodes, layout.gpus / layout.nodes);
  if (layout.pp > 1) launch.beyond.emplace_back("the pipeline: its stages are a PipelineModule of the program");
  if (layout.pp > 1 && stage_of(layout.sharding) > 1) launch.beyond.emplace_back("stages 2 and 3 in a pipeline");
  if (layout.cp > 1) launch.beyond.emplace_back("context parallelism: DistributedAttention (Ulysses) in the program");
  if (layout.ep > 1)
    launch.beyond.emplace_back("expert parallelism: ep_size of deepspeed.moe.layer.MoE in the program");
  if (layout.vpp > 1) launch.beyond.emplace_back("virtual stages");
  if (question.training.recompute.policy != RecomputePolicy::none) {
    launch.beyond.emplace_back("recomputation: deepspeed.checkpointing in the program");
  }
  return launch;
}

}  // namespace

std::vector<Launch> launches(const Question& question) {
  return {megatron(question), torchtitan(question), deepspeed(question)};
}

}  // namespace llmcalc::answer
