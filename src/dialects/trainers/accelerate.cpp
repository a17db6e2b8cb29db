// The YAML of `accelerate config` (accelerate commands/config/config_args.py), which says how a run is spread.
#include "dialects/core/formats.hpp"
#include "dialects/trainers/torch_rules.hpp"

#include <string>

namespace llmcalc::dialects {
namespace {

constexpr FormatRow rows[] = {
    {"num_processes", Use::term, "gpus"},
    {"num_machines", Use::term, "nodes"},
    {"distributed_type", Use::rule},
    {"accelerate_config", Use::rule},
    {"mixed_precision", Use::rule},
    {"fsdp_config*", Use::rule},
    {"deepspeed_config.zero_stage", Use::rule},
    {"deepspeed_config.offload_optimizer_device", Use::rule},
    {"deepspeed_config.offload_param_device", Use::rule},
    {"deepspeed_config.deepspeed_config_file", Use::rule},
    {"deepspeed_config.gradient_accumulation_steps", Use::term, "grad_accum"},
    {"parallelism_config*", Use::rule},
    {"megatron_lm_config.megatron_lm_tp_degree", Use::term, "tp"},
    {"megatron_lm_config.megatron_lm_pp_degree", Use::term, "pp"},
    {"megatron_lm_config.megatron_lm_num_micro_batches", Use::term, "grad_accum"},
    {"megatron_lm_config.megatron_lm_sequence_parallelism", Use::term, "sp"},
    {"megatron_lm_config.megatron_lm_recompute_activations", Use::rule},
    {"megatron_lm_config.megatron_lm_use_distributed_optimizer", Use::rule},
    {"dynamo_config.dynamo_backend", Use::rule},
    {"dynamo_backend", Use::rule},
    {"fp8_config*", Use::unmapped, "details of FP8 are not read"},
    {"tp_config.tp_size", Use::term, "tp"},
    {"megatron_lm_config*"},
    {"deepspeed_config*"},
    {"dynamo_config*"},
    {"compute_environment"},
    {"debug"},
    {"downcast_bf16"},
    {"enable_cpu_affinity"},
    {"gpu_ids"},
    {"machine_rank"},
    {"max_restarts"},
    {"monitor_interval"},
    {"role"},
    {"tee"},
    {"main_process_ip"},
    {"main_process_port"},
    {"main_training_function"},
    {"rdzv_*"},
    {"same_network"},
    {"tpu_*"},
    {"use_cpu"},
    {"command_file"},
    {"commands"},
    {"ipex_config*"},
    {"kt_config*", Use::unmapped, "experts stay on the accelerator, which KTransformers keeps on the host"},
};

constexpr std::span<const FormatRow> tables[] = {rows};

bool recognizes(const Settings& settings) {
  return settings.has("distributed_type") || settings.has("compute_environment");
}

void take_mixed_precision(Sheet& sheet) {
  const std::string word = sheet.text("mixed_precision");
  const Setting* setting = sheet.find("mixed_precision");
  if (word == "bf16" || word == "fp16") {
    const bool engine = sheet.text("distributed_type") == "deepspeed";
    sheet.say("dtype", (engine ? "" : "mixed-") + word, *setting);
  } else if (word == "fp8") {
    sheet.say("dtype", "mixed-bf16", *setting);
    sheet.say("compute", "fp8-e4m3", *setting);
  }
}

void take_deepspeed_config(Sheet& sheet) {
  const std::string prefix = "deepspeed_config.";
  if (const Setting* type = sheet.find("distributed_type")) sheet.say("framework", "deepspeed", *type);
  take_zero(sheet, prefix + "zero_stage", prefix + "offload_optimizer_device", prefix + "offload_param_device");
  const Setting* file = sheet.find(prefix + "deepspeed_config_file");
  if (file != nullptr && !sheet.include(*file)) take_zero_by_name(sheet, *file);
}

/// accelerate utils/../parallelism_config.py: a size of 1 says nothing.
void take_parallelism(Sheet& sheet) {
  const std::string prefix = "parallelism_config.parallelism_config_";
  const auto degree = [&](const std::string& name) { return sheet.count(prefix + name + "_size").value_or(1); };
  const auto take = [&](const std::string& name, std::string_view term) {
    if (degree(name) > 1) sheet.say(term, std::to_string(degree(name)), *sheet.find(prefix + name + "_size"));
  };
  take("tp", "tp");
  take("cp", "cp");
  if (degree("sp") > 1) {
    take("sp", "cp");
    sheet.say("cp_exchange", "all-to-all", *sheet.find(prefix + "sp_size"));
  }
  if (degree("dp_replicate") > 1 && degree("dp_shard") > 1) {
    sheet.say("sharding", "hsdp", *sheet.find(prefix + "dp_replicate_size"));
    take("dp_shard", "sharding_group");
  }
}

void take_megatron(Sheet& sheet) {
  const std::string prefix = "megatron_lm_config.megatron_lm_";
  sheet.say("framework", "megatron", *sheet.find("distributed_type"));
  if (sheet.is_on(prefix + "use_distributed_optimizer")) {
    sheet.say("sharding", "zero1", *sheet.find(prefix + "use_distributed_optimizer"));
  }
  if (sheet.is_on(prefix + "recompute_activations")) {
    sheet.say("recompute", "selective", *sheet.find(prefix + "recompute_activations"));
  }
}

void rules(Sheet& sheet) {
  sheet.reading().usual_framework = "accelerate";
  take_accelerate_by_name(sheet, "accelerate_config");
  const std::string type = sheet.text("distributed_type");
  take_mixed_precision(sheet);
  if (type == "fsdp") {
    take_fsdp(sheet);
    if (!sheet.has("sharding")) sheet.say("sharding", "fsdp1", *sheet.find("distributed_type"));
  } else if (type == "deepspeed") {
    take_deepspeed_config(sheet);
  } else if (type == "megatron_lm") {
    take_megatron(sheet);
  } else if (type == "multi_gpu") {
    sheet.say("sharding", "ddp", *sheet.find("distributed_type"));
  }
  take_parallelism(sheet);
  const std::string backend = sheet.text({"dynamo_config.dynamo_backend", "dynamo_backend"});
  if (!backend.empty() && backend != "no") {
    sheet.say("compile", "1", *sheet.find({"dynamo_config.dynamo_backend", "dynamo_backend"}));
  }
}

}  // namespace

const Format& accelerate_format() {
  static const Format format{"accelerate configuration", "", tables, recognizes, rules};
  return format;
}

}  // namespace llmcalc::dialects
