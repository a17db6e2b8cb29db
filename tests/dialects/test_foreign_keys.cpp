// Keys of trainers' and servers' own files and commands, each with the term of a run that their documentation says.
#include "catch.hpp"
#include "dialects/reading.hpp"
#include "llmcalc/quantity/error.hpp"

#include <algorithm>
#include <optional>
#include <span>
#include <string>

using namespace llmcalc;

namespace {

struct Key {
  const char* said;
  const char* term;
  const char* value;
};

const dialects::FindFile no_file = [](const std::string&) { return std::optional<dialects::NamedFile>(); };

void check(const dialects::Reading& reading, const Key& key) {
  CAPTURE(reading.kind, key.said, key.term);
  CHECK(reading.unread.empty());
  const auto word = std::ranges::find(reading.words, key.term, &read::Given::term);
  REQUIRE(word != reading.words.end());
  CHECK(word->text == key.value);
}

/// \param frame  what makes the file recognizable, with % for the key
void check_files(const std::string& frame, std::span<const Key> keys) {
  const auto place = frame.find('%');
  for (const Key& key : keys) {
    const std::string text = frame.substr(0, place) + key.said + frame.substr(place + 1);
    check(dialects::read_launch_file(text, "run", no_file), key);
  }
}

void check_commands(const std::string& start, std::span<const Key> keys) {
  for (const Key& key : keys) check(dialects::read_launch_command(start + key.said, "--from", no_file), key);
}

}  // namespace

TEST_CASE("axolotl's keys are read as its configuration reference explains them") {
  constexpr Key keys[] = {
      {"micro_batch_size: 3", "micro_batch", "3"},
      {"gradient_accumulation_steps: 6", "grad_accum", "6"},
      {"sequence_len: 8192", "seq", "8192"},
      {"tensor_parallel_size: 2", "tp", "2"},
      {"context_parallel_size: 4", "cp", "4"},
      {"sequence_parallel_degree: 4", "cp", "4"},  // the older word for context parallelism
      {"expert_parallel_size: 8", "ep", "8"},
      {"rl: dpo", "algorithm", "dpo"},
      {"rl: ipo", "algorithm", "dpo"},
      {"rl: kto", "algorithm", "kto"},
      {"rl: orpo", "algorithm", "orpo"},
      {"adapter: lora\nlora_r: 16", "lora_rank", "16"},
      {"adapter: lora\nlora_r: 16", "method", "lora"},
      {"adapter: qlora\nlora_r: 16", "method", "qlora"},
      {"adapter: lora\npeft_use_dora: true", "method", "dora"},
      {"adapter: lora\nlora_target_linear: true", "lora_targets", "all-linear"},
  };
  check_files("base_model: meta-llama/Meta-Llama-3-8B\n%\n", keys);
}

TEST_CASE("LLaMA-Factory's keys are those of its argument classes") {
  constexpr Key keys[] = {
      {"cutoff_len: 4096", "seq", "4096"},
      {"per_device_train_batch_size: 2", "micro_batch", "2"},
      {"gradient_accumulation_steps: 4", "grad_accum", "4"},
      {"finetuning_type: lora\nlora_rank: 32", "lora_rank", "32"},
      {"finetuning_type: lora\nuse_dora: true", "method", "dora"},
      {"stage: kto", "algorithm", "kto"},
      {"stage: ppo", "algorithm", "ppo"},
  };
  check_files("model_name_or_path: meta-llama/Meta-Llama-3-8B\ncutoff_len: 4096\n%\n", std::span(keys).subspan(1));
  check_files("model_name_or_path: meta-llama/Meta-Llama-3-8B\nfinetuning_type: full\n%\n", std::span(keys).first(1));
}

TEST_CASE("DeepSpeed's keys are those of its configuration's documentation") {
  constexpr Key keys[] = {
      {R"("gradient_accumulation_steps": 5)", "grad_accum", "5"},
      {R"("train_batch_size": 96)", "global_batch", "96"},
      {R"("sequence_parallel_size": 4)", "cp", "4"},
      {R"("zero_optimization": {"stage": 0})", "sharding", "ddp"},
      {R"("zero_optimization": {"stage": 1})", "sharding", "zero1"},
      {R"("zero_optimization": {"stage": 2})", "sharding", "zero2"},
      {R"("zero_optimization": {"stage": 3})", "sharding", "zero3"},
      {R"("zero_optimization": {"stage": 2, "offload_optimizer": {"device": "cpu"}})", "offload", "optimizer"},
      {R"("zero_optimization": {"stage": 2, "overlap_comm": true})", "data_overlap", "1"},
      {R"("data_types": {"grad_accum_dtype": "fp32"})", "grads", "fp32"},
  };
  check_files(R"({"train_micro_batch_size_per_gpu": 3, %})", keys);
}

TEST_CASE("Megatron-LM's flags are those of its arguments.py") {
  constexpr Key keys[] = {
      {"--tensor-model-parallel-size 2", "tp", "2"},
      {"--pipeline-model-parallel-size 4", "pp", "4"},
      {"--context-parallel-size 2", "cp", "2"},
      {"--expert-model-parallel-size 2", "ep", "2"},
      {"--expert-tensor-parallel-size 2", "etp", "2"},
      {"--decoder-first-pipeline-num-layers 5", "first_stage_layers", "5"},
      {"--decoder-last-pipeline-num-layers 6", "last_stage_layers", "6"},
      {"--num-virtual-stages-per-pipeline-rank 2", "vpp", "2"},
      {"--cp-comm-type a2a", "cp_exchange", "all-to-all"},
      {"--num-experts 64", "experts", "64"},
      {"--moe-router-topk 6", "top_k", "6"},
      {"--moe-ffn-hidden-size 1408", "expert_ffn", "1408"},
      {"--moe-shared-expert-intermediate-size 2816", "shared_ffn", "2816"},
      {"--kv-channels 96", "head_dim", "96"},
  };
  check_commands(
      "torchrun --nproc-per-node 8 pretrain_gpt.py --num-layers 24 --hidden-size 2048 --num-attention-heads 16 "
      "--seq-length 2048 --max-position-embeddings 2048 --micro-batch-size 1 --global-batch-size 64 ",
      keys);
}

TEST_CASE("vLLM's flags are those of its engine arguments") {
  constexpr Key keys[] = {
      {"--tensor-parallel-size 2", "tp", "2"},
      {"-tp 2", "tp", "2"},
      {"--pipeline-parallel-size 4", "pp", "4"},
      {"--decode-context-parallel-size 2", "dcp", "2"},
      {"--tensor-parallel-size 2 --data-parallel-size 3", "attention_dp", "3"},
      {"--tensor-parallel-size 2 --data-parallel-size 4 --enable-expert-parallel", "ep", "8"},
      {"--tensor-parallel-size 2 --data-parallel-size 4 --enable-expert-parallel", "attention_dp", "4"},
      {"--max-model-len 8k", "context", "8000"},  // human-readable: k is 1000, K is 1024
      {"--max-model-len 8K", "context", "8192"},
      {"--max-num-seqs 64", "max_seqs", "64"},
      {"--gpu-memory-utilization 0.8", "memory_fraction", "0.8"},
      {"--kv-cache-dtype fp8_e5m2", "kv_dtype", "fp8"},
      {"--dtype float", "quant", "f32"},
      {"--block-size 32", "block", "32"},
      {"--enforce-eager", "graphs", "0"},
      {"--enable-lora --max-loras 3", "max_loras", "3"},
  };
  check_commands("vllm serve meta-llama/Meta-Llama-3-8B ", keys);
}

TEST_CASE("SGLang's and llama.cpp's flags are those of their servers' help") {
  constexpr Key sglang[] = {
      {"--tp 2", "tp", "2"},
      {"--pp-size 2", "pp", "2"},
      {"--ep-size 4", "ep", "4"},
      {"--context-length 16384", "context", "16384"},
      {"--mem-fraction-static 0.85", "memory_fraction", "0.85"},
      {"--max-running-requests 48", "max_seqs", "48"},
      {"--page-size 16", "block", "16"},
  };
  check_commands("python -m sglang.launch_server --model-path meta-llama/Meta-Llama-3-8B ", sglang);
  constexpr Key llama[] = {
      {"-np 4", "slots", "4"},           {"-ub 256", "ubatch", "256"}, {"-b 1024", "batched_tokens", "1024"},
      {"-ctk q8_0", "kv_dtype", "q8_0"}, {"-sm row", "split", "row"},  {"--n-cpu-moe 10", "cpu_experts", "10"},
  };
  check_commands("llama-server -hf ggml-org/gemma-3-4b-it-GGUF -c 8192 ", llama);
}

/// trl's configurations: DPOConfig, KTOConfig, GRPOConfig, CPOConfig, ORPOConfig, SFTConfig.
TEST_CASE("a trl file that learns from preferences is no supervised tuning, whatever script reads it") {
  constexpr Key keys[] = {
      {"num_generations: 8", "algorithm", "grpo"},
      {"beta: 0.0\nreward_funcs: [accuracy]", "reference", "none"},
      {"beta: 0.04\nloss_type: cispo", "reference", "model"},
      {"beta: 0.04\nscale_rewards: group\nuse_peft: true", "reference", "base"},
      {"normalize_advantages: true", "algorithm", "grpo"},
      {"normalize_advantages: true", "reference", "model"},
      {"loss_type: dapo", "algorithm", "grpo"},
      {"beta: 0.1\nloss_type: [sigmoid, bco_pair, sft]", "algorithm", "dpo"},
      {"loss_type: ipo\nprecompute_ref_log_probs: true", "algorithm", "dpo"},
      {"beta: 0.1\ndesirable_weight: 1.0", "algorithm", "kto"},
      {"loss_type: simpo\nsimpo_gamma: 0.5", "algorithm", "orpo"},
      {"cpo_alpha: 1.0\nloss_type: sigmoid", "algorithm", "orpo"},
      {"loss_type: nll", "algorithm", "sft"},
  };
  const std::string frame = "model_name_or_path: llama-3-8b\nper_device_train_batch_size: 1\n";
  check_files(frame + "%\n", keys);
  const auto reading = [&](const std::string& more) {
    return dialects::read_launch_file(frame + more, "run", no_file);
  };
  // Defaults of CPO's and of KTO's configuration are among DPO's (trl 1.16.0): no key of these is of one trainer.
  for (const std::string ambiguous : {"beta: 0.1\n", "max_prompt_length: 512\n", "beta: 0.1\nloss_type: sigmoid\n",
                                      "precompute_ref_log_probs: true\n", "beta: 0.1\nloss_type: nll\n"}) {
    INFO(ambiguous);
    const auto open = reading(ambiguous).open;
    CHECK(std::ranges::find(open, "algorithm", &read::Given::term) != open.end());
  }
  const auto supervised = reading("max_length: 1024\n");
  CHECK(std::ranges::find(supervised.words, "algorithm", &read::Given::term) == supervised.words.end());
  CHECK(supervised.open.empty());
}

TEST_CASE("a key of a trainer or server is the option of the row that reads it") {
  using Names = std::vector<std::string>;
  for (const auto* batch : {"per_device_train_batch_size", "train-micro-batch-size-per-gpu", "micro_batch_size"}) {
    CHECK(dialects::options_of_key(batch) == Names{"micro-batch"});
  }
  CHECK(dialects::options_of_key("gradient-checkpointing") == Names{"recompute"});
  CHECK(dialects::options_of_key("gpu_memory_utilization") == Names{"memory-fraction"});
  CHECK(dialects::options_of_key("max-running-requests") == Names{"max-seqs"});
  CHECK(dialects::options_of_key("n-gpu-layers") == Names{"gpu-layers"});
  CHECK(dialects::options_of_key("num_ctx") == Names{"context"});
  CHECK(dialects::options_of_key("enforce-eager").empty());  // what it says is the opposite
  CHECK(dialects::options_of_key("max-loras").empty());      // it means nothing by itself
  CHECK(dialects::options_of_key("c").empty());              // of one program a context, of another a configuration
  CHECK(dialects::options_of_key("block-size") == Names{"seq", "block"});  // of examples of transformers, and of vLLM
  CHECK(dialects::options_of_key("learning_rate").empty());
  CHECK(dialects::options_of_key("colour").empty());
}
