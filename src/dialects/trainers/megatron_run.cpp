#include "dialects/trainers/megatron_rules.hpp"
#include "dialects/trainers/run_length.hpp"
#include "dialects/trainers/torch_rules.hpp"
#include "spec/traits.hpp"

#include <string>
#include <tuple>

namespace llmcalc::dialects {
namespace {

void take_types(Sheet& sheet) {
  for (const auto key : {"bf16", "fp16"}) {
    if (sheet.is_on(key)) sheet.say("dtype", key, sheet.said(key));
  }
  sheet.by_default("dtype", "fp32", "Megatron-LM default");
  if (sheet.is_on("grad_reduce_in_bf16")) sheet.say("grads", "bf16", sheet.said("grad_reduce_in_bf16"));
  if (const Setting* fp8 = sheet.find("fp8_format")) sheet.say("compute", "fp8-e4m3", *fp8);
}

/// --recompute-granularity, -method, -num-layers, -modules.
void take_granularity(Sheet& sheet) {
  if (sheet.is_on("recompute_activations")) sheet.say("recompute", "selective", sheet.said("recompute_activations"));
  const Setting* granularity = sheet.find("recompute_granularity");
  if (granularity == nullptr) return;
  const std::string method = sheet.text("recompute_method");
  const auto layers = sheet.count("recompute_num_layers");
  const bool some = granularity->text == "full" && !method.empty() && layers;
  sheet.say("recompute", some ? method + "-" + std::to_string(*layers) : granularity->text, *granularity);
  const Setting* modules = sheet.find("recompute_modules");
  if (modules != nullptr && granularity->text == "selective") sheet.say("recompute_modules", modules->text, *modules);
}

void take_virtual_stages(Sheet& sheet) {
  const Setting* share = sheet.find("num_layers_per_virtual_pipeline_stage");
  if (share == nullptr) return;
  const auto layers = sheet.count("num_layers");
  const auto stages = sheet.count("pipeline_model_parallel_size").value_or(1);
  if (!layers || stages < 1) return;
  const auto size = sheet.count(share->key).value_or(0);
  if (size > 0 && *layers / stages >= size) sheet.say("vpp", std::to_string(*layers / stages / size), *share);
}

/// Megatron-FSDP shards what its strategy names (core/distributed/fsdp, data_parallel_sharding_strategy); nothing where
/// none is said.
void take_megatron_fsdp(Sheet& sheet) {
  if (!sheet.is_on("use_megatron_fsdp") && !sheet.is_on("use_custom_fsdp")) return;
  const Setting& because = *sheet.find({"use_megatron_fsdp", "use_custom_fsdp"});
  const std::string strategy = sheet.text("data_parallel_sharding_strategy");
  constexpr Spelling strategies[] = {
      {"optim", "zero1"}, {"optim_grads", "zero2"}, {"optim_grads_params", "zero3"}, {"no_shard", "ddp"}};
  for (const auto& [theirs, ours] : strategies) {
    if (strategy == theirs) sheet.say("sharding", std::string(ours), because);
  }
  sheet.assume(because, "Megatron-FSDP's own buffers are not modelled");
}

void take_sharding(Sheet& sheet) {
  // Whole tensors go to ranks (core/optimizer/layer_wise_optimizer.py, LayerWiseDistributedOptimizer).
  if (sheet.text("optimizer") == "dist_muon") sheet.say("sharding", "zero1", *sheet.find("optimizer"));
  if (sheet.is_on("use_distributed_optimizer")) sheet.say("sharding", "zero1", sheet.said("use_distributed_optimizer"));
  take_megatron_fsdp(sheet);
  if (sheet.is_on("use_torch_fsdp2")) sheet.say("sharding", "fsdp2", sheet.said("use_torch_fsdp2"));
  if (sheet.is_on("optimizer_cpu_offload")) sheet.say("offload", "optimizer", sheet.said("optimizer_cpu_offload"));
}

/// A graph of the whole iteration, or of what the scope names.
void take_graphs(Sheet& sheet) {
  const Setting* graphs = sheet.find({"cuda_graph_impl", "enable_cuda_graph"});
  const std::string impl = sheet.text({"cuda_graph_impl", "enable_cuda_graph"});
  if (graphs == nullptr || impl == "none" || impl == "false") return;
  const std::string scope = sheet.text("cuda_graph_scope");
  if (scope.empty()) return sheet.assume(*graphs, "the memory of CUDA graphs is not counted");
  sheet.say("cuda_graph", scope.find("full_iteration") != std::string::npos ? "full" : "scoped", *graphs);
}

/// The dispatcher that sends a token once to each node (core/transformer/moe/token_dispatcher.py, flex with DeepEP).
void take_dispatcher(Sheet& sheet) {
  const Setting* backend = sheet.find("moe_flex_dispatcher_backend");
  if (backend != nullptr && sheet.text("moe_token_dispatcher_type") == "flex")
    sheet.say("node_dispatch", "1", *backend);
}

void take_loss(Sheet& sheet) {
  if (!sheet.is_on("cross_entropy_loss_fusion")) return;
  const bool by_te = sheet.text("cross_entropy_fusion_impl") == "te";
  sheet.say("loss", by_te ? "te-fused" : "vocab-parallel-fused", *sheet.find("cross_entropy_loss_fusion"));
}

void write_layout(const spec::Layout& layout, Page& page) {
  if (layout.cp > 1) page.put("cp_comm_type", layout.cp_exchange == spec::ContextExchange::ring ? "p2p" : "a2a");
  if (layout.node_dispatch) {
    page.put("moe_token_dispatcher_type", "flex");
    page.put("moe_flex_dispatcher_backend", "deepep");
  }
  if (layout.ep > 1 || layout.etp != layout.tp) page.put("expert_tensor_parallel_size", layout.etp);
}

void write_sharding(const spec::Layout& layout, Page& page) {
  const int stage = spec::zero_stage(layout.sharding);
  if (stage == 0) return;
  page.say("use_distributed_optimizer", true);
  if (layout.data_overlap.value_or(false)) page.say("overlap_param_gather", true);
  if (stage == 1) return;
  page.say("use_megatron_fsdp", true);
  page.put("data_parallel_sharding_strategy", stage == 2 ? "optim_grads" : "optim_grads_params");
  page.say("gradient_accumulation_fusion", false);
}

void write_recompute_words(const spec::Training& training, Page& page) {
  if (training.recompute.policy == spec::RecomputePolicy::selective) page.put("recompute_granularity", "selective");
  if (training.recompute.policy != spec::RecomputePolicy::full) return;
  page.put("recompute_granularity", "full");
  page.put("recompute_method", "uniform");
  page.put("recompute_num_layers", std::int64_t{1});
}

}  // namespace

void write_megatron_run(Letter& letter) {
  const auto& [training, layout] = std::tie(letter.question.training, letter.question.layout);
  Page& page = letter.settings;
  write_layout(layout, page);
  write_sharding(layout, page);
  if (training.precision.compute == formats::Dtype::bf16) page.say("bf16", true);
  if (training.precision.compute == formats::Dtype::fp16) page.say("fp16", true);
  write_recompute_words(training, page);
  if (spec::offloads_optimizer(training.offload)) page.say("optimizer_cpu_offload", true);
  if (training.cuda_graph == spec::CudaGraph::none) return;
  const bool whole = training.cuda_graph == spec::CudaGraph::full;
  page.put("cuda_graph_impl", whole ? "local" : "transformer_engine");
  page.put("cuda_graph_scope", whole ? "full_iteration" : "attn moe_router moe_preprocess");
}

void take_megatron_run(Sheet& sheet) {
  // arguments.py and yaml_arguments.py: without tensor parallelism sequence parallelism is switched off.
  if (sheet.count("tensor_model_parallel_size").value_or(1) == 1) sheet.unsay("sp");
  take_types(sheet);
  take_granularity(sheet);
  take_virtual_stages(sheet);
  take_sharding(sheet);
  take_loss(sheet);
  take_graphs(sheet);
  take_dispatcher(sheet);
  if (sheet.is_on("use_flash_attn")) sheet.say("attention", "flash", sheet.said("use_flash_attn"));
  take_length(sheet, {"train_iters", {"max_epochs", "num_train_epochs"}});
}

}  // namespace llmcalc::dialects
