// torchtune's YAML: components are named by their Python builders, which say model and method
// (torchtune/models/<family>/_model_builders.py, recipes/configs).
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/text.hpp"
#include "read/launch/formats.hpp"
#include "read/trainers/run_length.hpp"
#include "read/trainers/torch_rules.hpp"

#include <algorithm>
#include <string>

namespace llmcalc::read {
namespace {

constexpr Row rows[] = {
    {"batch_size", Use::term, "micro_batch"},
    {"gradient_accumulation_steps", Use::term, "grad_accum"},
    {"tokenizer.max_seq_len", Use::term, "seq"},
    {"model.lora_rank", Use::term, "lora_rank"},
    {"model.lora_dropout", Use::term, "lora_dropout"},
    {"optimizer_in_bwd", Use::term, "optimizer_in_backward"},
    {"compile", Use::term, "compile"},
    {"tensor_parallel_dim", Use::term, "tp"},
    {"context_parallel_dim", Use::term, "cp"},
    {"nproc_per_node", Use::term, "gpus"},
    {"nnodes", Use::rule},
    {"model._component_", Use::rule},
    {"model.lora_attn_modules", Use::rule},
    {"model.apply_lora_to_mlp", Use::rule},
    {"model.apply_lora_to_output", Use::rule},
    {"model.quantize_base", Use::rule},
    {"model.use_dora", Use::rule},
    {"optimizer._component_", Use::rule},
    {"optimizer.fused", Use::rule},
    {"enable_activation_checkpointing", Use::rule},
    {"enable_activation_offloading", Use::rule},
    {"fsdp_cpu_offload", Use::rule},
    {"fsdp_reshard_after_forward", Use::rule},
    {"dtype", Use::rule},
    {"loss._component_", Use::rule},
    {"max_steps_per_epoch", Use::rule},
    {"epochs", Use::rule},
    {"dataset.packed", Use::rule},
    {"custom_sharded_layers", Use::unmapped, "embedding and head are sharded with the layers"},
    {"clip_grad_norm", Use::unmapped, "the temporary norms of clipping are not counted"},
    {"teacher_model*", Use::unmapped, "the teacher of a distillation is not counted"},
    {"quantizer*", Use::unmapped, "the rounding of quantization-aware training is not counted"},
    {"tensor_parallel_plan*"},
    {"low_cpu_ram"},
    {"collate_fn"},
    {"kd_*", Use::unmapped, "the teacher of a distillation is not counted"},
    {"positional.0", Use::rule},
    {"positional*"},
    {"model*"},
    {"tokenizer*"},
    {"optimizer*"},
    {"loss*"},
    {"checkpointer*"},
    {"dataset*"},
    {"seed"},
    {"shuffle"},
    {"lr_scheduler*"},
    {"output_dir"},
    {"device"},
    {"metric_logger*"},
    {"log_*"},
    {"profiler*"},
    {"resume*"},
    {"save_*"},
    {"keep_*"},
    {"packed"},
    {"enable_async_checkpointing"},
    {"run_val_every_n_steps"},
    {"val*"},
    {"use_*"},
    {"checkpoint_dir"},
    {"standalone"},
    {"rdzv_*"},
    {"batch_size_val"},
    {"ac_mode"},
    {"cudnn_*"},
    {"data_parallel_*"},
};

constexpr std::span<const Row> tables[] = {rows};

bool recognizes(const Settings& settings) {
  return settings.has("model._component_") || settings.has("tokenizer._component_");
}

struct Builder {
  std::string_view name;
  std::string_view preset;
};
constexpr Builder builders[] = {
    {"llama2_7b", "llama-2-7b"},
    {"llama2_13b", "llama-2-13b"},
    {"llama2_70b", "llama-2-70b"},
    {"llama3_8b", "llama-3-8b"},
    {"llama3_70b", "llama-3-70b"},
    {"llama3_1_8b", "llama-3.1-8b"},
    {"llama3_1_70b", "llama-3.1-70b"},
    {"llama3_1_405b", "llama-3.1-405b"},
    {"llama3_2_1b", "llama-3.2-1b"},
    {"llama3_2_3b", "llama-3.2-3b"},
    {"llama3_3_70b", "llama-3.3-70b"},
    {"mistral_7b", "mistral-7b-v0.1"},
    {"gemma_2b", "gemma-2b"},
    {"gemma_7b", "gemma-7b"},
    {"gemma2_2b", "gemma-2-2b"},
    {"gemma2_9b", "gemma-2-9b"},
    {"gemma2_27b", "gemma-2-27b"},
    {"phi3_mini", "phi-3-mini"},
    {"qwen2_7b", "qwen2-7b"},
    {"qwen2_0_5b", "qwen2-0.5b"},
    {"qwen2_1_5b", "qwen2-1.5b"},
    {"qwen2_5_0_5b", "qwen2.5-0.5b"},
    {"qwen2_5_1_5b_base", "qwen2.5-1.5b"},
    {"qwen2_5_3b", "qwen2.5-3b"},
    {"qwen2_5_7b_base", "qwen2.5-7b"},
    {"qwen2_5_14b_base", "qwen2.5-14b"},
    {"qwen2_5_32b_base", "qwen2.5-32b"},
    {"qwen2_5_72b_base", "qwen2.5-72b"},
};

/// What stands behind the last dot of "torchtune.models.llama3_1.lora_llama3_1_8b".
std::string builder_name(const Setting& component) {
  const auto dot = component.text.rfind('.');
  return quantity::to_lower(dot == std::string::npos ? component.text : component.text.substr(dot + 1));
}

void take_model(Sheet& sheet) {
  const Setting* component = sheet.find("model._component_");
  if (component == nullptr) return;
  std::string name = builder_name(*component);
  const bool quantized = name.starts_with("qlora_") || sheet.is_on("model.quantize_base");
  const bool adapts = quantized || name.starts_with("lora_");
  if (adapts && name.find("lora_") != std::string::npos) name.erase(0, name.find("lora_") + 5);
  const auto* found = std::ranges::find(builders, name, &Builder::name);
  if (found != std::end(builders)) {
    sheet.say("model", std::string(found->preset), *component);
  } else {
    sheet.assume(*component, "no public model is known by that name: say --model");
  }
  const std::string_view whole = sheet.is_on("model.use_dora") ? "dora" : "lora";
  sheet.say("method", !adapts ? "full" : quantized ? "qlora" : std::string(whole), *component);
}

void take_adapted(Sheet& sheet) {
  take_targets(sheet, {"model.lora_attn_modules"});
  const Given* attention = sheet.word("lora_targets");
  if (attention == nullptr) return;
  std::string targets = attention->text;
  if (sheet.is_on("model.apply_lora_to_mlp")) targets += ",gate,up,down";
  if (sheet.is_on("model.apply_lora_to_output")) targets += ",head";
  sheet.say("lora_targets", targets, *sheet.find("model.lora_attn_modules"));
}

constexpr Spelling optimizers[] = {{"adamw", "adamw"},
                                   {"adam", "adamw"},
                                   {"adamw8bit", "adamw-8bit"},
                                   {"adamwfp8", "adamw-8bit"},
                                   {"adamw4bit", "adamw-4bit"},
                                   {"pagedadamw", "paged-adamw"},
                                   {"pagedadamw8bit", "paged-adamw-8bit"},
                                   {"sgd", "sgd"},
                                   {"adafactor", "adafactor"}};

void take_optimizer(Sheet& sheet) {
  const Setting* component = sheet.find("optimizer._component_");
  if (component == nullptr) return;
  const auto* found = std::ranges::find(optimizers, builder_name(*component), &Spelling::theirs);
  if (found == std::end(optimizers)) return sheet.assume(*component, "AdamW's states are counted: say --optimizer");
  sheet.say("optimizer", std::string(found->ours), *component);
  const auto fused = sheet.truth("optimizer.fused");
  if (fused) sheet.say("optimizer_impl", *fused ? "fused" : "foreach", *sheet.find("optimizer.fused"));
}

/// The recipe, on the command line alone, says whether there is one accelerator.
void take_recipe(Sheet& sheet) {
  const std::string recipe = sheet.text("positional.0");
  if (recipe.find("single_device") != std::string::npos) sheet.say("gpus", "1", *sheet.find("positional.0"));
  if (recipe.find("distributed") != std::string::npos) sheet.say("sharding", "fsdp2", *sheet.find("positional.0"));
}

void take_memory(Sheet& sheet) {
  take_recompute(sheet, {"enable_activation_checkpointing"});
  if (sheet.is_on("enable_activation_offloading")) {
    sheet.say("offload", "activations", sheet.said("enable_activation_offloading"));
  }
  if (sheet.is_on("fsdp_cpu_offload")) sheet.say("offload", "params+optimizer", sheet.said("fsdp_cpu_offload"));
  if (sheet.truth("fsdp_reshard_after_forward") == false) {
    sheet.say("reshard", "0", *sheet.find("fsdp_reshard_after_forward"));
  }
}

/// recipes/full_finetune_single_device.py: an epoch ends after max_steps_per_epoch optimizer steps.
void take_epochs(Sheet& sheet) {
  const auto steps = sheet.count("max_steps_per_epoch");
  if (!steps || *steps < 1) return take_length(sheet, {{}, {"epochs"}, {"dataset.packed"}});
  const auto all = quantity::checked_multiply(*steps, sheet.count("epochs").value_or(1));
  sheet.say("steps", std::to_string(all), *sheet.find("max_steps_per_epoch"));
}

void rules(Sheet& sheet) {
  take_model(sheet);
  take_adapted(sheet);
  take_optimizer(sheet);
  take_recipe(sheet);
  take_memory(sheet);
  take_epochs(sheet);
  if (const Setting* dtype = sheet.find("dtype")) sheet.say("dtype", quantity::to_lower(dtype->text), *dtype);
  const Setting* loss = sheet.find("loss._component_");
  const bool in_chunks = loss != nullptr && (loss->text.find("Chunked") != std::string::npos ||
                                             loss->text.find("LinearCrossEntropy") != std::string::npos);
  if (in_chunks) sheet.say("loss", "chunked", *loss);
  if (!sheet.has("seq")) sheet.assume("samples as long as --seq: the file leaves their length to the data");
}

}  // namespace

const Format& torchtune_format() {
  static constexpr Format format{"torchtune configuration", "torchtune", tables, recognizes, rules};
  return format;
}

}  // namespace llmcalc::read
