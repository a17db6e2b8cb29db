#include "dialects/shell/starters.hpp"

#include "dialects/core/format.hpp"
#include "dialects/shell/command.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

namespace llmcalc::dialects {
namespace {

constexpr Starter starters[] = {
    {"llamafactory-cli train", llama_factory_format},
    {"lmf train", llama_factory_format},
    {"llamafactory-cli api", llama_factory_server_format},
    {"llamafactory-cli chat", llama_factory_server_format},
    {"llamafactory-cli webchat", llama_factory_server_format},
    {"axolotl train", axolotl_format},
    {"axolotl.cli.train", axolotl_format},
    {"trl sft", trainer_format, "sft", "config"},
    {"trl dpo", trainer_format, "dpo", "config"},
    {"trl kto", trainer_format, "kto", "config"},
    {"trl grpo", trainer_format, "grpo", "config"},
    {"trl orpo", trainer_format, "orpo", "config"},
    {"trl rloo", trainer_format, "rloo", "config"},
    {"trl reward", trainer_format, "rm", "config"},
    {"trl vllm-serve", vllm_format},
    {"swift/cli/sft.py", ms_swift_format, "sft", "config"},
    {"swift/cli/pt.py", ms_swift_format, "sft", "config"},
    {"swift/cli/rlhf.py", ms_swift_format, {}, "config"},
    {"sft.py", trainer_format, "sft", "config"},
    {"dpo.py", trainer_format, "dpo", "config"},
    {"kto.py", trainer_format, "kto", "config"},
    {"orpo.py", trainer_format, "orpo", "config"},
    {"grpo.py", trainer_format, "grpo", "config"},
    {"rloo.py", trainer_format, "rloo", "config"},
    {"reward_modeling.py", trainer_format, "rm", "config"},
    {"swift sft", ms_swift_format, "sft", "config"},
    {"swift pt", ms_swift_format, "sft", "config"},
    {"swift rlhf", ms_swift_format, {}, "config"},
    {"megatron sft", ms_swift_megatron_format, "sft", "config"},
    {"megatron pt", ms_swift_megatron_format, "sft", "config"},
    {"megatron rlhf", ms_swift_megatron_format, {}, "config"},
    {"unsloth train", unsloth_format, {}, "config"},
    {"unsloth_cli train", unsloth_format, {}, "config"},
    {"unsloth-cli.py", unsloth_format, "lora"},
    {"litgpt finetune_lora", litgpt_format, "lora", "config"},
    {"litgpt finetune_full", litgpt_format, "full", "config"},
    {"litgpt finetune_adapter", litgpt_format, "adapter", "config"},
    {"litgpt finetune_adapter_v2", litgpt_format, "adapter", "config"},
    {"litgpt finetune", litgpt_format, "lora", "config"},
    {"litgpt pretrain", litgpt_format, "pretrain", "config"},
    {"tune run", torchtune_format, {}, "config"},
    {"torchtitan.train", torchtitan_format, {}, "job.config_file"},
    {"run_train.sh", torchtitan_format, {}, "job.config_file"},
    {"pretrain_gpt.py", megatron_format, {}, "yaml_cfg"},
    {"megatron_gpt_pretraining.py", nemo_format, {}, "config_name"},
    {"megatron_gpt_finetuning.py", nemo_format, {}, "config_name"},
    {"megatron_gpt_peft_tuning.py", nemo_format, {}, "config_name"},
    {"pretrain_mamba.py", megatron_format},
    {"pretrain_hybrid.py", megatron_format},
    {"pretrain_t5.py", megatron_format},
    {"pretrain_bert.py", megatron_format},
    {"vllm serve", vllm_format, {}, "config"},
    {"vllm.entrypoints.openai.api_server", vllm_format, {}, "config"},
    {"vllm.entrypoints.api_server", vllm_format, {}, "config"},
    {"sglang_router.launch_server", sglang_format, {}, "config"},
    {"sglang serve", sglang_format, {}, "config"},
    {"sglang.launch_server", sglang_format, {}, "config"},
    {"trtllm-serve", trtllm_format, {}, "extra_llm_api_options"},
    {"llama-server", llama_server_format, {}, "models_preset"},
    {"llama_cpp.server", llama_server_format, {}, "config_file"},
    {"ollama create", ollama_create_format, {}, "f"},
    {"ollama run", ollama_format},
    {"ollama serve", ollama_format},
};

/// What programs that teach preferences have in their names, as examples/scripts of trl have them.
struct AlgorithmWord {
  std::string_view word;
  std::string_view algorithm;
};
constexpr AlgorithmWord algorithm_words[] = {{"dpo", "dpo"},   {"kto", "kto"},   {"orpo", "orpo"}, {"cpo", "cpo"},
                                             {"grpo", "grpo"}, {"rloo", "rloo"}, {"ppo", "ppo"}};

/// "swift/cli/sft.py" is the end of a path, "sft.py" its last part.
bool is_called(std::string_view word, std::string_view name) {
  if (name.find('/') == std::string_view::npos) return base_name(word) == name;
  return word == name || (word.ends_with(name) && word[word.size() - name.size() - 1] == '/');
}

}  // namespace

Started starter_of(const std::vector<ShellWord>& words) {
  for (const Starter& starter : starters) {
    auto name = starter.name;
    std::size_t count = 0;
    while (!name.empty() && count < words.size()) {
      const auto part = name.substr(0, name.find(' '));
      if (!is_called(words[count].text, part)) break;
      ++count;
      name.remove_prefix(std::min(part.size() + 1, name.size()));
    }
    if (name.empty()) return {&starter, count};
  }
  return {};
}

std::string_view algorithm_named_in(std::string_view program) {
  const auto name = base_name(program);
  if (!name.ends_with(".py")) return {};
  for (const auto part : quantity::pieces_of(name, "_-.")) {
    if (const auto* named = quantity::find_or_null(algorithm_words, part, &AlgorithmWord::word))
      return named->algorithm;
  }
  return {};
}

}  // namespace llmcalc::dialects
