// ms-swift's options (swift/arguments, swift/trainers/arguments.py; for Megatron swift/megatron/arguments).
#include "dialects/trainers/rules.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

namespace llmcalc::dialects {
namespace {

/// swift/tuner_plugin/mapping.py and swift/arguments/tuner_args.py; those whose weights are not modelled are not here.
constexpr Spelling methods[] = {{"lora", "lora"}, {"full", "full"},     {"adalora", "adalora"}, {"longlora", "lora"},
                                {"ia3", "ia3"},   {"prefix", "prefix"}, {"llamapro", "full"},   {"qlora", "qlora"}};

/// The method that a word says, with what makes another of it.
void take_tuner(Sheet& sheet, const Setting& type, bool quantized) {
  const std::string word = quantity::to_lower(type.text);
  const auto* found = std::ranges::find(methods, word, &Spelling::theirs);
  if (found == std::end(methods)) {
    throw quantity::BadInput(type.where,
                             fmt::format("{} {} is none that is modelled", type.key, quantity::quoted(word)),
                             "leave it out and say --method, if another stands for it");
  }
  sheet.say("method",
            found->ours == "lora" ? adapter_method(sheet, quantized ? "nf4-dq" : "") : std::string(found->ours), type);
  if (word == "llamapro") sheet.assume(type, "every layer is trained");
}

/// swift/arguments/base_args.py: lora; swift/megatron/arguments: full. sft_type and quantization_bit are those of 2.x.
void take_method(Sheet& sheet, std::string_view usual) {
  const Setting* type = sheet.find({"tuner_type", "train_type", "sft_type"});
  const bool four = sheet.text({"quant_bits", "quantization_bit"}) == "4";
  if (type != nullptr) {
    take_tuner(sheet, *type, four);
  } else {
    sheet.by_default("method", four ? "qlora" : std::string(usual), "ms-swift default");
  }
  if (four) sheet.say("weights", "nf4-dq", *sheet.find({"quant_bits", "quantization_bit"}));
  take_targets(sheet, {"target_modules", "lora_target_modules"});
  const bool is_old = sheet.find("sft_type") != nullptr;  // whose models are named by their type
  if (is_old && !sheet.has("model")) sheet.take("model", {"model_type"});
}

/// It evaluates where it has something to evaluate on (swift/llm/argument/train_args.py).
bool validates(const Sheet& sheet) {
  const bool has_data =
      sheet.is_above_zero("split_dataset_ratio") || sheet.find({"val_dataset", "cached_val_dataset"}) != nullptr;
  return has_data && sheet.text({"eval_strategy", "evaluation_strategy"}) != "no";
}

/// Towers beside a text model rest frozen unasked (arguments/tuner_args.py).
void assume_towers(Sheet& sheet) {
  for (const std::string_view key : {"freeze_vit", "freeze_aligner"}) {
    if (sheet.truth(key) == false) sheet.assume(*sheet.find(key), "the text model alone is trained");
  }
}

/// Heads that give one number or a vector in the place of a word (swift/llm/argument/base_args: task_type).
void assume_head(Sheet& sheet) {
  const std::string task = sheet.text("task_type");
  if (task.empty() || task == "causal_lm") return;
  sheet.assume(*sheet.find("task_type"),
               "its head and loss are counted as the vocabulary's, and a sample as one sequence");
}

/// FSDP by a file of its own, fsdp2 (swift/config/fsdp2.json), or as transformers has it; where that offloads
/// activations alone, accelerate's file says how it shards.
void take_sharding(Sheet& sheet) {
  if (sheet.find("fsdp_config.activation_cpu_offload") != nullptr && sheet.find("fsdp") == nullptr) return;
  const Setting* name = sheet.find("fsdp");
  if (name == nullptr || quantity::to_lower(name->text) != "fsdp2") return take_fsdp(sheet);
  sheet.say("sharding", "fsdp2", *name);
  sheet.say("recompute", "full", *name);
}

/// Its DeepSpeed files have names of their own: zero2, default-zero3, zero3_offload (swift/config).
void take_engine(Sheet& sheet) {
  const Setting* setting = sheet.find("deepspeed");
  if (setting == nullptr) return;
  if (setting->text.ends_with(".json")) return take_deepspeed(sheet, "deepspeed", "1");
  take_zero_by_name(sheet, *setting);
}

}  // namespace

/// The configuration of FSDP may be JSON on the command line (transformers training_args.py, _VALID_DICT_FIELDS).
void open_fsdp_config(Settings& settings) {
  const Setting* whole = settings.find("fsdp_config");
  if (whole == nullptr || !whole->text.starts_with('{')) return;
  Settings inside = flat(read::parse_commented_json(whole->text, whole->where));
  settings.remove("fsdp_config");
  for (Setting& setting : inside.all()) {
    setting.key.insert(0, "fsdp_config.");
    settings.put(std::move(setting));
  }
}

void ms_swift_rules(Sheet& sheet) {
  take_engine(sheet);
  take_method(sheet, "lora");
  take_engine_beside(sheet, swift_engine);
  take_generated_length(sheet, swift_lengths);
  take_precision(sheet, {"torch_dtype"}, Loads::half);
  take_recompute(sheet, {"gradient_checkpointing"});
  take_optimizer_impl(sheet);
  take_sharding(sheet);
  widen_under_fsdp(sheet);
  take_liger(sheet, "use_liger_kernel");
  take_galore(sheet);
  assume_reward_model(sheet, "rlhf_type");
  assume_head(sheet);
  assume_towers(sheet);
  take_evaluation(sheet, validates(sheet), "1", "ms-swift default");
  if (sheet.count("sequence_parallel_size").value_or(1) > 1) {
    const Setting& ranks = *sheet.find("sequence_parallel_size");
    sheet.say("cp", ranks.text, ranks);
    sheet.say("cp_exchange", "all-to-all", ranks);
  }
  take_length(sheet, {"max_steps", {"max_epochs", "num_train_epochs"}, {"packing"}, {}, transformers_epochs});
  assume_full_sequences(sheet, {"packing"});
}

namespace {

/// `swift export --to_mcore` names what it writes after the model, as its examples do.
void take_converted(Sheet& sheet) {
  const Setting* folder = sheet.find({"mcore_model", "load"});
  if (folder == nullptr || sheet.has("model")) return;
  const auto name = quantity::without_end(folder->text, "-mcore");
  if (name.size() < folder->text.size()) sheet.say("model", name, *folder);
}

}  // namespace

void ms_swift_megatron_rules(Sheet& sheet) {
  take_method(sheet, "full");
  take_converted(sheet);
  take_engine_beside(sheet, swift_engine);
  take_generated_length(sheet, swift_lengths);
  take_megatron_model(sheet);
  take_megatron_run(sheet);
  sheet.unsay("dtype");
}

/// ms-swift 4.6.0, swift/arguments: base_args, tuner_args.py, sft_args.py.
std::string write_ms_swift(Letter& letter) {
  const spec::Question& question = letter.question;
  const spec::Layout& layout = question.layout;
  letter.settings.put("model", letter.model);
  letter.settings.put("dataset", "$DATA");
  letter.settings.put("tuner_type", has_adapters(question) ? "lora" : "full");
  write_adapters(letter, {"lora_rank", "target_modules", "modules_to_save"});
  if (in_4_bits(question)) letter.settings.put("quant_method", "bnb");
  if (in_4_bits(question)) letter.settings.put("quant_bits", std::int64_t{4});
  write_rows(letter);
  write_optimizer(letter, "optim");
  write_precision(letter, "torch_dtype", Loads::half);
  if (question.training.precision.autocast) letter.settings.put("torch_dtype", "float32");
  write_recompute(letter);
  if (question.training.fused_kernels) letter.settings.say("use_liger_kernel", true);
  write_accelerate(letter);
  const bool is_second = layout.sharding == spec::Sharding::fsdp2;
  if (question.training.offload == spec::Offload::activations && !letter.accelerate.is_empty()) {
    // swift/callbacks/activation_cpu_offload.py, which asks for both keys and takes what FSDP wraps alone
    letter.settings.put("fsdp_config",
                        fmt::format(R"('{{"activation_cpu_offload": true, "version": {}}}')", is_second ? 2 : 1));
  }
  const std::string engine = write_deepspeed(letter);
  if (!letter.accelerate.is_empty()) return letter.settings.options(accelerated(letter, "swift/cli/sft.py"));
  const std::string several = layout.nodes > 1 ? fmt::format("NNODES={} ", layout.nodes) : "";
  const std::string processes =
      layout.gpus > 1 ? fmt::format("{}NPROC_PER_NODE={} ", several, layout.gpus / layout.nodes) : "";
  return engine + letter.settings.options(processes + "swift sft");
}

}  // namespace llmcalc::dialects
