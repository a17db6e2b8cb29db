// What is typed to fine-tune with unsloth, whose options are those of transformers and peft.
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

}  // namespace

/// unsloth 2026.10.9, unsloth/models/loader.py, FastLanguageModel, and llama.py, get_peft_model.
std::string unsloth_command(const Question& question) {
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
  return text;
}

}  // namespace llmcalc::dialects
