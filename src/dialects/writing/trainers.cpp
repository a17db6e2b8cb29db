// What is typed to fine-tune with trl, axolotl, LLaMA-Factory, unsloth and ms-swift, whose options are those of
// transformers and peft. $MODEL stands for a hub id or a folder, $DATA for a data set.
#include "dialects/writing/command_text.hpp"
#include "dialects/writing/launchers.hpp"
#include "dialects/writing/training_words.hpp"
#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/spec/question.hpp"
#include "spec/names.hpp"
#include "spec/traits.hpp"

#include <fmt/format.h>

namespace llmcalc::dialects {

using spec::Question;
using spec::Training;

namespace {

/// transformers TrainingArguments, optim.
std::string_view optimizer_of(const Training& training) {
  if (training.optimizer == spec::Optimizer::adamw_8bit) return "adamw_bnb_8bit";
  if (training.optimizer == spec::Optimizer::paged_adamw_8bit) return "paged_adamw_8bit";
  return training.optimizer_impl == spec::OptimizerImpl::fused ? "adamw_torch_fused" : "adamw_torch";
}

/// What none of these lines says.
std::vector<std::string> beyond(const Question& question) {
  std::vector<std::string> what;
  if (spec::zero_stage(question.layout.sharding) > 0) {
    what.push_back(fmt::format("{} of {} accelerators: accelerate's --config_file, or DeepSpeed's JSON",
                               spec::name_of(question.layout.sharding), question.layout.gpus));
  }
  if (question.training.offload != spec::Offload::none) what.emplace_back("what is offloaded");
  return what;
}

}  // namespace

/// trl 1.16.0, trl/scripts/sft.py: SFTConfig, ModelConfig.
Launch launch_trl(const Question& question) {
  const Training& training = question.training;
  CommandText command(fmt::format("accelerate launch --num_processes {} -m trl.scripts.sft", question.layout.gpus));
  command.word("--model_name_or_path", "$MODEL");
  command.word("--dataset_name", "$DATA");
  command.option("--max_length", training.seq);
  command.option("--per_device_train_batch_size", training.micro_batch);
  command.option("--gradient_accumulation_steps", training.grad_accum);
  command.word("--gradient_checkpointing", recomputes(training) ? "True" : "False");
  command.word("--optim", optimizer_of(training));
  if (training.precision.compute == formats::Dtype::bf16) command.word("--bf16", "True");
  if (has_adapters(training)) {
    command.flag("--use_peft");
    command.option("--lora_r", training.adapter.rank);
    command.word("--lora_target_modules", module_names(training, " "));
  }
  if (in_4_bits(training)) command.flag("--load_in_4bit");
  return {"trl", command.text(), beyond(question)};
}

/// axolotl 0.19.0, axolotl/utils/schemas/config.py, peft.py, training.py and model.py.
Launch launch_axolotl(const Question& question) {
  const Training& training = question.training;
  std::string file = "base_model: $MODEL\n";
  const auto add = [&](std::string_view key, const auto& value) { file += fmt::format("{}: {}\n", key, value); };
  add("sequence_len", training.seq);
  add("micro_batch_size", training.micro_batch);
  add("gradient_accumulation_steps", training.grad_accum);
  add("gradient_checkpointing", recomputes(training));
  add("optimizer", optimizer_of(training));
  add("bf16", training.precision.compute == formats::Dtype::bf16);
  if (has_adapters(training)) {
    add("adapter", spec::name_of(training.method));
    add("lora_r", training.adapter.rank);
    if (adapts_all_linear(training)) {
      add("lora_target_linear", true);
    } else {
      add("lora_target_modules", "[" + module_names(training, ", ") + "]");
    }
  }
  if (in_4_bits(training)) add("load_in_4bit", true);
  return {"axolotl", "cat > run.yaml <<END\n" + file + "END\naxolotl train run.yaml", beyond(question)};
}

/// LLaMA-Factory 0.9.5, src/llamafactory/hparams.
Launch launch_llama_factory(const Question& question) {
  const Training& training = question.training;
  std::string file = "model_name_or_path: $MODEL\nstage: sft\ndo_train: true\n";
  const auto add = [&](std::string_view key, const auto& value) { file += fmt::format("{}: {}\n", key, value); };
  add("finetuning_type", has_adapters(training) ? "lora" : "full");
  if (has_adapters(training)) {
    add("lora_rank", training.adapter.rank);
    add("lora_target", adapts_all_linear(training) ? "all" : module_names(training, ","));
  }
  if (in_4_bits(training)) add("quantization_bit", 4);
  add("cutoff_len", training.seq);
  add("per_device_train_batch_size", training.micro_batch);
  add("gradient_accumulation_steps", training.grad_accum);
  add("disable_gradient_checkpointing", !recomputes(training));
  add("optim", optimizer_of(training));
  add("bf16", training.precision.compute == formats::Dtype::bf16);
  return {"LLaMA-Factory", "cat > run.yaml <<END\n" + file + "END\nllamafactory-cli train run.yaml", beyond(question)};
}

/// unsloth 2026.10.9, unsloth/models/loader.py, FastLanguageModel, and llama.py, get_peft_model.
Launch launch_unsloth(const Question& question) {
  const Training& training = question.training;
  std::string text = fmt::format(
      "model, tokenizer = FastLanguageModel.from_pretrained(\n"
      "    MODEL, max_seq_length={}, load_in_4bit={}{})\n",
      training.seq, in_4_bits(training) ? "True" : "False", has_adapters(training) ? "" : ", full_finetuning=True");
  if (has_adapters(training)) {
    const std::string modules = adapts_all_linear(training)
                                    ? std::string()
                                    : fmt::format("\n    target_modules=[\"{}\"],", module_names(training, "\", \""));
    text +=
        fmt::format("model = FastLanguageModel.get_peft_model(\n    model, r={},{} use_gradient_checkpointing={})\n",
                    training.adapter.rank, modules, recomputes(training) ? "\"unsloth\"" : "False");
  }
  text += fmt::format("SFTConfig(per_device_train_batch_size={}, gradient_accumulation_steps={},\n    optim=\"{}\")",
                      training.micro_batch, training.grad_accum, optimizer_of(training));
  return {"unsloth", text, beyond(question)};
}

/// ms-swift 4.6.0, swift/arguments: base_args, tuner_args.py, sft_args.py.
Launch launch_ms_swift(const Question& question) {
  const Training& training = question.training;
  const std::string processes =
      question.layout.gpus > 1 ? fmt::format("NPROC_PER_NODE={} ", question.layout.gpus / question.layout.nodes) : "";
  CommandText command(processes + "swift sft");
  command.word("--model", "$MODEL");
  command.word("--dataset", "$DATA");
  command.word("--tuner_type", has_adapters(training) ? "lora" : "full");
  if (has_adapters(training)) {
    command.option("--lora_rank", training.adapter.rank);
    command.word("--target_modules", module_names(training, " "));
  }
  if (in_4_bits(training)) {
    command.word("--quant_method", "bnb");
    command.option("--quant_bits", 4);
  }
  command.option("--max_length", training.seq);
  command.option("--per_device_train_batch_size", training.micro_batch);
  command.option("--gradient_accumulation_steps", training.grad_accum);
  command.word("--gradient_checkpointing", recomputes(training) ? "true" : "false");
  command.word("--optim", optimizer_of(training));
  return {"ms-swift", command.text(), beyond(question)};
}

}  // namespace llmcalc::dialects
