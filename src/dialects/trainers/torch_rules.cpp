#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/text.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::dialects {
namespace {

/// "torch.bfloat16", "bfloat16", "bf16": the last.
std::string_view half_or_single(std::string_view name) {
  name = quantity::without_start(name, "torch.");
  if (name == "bfloat16" || name == "bf16") return "bf16";
  if (name == "float16" || name == "fp16" || name == "half") return "fp16";
  return name == "float32" || name == "fp32" || name == "float" ? "fp32" : "";
}

/// A switch that also says "auto" (bf16 where the accelerator has it) or "full".
const Setting* chosen(const Sheet& sheet, std::string_view key) {
  const Setting* setting = sheet.find(key);
  if (setting == nullptr) return nullptr;
  const std::string word = quantity::to_lower(setting->text);
  const bool on = sheet.truth(key).value_or(word == "auto" || word == "full");
  return on ? setting : nullptr;
}

/// The stage in "zero3_bf16.json", "ds_z3_offload_config.json", "stage2"; '\0' where there is none.
char stage_in(std::string_view name) {
  for (const std::string_view word : {"zero", "stage", "_z", "-z"}) {
    const auto at = name.find(word);
    if (at == std::string_view::npos) continue;
    auto rest = name.substr(at + word.size());
    if (rest.starts_with('_') || rest.starts_with('-')) rest.remove_prefix(1);
    if (!rest.empty() && rest.front() >= '0' && rest.front() <= '3') return rest.front();
  }
  return '\0';
}

}  // namespace

void take_precision(Sheet& sheet, std::initializer_list<std::string_view> dtype_keys, Loads loads) {
  const Setting* bf16 = chosen(sheet, "bf16");
  const bool is_auto = bf16 != nullptr && quantity::to_lower(bf16->text) == "auto";
  if (is_auto && sheet.is_on("fp16")) bf16 = nullptr;  // axolotl utils/config, resolve_dtype
  const Setting* half = bf16 != nullptr ? bf16 : chosen(sheet, "fp16");
  const Setting* dtype = sheet.find(dtype_keys);
  const std::string_view loaded = dtype == nullptr ? std::string_view() : half_or_single(sheet.text(dtype_keys));
  const std::string word = bf16 != nullptr ? "bf16" : "fp16";
  if (is_auto && bf16 != nullptr) sheet.assume(*bf16, "an accelerator that has bf16");
  if (loaded == "bf16" || loaded == "fp16") {
    sheet.say("dtype", loaded, *dtype);
  } else if (half != nullptr) {
    const bool engine = sheet.has("framework") && sheet.find("deepspeed") != nullptr;
    const bool as_published = loads == Loads::checkpoint && bf16 != nullptr;
    const bool autocasts = !engine && ((loads != Loads::half && !as_published) || loaded == "fp32");
    sheet.say("dtype", (autocasts ? "mixed-" : "") + word, *half);
    if (autocasts && loaded.empty() && sheet.find("deepspeed") == nullptr) {
      sheet.assume({.words = fmt::format(
                        "{} {} ({}): weights are loaded in fp32, as transformers 4 and trl do where no dtype is said",
                        half->key, half->text, half->where),
                    .term = "weights"});
    } else if (as_published && !engine) {
      sheet.assume({.words = fmt::format("{} {} ({}): weights in the checkpoint's type, as transformers 5 loads them; "
                                         "4 loads fp32, --dtype mixed-bf16",
                                         half->key, half->text, half->where),
                    .term = "weights"});
    }
  } else if (loaded == "fp32") {
    sheet.say("dtype", "fp32", *dtype);
  }
  const bool single = half == nullptr && loaded != "bf16" && loaded != "fp16";
  if (single && sheet.is_on("tf32")) sheet.say("compute", "tf32", sheet.said("tf32"));
}

void write_precision(Letter& letter, std::string_view dtype_key, Loads loads) {
  const auto& precision = letter.question.training.precision;
  const bool half = precision.compute == formats::Dtype::fp16;
  const bool narrow = half || precision.compute == formats::Dtype::bf16;
  if (narrow && (loads == Loads::half || precision.autocast)) letter.settings.say(half ? "fp16" : "bf16", true);
  if (narrow && loads == Loads::fp32 && !precision.autocast) {
    letter.settings.put(dtype_key, half ? "float16" : "bfloat16");
  }
}

void widen_under_fsdp(Sheet& sheet) {
  const Given* sharding = sheet.word("sharding");
  const Given* dtype = sheet.word("dtype");
  const Given* method = sheet.word("method");
  const bool trains_all = method == nullptr || method->text == "full";
  const Setting* mixed = sheet.find({"bf16", "fp16"});
  if (sharding == nullptr || dtype == nullptr || mixed == nullptr || !trains_all) return;
  const bool half = dtype->text == "bf16" || dtype->text == "fp16";
  if (half && sharding->text != "ddp") sheet.say("dtype", "mixed-" + std::string(dtype->text), *mixed);
}

bool take_quantization(Sheet& sheet, Nested usual) {
  const auto bits = sheet.count({"quantization_bit", "bits"});
  const Setting* twice_in_4_bits = chosen(sheet, "q_lora");  // FastChat train_lora.py, Qwen2 examples/sft/finetune.py
  const Setting* four = bits == 4 ? sheet.find({"quantization_bit", "bits"}) : chosen(sheet, "load_in_4bit");
  if (four == nullptr) four = twice_in_4_bits;
  const Setting* eight = bits == 8 ? sheet.find({"quantization_bit", "bits"}) : chosen(sheet, "load_in_8bit");
  if (four == nullptr && eight == nullptr) return false;
  if (four == nullptr) {
    sheet.say("weights", "int8", *eight);
    return true;
  }
  const Setting* twice = sheet.find({"bnb_4bit_use_double_quant", "bnb_config_kwargs.bnb_4bit_use_double_quant",
                                     "use_bnb_nested_quant", "double_quantization", "double_quant"});
  const std::string kind = sheet.text({"bnb_4bit_quant_type", "quantization_type", "quant_type"});
  const bool nested = twice == nullptr ? usual == Nested::yes || twice_in_4_bits : chosen(sheet, twice->key) != nullptr;
  sheet.say("weights", (kind == "fp4" ? "fp4" : "nf4") + std::string(nested ? "-dq" : ""), *four);
  return true;
}

std::string adapter_method(Sheet& sheet, std::string_view narrow, std::string_view decomposes) {
  if (!sheet.is_on(decomposes)) return narrow.empty() ? "lora" : "qlora";
  if (!narrow.empty() && !sheet.has("weights")) sheet.say("weights", narrow, sheet.said(decomposes));
  return "dora";
}

bool has_adapters(const spec::Question& question) {
  const auto method = question.training.method;
  return method == spec::Method::lora || method == spec::Method::dora || method == spec::Method::qlora;
}

bool in_4_bits(const spec::Question& question) { return spec::rests_quantized(question.training); }

void write_adapters(Letter& letter, const AdapterKeys& keys) {
  if (!has_adapters(letter.question)) return;
  const auto& adapter = letter.question.training.adapter;
  letter.settings.put(keys.rank, adapter.rank);
  letter.settings.put("lora_dropout", letter.text("lora_dropout"));
  const std::string modules = modules_of(adapter.targets, keys.all, keys.between);
  if (modules.empty()) letter.settings.say("lora_target_linear", true);
  if (!modules.empty()) letter.settings.put(keys.targets, modules);
  if (!adapter.saved.empty()) letter.settings.put(keys.saved, modules_of(adapter.saved, {}, keys.between));
  if (letter.question.training.method == spec::Method::dora) letter.settings.say("use_dora", true);
}

void write_recompute(Letter& letter) {
  letter.settings.say("gradient_checkpointing",
                      letter.question.training.recompute.policy == spec::RecomputePolicy::full);
}

void take_recompute(Sheet& sheet, std::initializer_list<std::string_view> keys) {
  const Setting* setting = sheet.find(keys);
  if (setting == nullptr) return;
  const std::string word = quantity::to_lower(setting->text);
  const bool offloads = word.starts_with("offload") || word == "unsloth";
  const bool on = sheet.truth(keys).value_or(offloads);
  sheet.say("recompute", on ? "full" : "none", *setting);
  if (offloads) sheet.say("offload", "activations", *setting);
}

void take_optimizer_impl(Sheet& sheet) {
  const Setting* setting = sheet.find({"optim", "optimizer"});
  if (setting == nullptr) return;
  const std::string word = quantity::to_lower(setting->text);
  if (word == "adamw_torch_fused") sheet.say("optimizer_impl", "fused", *setting);
  if (word == "adamw_torch") sheet.say("optimizer_impl", "foreach", *setting);
}

void write_optimizer(Letter& letter, std::string_view key) {
  const auto& training = letter.question.training;
  const bool fused = training.optimizer_impl == spec::OptimizerImpl::fused;
  if (training.optimizer == spec::Optimizer::adamw && fused) return letter.settings.put(key, "adamw_torch_fused");
  const auto theirs = theirs_for(letter.text("optimizer"), "@optimizer");
  if (!theirs.empty()) letter.settings.put(key, theirs);
}

void take_deepspeed(Sheet& sheet, std::string_view key, std::string_view batch) {
  const Setting* setting = sheet.find(key);
  if (setting == nullptr || says_nothing(*setting)) return;
  if (!batch.empty()) sheet.by_default("micro_batch", batch, "the trainer's default");
  if (!sheet.is_on(key) && !sheet.include(*setting)) take_zero_by_name(sheet, *setting);  // a switch names no file
}

void take_zero_by_name(Sheet& sheet, const Setting& file) {
  const std::string path = quantity::to_lower(file.text);
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  const char stage = stage_in(name);
  if (stage == '\0') return;
  sheet.guess("sharding", stage == '0' ? "ddp" : std::string("zero") + stage, file);
  const auto begin = name.find("offload");
  constexpr std::string_view denials[] = {"no", "no_", "no-", "non_", "wo_", "without_"};  // ds_zero2_no_offload.json
  const auto denies = [&](std::string_view each) { return name.substr(0, begin).ends_with(each); };
  if (begin == std::string_view::npos || std::ranges::any_of(denials, denies)) return;
  const bool weights_alone = name.find("offload_param") != std::string_view::npos;
  sheet.guess("offload", stage != '3' ? "optimizer" : weights_alone ? "params" : "params+optimizer", file);
}

void take_zero(Sheet& sheet, std::string_view stage, std::string_view optimizer, std::string_view params) {
  if (const Setting* said = sheet.find(stage); said != nullptr && !says_nothing(*said)) {
    sheet.say("sharding", said->text == "0" ? "ddp" : "zero" + said->text, *said);
  }
  const auto moved = [&](std::string_view key) {
    const Setting* device = sheet.find(key);
    return device == nullptr || says_nothing(*device) ? nullptr : device;
  };
  const Setting* states = moved(optimizer);
  const Setting* weights = moved(params);
  if (weights != nullptr) sheet.say("offload", states != nullptr ? "params+optimizer" : "params", *weights);
  if (weights == nullptr && states != nullptr) sheet.say("offload", "optimizer", *states);
  for (const Setting* each : {weights, states}) {
    if (each != nullptr && quantity::to_lower(each->text) == "nvme") sheet.say("offload_to", "nvme", *each);
  }
}

void take_accelerate_by_name(Sheet& sheet, std::string_view key) {
  const Setting* file = sheet.find(key);
  if (file == nullptr || sheet.include(*file)) return;
  const std::string path = quantity::to_lower(file->text);
  const std::string_view name = std::string_view(path).substr(path.rfind('/') + 1);
  if (name.find("fsdp") != std::string_view::npos) {
    return sheet.guess("sharding", name.find("fsdp2") != std::string_view::npos ? "fsdp2" : "fsdp1", *file);
  }
  if (name.find("multi_gpu") != std::string_view::npos) return sheet.guess("sharding", "ddp", *file);
  if (stage_in(name) == '\0') return;
  sheet.reading().usual_framework = "deepspeed";
  take_zero_by_name(sheet, *file);
}

bool evaluates(const Sheet& sheet) {
  const std::string strategy = sheet.text({"eval_strategy", "evaluation_strategy"});
  return strategy == "steps" || strategy == "epoch" || sheet.is_on("do_eval");
}

void take_evaluation(Sheet& sheet, bool evaluates, std::string_view usual, std::string_view whose) {
  if (!evaluates) return;
  const Setting* batch = sheet.find({"per_device_eval_batch_size", "per_gpu_eval_batch_size", "eval_batch_size"});
  if (batch != nullptr && !says_nothing(*batch)) return sheet.say("eval_batch", batch->text, *batch);
  const Given* trained = sheet.word("micro_batch");
  if (!usual.empty()) return sheet.by_default("eval_batch", usual, whose);
  if (trained != nullptr) sheet.by_default("eval_batch", trained->text, whose);
}

void take_galore(Sheet& sheet) {
  if (!sheet.is_on("use_galore")) return;
  const Setting& galore = sheet.said("use_galore");
  sheet.say("optimizer", "galore-adamw-8bit", galore);
  if (sheet.text("optim").find("8bit") == std::string::npos) sheet.assume(galore, "its moments in 8 bits");
}

void assume_reward_model(Sheet& sheet, std::string_view key) {
  if (sheet.text(key) != "rm" && !sheet.is_on(key)) return;
  sheet.assume(*sheet.find(key),
               "pairs as ORPO trains them, without a reference; its head of one output is counted "
               "as the vocabulary's");
}

void take_cluster(Sheet& sheet, std::string_view per_node, std::string_view nodes, std::int64_t usual) {
  if (sheet.leaves_open("gpus", {per_node, nodes})) return;
  const Setting* said = sheet.find({per_node, nodes});
  if (said == nullptr) return;
  const auto machines = sheet.count(nodes).value_or(1);
  const auto all = quantity::checked_multiply(sheet.count(per_node).value_or(usual), machines);
  sheet.say("gpus", std::to_string(all), *said);
  if (machines > 1) sheet.say("nodes", std::to_string(machines), *sheet.find(nodes));
}

void take_model_file(Sheet& sheet) {
  const Setting* file =
      sheet.find({"modules.pre_trainer.model", "modules.sft_trainer.model", "modules.post_trainer.model"});
  if (file == nullptr) return;
  const auto name = quantity::without_end(file->text, ".yaml");
  const auto model = quantity::without_end(name, "-fp8");  // primus/configs/models/torchtitan, model.converters
  sheet.say("model", model, *file);
  if (model != name) sheet.say("compute", "fp8-e4m3", *file);
}

void take_liger(Sheet& sheet, std::string_view key) {
  if (!sheet.is_on(key)) return;
  sheet.say("fused_kernels", "1", *sheet.find(key));
  sheet.say("loss", "fused-linear", *sheet.find(key));
}

}  // namespace llmcalc::dialects
