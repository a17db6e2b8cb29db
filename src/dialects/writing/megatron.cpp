// The options of Megatron-LM: megatron/training/arguments.py.
#include "dialects/writing/command_text.hpp"
#include "dialects/writing/launchers.hpp"
#include "llmcalc/spec/question.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::dialects {

using spec::Layout;
using spec::Question;
using spec::RecomputePolicy;
using spec::Sharding;
using spec::Training;

namespace {

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
  if (layout.node_dispatch) {
    command.word("--moe-token-dispatcher-type", "flex");
    command.word("--moe-flex-dispatcher-backend", "deepep");
  }
  if (layout.expert_overlap) command.flag("--overlap-moe-expert-parallel-comm");
  if (layout.ep > 1 || layout.etp != layout.tp) command.option("--expert-tensor-parallel-size", layout.etp);
}

void add_megatron_sharding(const Layout& layout, CommandText& command) {
  const int stage = spec::zero_stage(layout.sharding);
  if (stage == 0) return;
  command.flag("--use-distributed-optimizer");
  if (layout.data_overlap.value_or(false)) {
    command.flag("--overlap-grad-reduce");
    command.flag("--overlap-param-gather");
  }
  if (stage == 1) return;
  command.flag("--use-megatron-fsdp");
  command.word("--data-parallel-sharding-strategy", stage == 2 ? "optim_grads" : "optim_grads_params");
  command.flag("--no-gradient-accumulation-fusion");
}

void add_megatron_training(const Training& training, CommandText& command) {
  command.option("--micro-batch-size", training.micro_batch);
  command.option("--global-batch-size", training.global_batch);
  if (training.precision.compute == formats::Dtype::bf16) command.flag("--bf16");
  if (training.precision.compute == formats::Dtype::fp16) command.flag("--fp16");
  if (training.recompute.policy == RecomputePolicy::selective) command.word("--recompute-granularity", "selective");
  if (training.recompute.policy == RecomputePolicy::full) {
    command.word("--recompute-granularity", "full");
    command.word("--recompute-method", "uniform");
    command.option("--recompute-num-layers", 1);
  }
  if (spec::offloads_optimizer(training.offload)) command.flag("--optimizer-cpu-offload");
  if (training.cuda_graph == spec::CudaGraph::none) return;
  command.word("--cuda-graph-impl", training.cuda_graph == spec::CudaGraph::full ? "local" : "transformer_engine");
  command.word("--cuda-graph-scope",
               training.cuda_graph == spec::CudaGraph::full ? "full_iteration" : "attn moe_router moe_preprocess");
}

}  // namespace

std::string megatron_command(const Question& question) {
  const Layout& layout = question.layout;
  CommandText command(fmt::format("torchrun --nnodes {} --nproc-per-node {} pretrain_gpt.py", layout.nodes,
                                  layout.gpus / layout.nodes));
  add_megatron_model(question, command);
  add_megatron_layout(layout, command);
  add_megatron_sharding(layout, command);
  add_megatron_training(question.training, command);
  return command.text();
}

}  // namespace llmcalc::dialects
