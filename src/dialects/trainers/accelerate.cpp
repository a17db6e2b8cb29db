// The YAML of `accelerate config` (accelerate commands/config/config_args.py), which says how a run is spread, and
// DeepSpeed's JSON (runtime/config.py, runtime/zero/config.py), whose "auto" is what transformers fills in from its own
// arguments, so that it says nothing here.
#include "dialects/trainers/rules.hpp"
#include "frameworks/table.hpp"
#include "quantity/text.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <tuple>

namespace llmcalc::dialects {
namespace {

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
  sheet.reading().usual_framework = "deepspeed";  // a trainer that is started with it has its own name
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

struct Strategy {
  std::string_view name;
  std::string_view number;    ///< as torch.distributed.fsdp.ShardingStrategy counts
  std::string_view sharding;  ///< empty: that of the version
  bool reshards = true;
};

constexpr Strategy strategies[] = {
    {"full_shard", "1", "", true},
    {"shard_grad_op", "2", "", false},
    {"no_shard", "3", "ddp", true},
    {"hybrid_shard", "4", "hsdp", true},
    {"hybrid_shard_zero2", "5", "hsdp", false},
    {"_hybrid_shard_zero2", "5", "hsdp", false},
};

const Setting* of_config(const Sheet& sheet, const std::string& key) {
  return sheet.find({"fsdp_config." + key, "fsdp_config.fsdp_" + key, "fsdp_" + key});
}

bool is_yes(const Setting* setting) {
  if (setting == nullptr) return false;
  const std::string word = quantity::to_lower(setting->text);
  return word == "true" || word == "1" || word == "yes";
}

const Strategy* strategy_in(const Setting* setting) {
  if (setting == nullptr) return nullptr;
  const std::string text = " " + quantity::to_lower(setting->text) + " ";
  const Strategy* found = nullptr;
  for (const Strategy& strategy : strategies) {
    const bool named = text.find(strategy.name) != std::string::npos;
    const bool longer = found != nullptr && strategy.name.size() > found->name.size();
    if ((named && (found == nullptr || longer)) || text == " " + std::string(strategy.number) + " ") found = &strategy;
  }
  return found;
}

}  // namespace

void take_fsdp(Sheet& sheet, UsualFsdp usual) {
  const Setting* list = sheet.find("fsdp");
  const Setting* named = of_config(sheet, "sharding_strategy");
  const Setting* version = of_config(sheet, "version");
  const Setting* reshard = of_config(sheet, "reshard_after_forward");
  const Setting* because = list != nullptr ? list : version != nullptr ? version : named != nullptr ? named : reshard;
  if (because == nullptr || quantity::to_lower(because->text) == "false") return;

  const bool second = version != nullptr ? version->text == "2" : usual == UsualFsdp::transformers;
  const Strategy* strategy = strategy_in(named != nullptr ? named : list);
  if (strategy == nullptr && reshard != nullptr) strategy = strategy_in(reshard);
  const std::string_view whole = second ? "fsdp2" : "fsdp1";
  const bool says_other = strategy != nullptr && !strategy->sharding.empty();
  sheet.say("sharding", says_other ? strategy->sharding : whole, named != nullptr ? *named : *because);
  if (version == nullptr && !says_other) {
    sheet.assume(second ? "FSDP version 2, transformers' since 5.10 where none is said; 1 before"
                        : "FSDP version 1, accelerate's where none is said");
  }

  const bool keeps = (strategy != nullptr && !strategy->reshards) ||
                     (reshard != nullptr && quantity::to_lower(reshard->text) == "false");
  if (keeps) sheet.say("reshard", "0", reshard != nullptr ? *reshard : *because);
  const Setting* offload = of_config(sheet, "offload_params");
  const bool by_word = list != nullptr && quantity::to_lower(list->text).find("offload") != std::string::npos;
  if (is_yes(offload) || by_word) sheet.say("offload", "params+optimizer", is_yes(offload) ? *offload : *list);
  const Setting* checkpoints = of_config(sheet, "activation_checkpointing");
  if (is_yes(checkpoints)) sheet.say("recompute", "full", *checkpoints);
}

namespace {

/// Below `prefix`, the block of the file that takes them.
void put_strategy(const spec::Layout& layout, const spec::Training& training, const std::string& prefix, Page& page) {
  const bool second = layout.sharding == spec::Sharding::fsdp2;
  const bool hybrid = layout.sharding == spec::Sharding::hsdp;
  const bool keeps = !layout.reshard;
  page.put(prefix + "version", std::int64_t{second ? 2 : 1});
  if (second) page.say(prefix + "reshard_after_forward", !keeps);
  if (!second) {
    page.put(prefix + "sharding_strategy", hybrid  ? keeps ? "HYBRID_SHARD_ZERO2" : "HYBRID_SHARD"
                                           : keeps ? "SHARD_GRAD_OP"
                                                   : "FULL_SHARD");
  }
  if (training.offload == spec::Offload::params_optimizer) page.say(prefix + "offload_params", true);
}

bool shards(const spec::Layout& layout) {
  return layout.sharding == spec::Sharding::fsdp1 || layout.sharding == spec::Sharding::fsdp2 ||
         layout.sharding == spec::Sharding::hsdp;
}

}  // namespace

void write_fsdp(Letter& letter, bool names) {
  const spec::Question& question = letter.question;
  if (!shards(question.layout)) return;
  if (names) letter.settings.put("fsdp", "full_shard auto_wrap");
  put_strategy(question.layout, question.training, "fsdp_config.", letter.settings);
}

namespace {

void put_processes(Letter& letter, std::string_view type) {
  const spec::Layout& layout = letter.question.layout;
  const spec::Precision& precision = letter.question.training.precision;
  letter.accelerate.put("compute_environment", "LOCAL_MACHINE");
  letter.accelerate.put("distributed_type", type);
  letter.accelerate.put("num_processes", layout.gpus);
  letter.accelerate.put("num_machines", layout.nodes);
  if (!precision.autocast) return;
  letter.accelerate.put("mixed_precision", precision.compute == formats::Dtype::fp16 ? "fp16" : "bf16");
}

}  // namespace

void write_accelerate(Letter& letter) {
  if (!shards(letter.question.layout)) return;
  put_processes(letter, "FSDP");
  put_strategy(letter.question.layout, letter.question.training, "fsdp_config.fsdp_", letter.accelerate);
}

void write_accelerate_engine(Letter& letter) {
  const auto& [training, layout] = std::tie(letter.question.training, letter.question.layout);
  if (!frameworks::hands_to_deepspeed(training, layout.sharding)) return;
  put_processes(letter, "DEEPSPEED");
  const auto device = [](bool moves) { return std::string(moves ? "cpu" : "none"); };
  letter.accelerate.put("deepspeed_config.zero_stage", spec::zero_stage(layout.sharding));
  letter.accelerate.put("deepspeed_config.offload_optimizer_device",
                        device(spec::offloads_optimizer(training.offload)));
  letter.accelerate.put("deepspeed_config.offload_param_device", device(spec::offloads_weights(training.offload)));
}

std::string accelerated(const Letter& letter, std::string_view program) {
  const spec::Layout& layout = letter.question.layout;
  if (!letter.accelerate.is_empty()) {
    return file_text("accelerate.yaml", letter.accelerate.yaml()) +
           fmt::format("accelerate launch --config_file accelerate.yaml {}", program);
  }
  const bool several = layout.gpus > 1 && layout.sharding == spec::Sharding::ddp;
  const std::string nodes = layout.nodes > 1 ? fmt::format("--num_machines {} ", layout.nodes) : "";
  return fmt::format("accelerate launch {}{}--num_processes {} {}", several ? "--multi_gpu " : "", nodes, layout.gpus,
                     program);
}

void accelerate_rules(Sheet& sheet) {
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
    sheet.say("framework", "megatron", *sheet.find("distributed_type"));
  } else if (type == "multi_gpu") {
    sheet.say("sharding", "ddp", *sheet.find("distributed_type"));
  }
  take_parallelism(sheet);
  const std::string backend = sheet.text({"dynamo_config.dynamo_backend", "dynamo_backend"});
  if (!backend.empty() && backend != "no") {
    sheet.say("compile", "1", *sheet.find({"dynamo_config.dynamo_backend", "dynamo_backend"}));
  }
}

namespace {

/// MiCS shards within groups; the old switch of stage 2 moved its optimizer to the host.
void take_states(Sheet& sheet) {
  take_zero(sheet, "zero_optimization.stage", "zero_optimization.offload_optimizer.device",
            "zero_optimization.offload_param.device");
  const Setting* group = sheet.find("zero_optimization.mics_shard_size");
  if (group != nullptr && sheet.count(group->key).value_or(0) > 0) sheet.say("sharding_group", group->text, *group);
}

void take_types(Sheet& sheet) {
  for (const auto key : {"bf16.enabled", "bfloat16.enabled", "fp16.enabled"}) {
    if (!sheet.is_on(key)) continue;
    return sheet.say("dtype", std::string_view(key).starts_with('f') ? "fp16" : "bf16", *sheet.find(key));
  }
  // runtime/engine.py: fp32 where no block enables another type.
  const bool open = sheet.text("bf16.enabled") == "auto" || sheet.text("fp16.enabled") == "auto";
  if (!open) sheet.by_default("dtype", "fp32", "DeepSpeed default");
}

/// runtime/precision_config.py, DeepSpeedBF16Config; the gradients that the optimizer reads go with the masters.
void take_narrow_states(Sheet& sheet) {
  constexpr auto masters = "bf16.bf16_master_weights_and_grads";
  if (sheet.is_on(masters)) {
    sheet.say("master_type", "bf16", *sheet.find(masters));
    sheet.say("grads", "bf16", *sheet.find(masters));
  }
}

std::string deepspeed_json(const spec::Question& question) {
  const spec::Training& training = question.training;
  std::string zero = fmt::format(R"("stage": {})", spec::zero_stage(question.layout.sharding));
  if (spec::offloads_optimizer(training.offload)) zero += R"(, "offload_optimizer": {"device": "cpu"})";
  if (spec::offloads_weights(training.offload)) zero += R"(, "offload_param": {"device": "cpu"})";
  std::string json = fmt::format(R"({{"train_batch_size": {}, "train_micro_batch_size_per_gpu": {})",
                                 training.global_batch, training.micro_batch);
  const auto add = [&](const std::string& entry) { json += ",\n  " + entry; };
  add(fmt::format(R"("gradient_accumulation_steps": {})", training.grad_accum));
  add(fmt::format(R"("zero_optimization": {{{}}})", zero));
  if (training.precision.compute == formats::Dtype::bf16) add(R"("bf16": {"enabled": true})");
  if (training.precision.compute == formats::Dtype::fp16) add(R"("fp16": {"enabled": true})");
  if (question.layout.tp > 1) add(fmt::format(R"("tensor_parallel": {{"autotp_size": {}}})", question.layout.tp));
  return json + "}";
}

}  // namespace

std::string write_deepspeed(Letter& letter) {
  const spec::Question& question = letter.question;
  const bool is_its_own = question.training.framework == spec::Framework::deepspeed;
  if (!is_its_own && !frameworks::hands_to_deepspeed(question.training, question.layout.sharding)) return {};
  letter.settings.put("deepspeed", "ds_config.json");
  return file_text("ds_config.json", deepspeed_json(question) + "\n");
}

namespace {

/// A batch is samples x accumulation x ranks (deepspeed/runtime/config.py, _batch_assertion): three of them say the
/// fourth, though the launcher counts more.
void guess_ranks(Sheet& sheet) {
  const auto all = sheet.count("train_batch_size").value_or(0);
  const auto samples = sheet.count("train_micro_batch_size_per_gpu").value_or(0);
  const auto steps = sheet.count("gradient_accumulation_steps").value_or(0);
  if (samples < 1 || steps < 1 || samples > all / steps) return;
  const auto each = samples * steps;
  if (all % each == 0 && !sheet.has("tp") && !sheet.has("cp"))
    sheet.guess("gpus", std::to_string(all / each), *sheet.find("train_batch_size"));
}

}  // namespace

void deepspeed_rules(Sheet& sheet) {
  sheet.reading().usual_framework = "deepspeed";  // a trainer that names the file has its own name
  take_states(sheet);
  take_types(sheet);
  take_narrow_states(sheet);
  const auto tensor_parallel = sheet.count("tensor_parallel.autotp_size");
  if (tensor_parallel.value_or(0) > 0) {
    sheet.say("tp", std::to_string(*tensor_parallel), *sheet.find("tensor_parallel.autotp_size"));
  }
  if (sheet.has("cp")) sheet.by_default("cp_exchange", "all-to-all", "DeepSpeed-Ulysses");
  guess_ranks(sheet);
}

}  // namespace llmcalc::dialects
