#include "dialects/trainers/megatron_rules.hpp"
#include "dialects/trainers/run_length.hpp"
#include "dialects/trainers/torch_rules.hpp"

#include <string>

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

void take_loss(Sheet& sheet) {
  if (!sheet.is_on("cross_entropy_loss_fusion")) return;
  const bool by_te = sheet.text("cross_entropy_fusion_impl") == "te";
  sheet.say("loss", by_te ? "te-fused" : "vocab-parallel-fused", *sheet.find("cross_entropy_loss_fusion"));
}

}  // namespace

void take_megatron_run(Sheet& sheet) {
  // arguments.py and yaml_arguments.py: without tensor parallelism sequence parallelism is switched off.
  if (sheet.count("tensor_model_parallel_size").value_or(1) == 1) sheet.unsay("sp");
  take_types(sheet);
  take_granularity(sheet);
  take_virtual_stages(sheet);
  take_sharding(sheet);
  take_loss(sheet);
  if (sheet.is_on("use_flash_attn")) sheet.say("attention", "flash", sheet.said("use_flash_attn"));
  take_length(sheet, {"train_iters", {"max_epochs", "num_train_epochs"}});
}

}  // namespace llmcalc::dialects
