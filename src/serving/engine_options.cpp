// What each engine is told, and what it calls it.
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "serving/engine.hpp"
#include "serving/inner/engines.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string>

namespace llmcalc::serving {

using spec::EngineOptions;
using spec::Serving;

namespace {

constexpr Spelling vllm_schemes[] = {
    {"awq", "awq"},     {"awq_marlin", "awq"},       {"gptq", "gptq"},    {"gptq_marlin", "gptq"},
    {"fp8", "fp8"},     {"bitsandbytes", "bnb-nf4"}, {"modelopt", "fp8"}, {"modelopt_fp4", "nvfp4"},
    {"mxfp4", "mxfp4"}, {"compressed-tensors", ""},  {"gguf", ""},        {"fbgemm_fp8", "fp8"},
    {"int8", "int8"},
};
constexpr Spelling vllm_caches[] = {
    {"auto", ""},         {"fp8", "fp8"},      {"fp8_e4m3", "fp8"}, {"fp8_e5m2", "fp8"},
    {"bfloat16", "bf16"}, {"float16", "fp16"}, {"nvfp4", "nvfp4"},  {"int8_per_token_head", "int8"}};

/// vllm/engine/arg_utils.py; numbers by vllm/utils/argparse_utils.py (human_readable_int).
constexpr EngineOption of_vllm_options[] = {
    {"--tensor-parallel-size -tp", "tp"},
    {"--pipeline-parallel-size -pp", "pp"},
    {"--data-parallel-size -dp", "attention_dp", Says::part},
    {"--decode-context-parallel-size -dcp", "dcp"},
    {"--enable-expert-parallel -ep", "ep", Says::part},
    {"--max-model-len", "context", Says::number},
    {"--gpu-memory-utilization", "memory_fraction"},
    {"--quantization -q", "quant", Says::value, vllm_schemes},
    {"--kv-cache-dtype", "kv_dtype", Says::value, vllm_caches},
    {"--max-num-batched-tokens", "batched_tokens", Says::number},
    {"--max-num-seqs", "max_seqs"},
    {"--block-size", "block"},
    {"--kv-cache-memory-bytes", "kv_bytes", Says::number},
    {"--enforce-eager", "graphs", Says::no},
    {"--enable-prefix-caching", "prefix_cache", Says::yes},
    {"--no-enable-prefix-caching", "prefix_cache", Says::no},
    {"--enable-lora", "max_loras", Says::part},
    {"--max-loras", "max_loras", Says::part},
    {"--max-lora-rank", "lora_rank", Says::part},
    {"--nnodes -n", "nodes"},
    {"--node-rank", "nodes", Says::part},
    {"--master-addr", "nodes", Says::part},
    {"--speculative-config", "draft", Says::part},
    {"--speculative-config.method", "draft", Says::part},
    {"--speculative-config.model", "draft", Says::part},
    {"--speculative-config.num_speculative_tokens", "draft", Says::part},
};

constexpr Spelling sglang_schemes[] = {{"awq", "awq"},
                                       {"awq_marlin", "awq"},
                                       {"gptq", "gptq"},
                                       {"gptq_marlin", "gptq"},
                                       {"fp8", "fp8"},
                                       {"w8a8_fp8", "fp8"},
                                       {"w8a8_int8", "int8"},
                                       {"blockwise_int8", "int8"},
                                       {"modelopt", "fp8"},
                                       {"modelopt_fp8", "fp8"},
                                       {"modelopt_fp4", "nvfp4"},
                                       {"mxfp4", "mxfp4"},
                                       {"bitsandbytes", "bnb-nf4"},
                                       {"compressed-tensors", ""},
                                       {"gguf", ""}};
constexpr Spelling sglang_caches[] = {{"auto", ""},     {"fp8_e4m3", "fp8"},  {"fp8_e5m2", "fp8"},
                                      {"bf16", "bf16"}, {"bfloat16", "bf16"}, {"fp4_e2m1", "nvfp4"}};

/// sglang/srt/server_args.py, since 0.5.2x its fields in sglang/srt/arg_groups/fields.
constexpr EngineOption of_sglang_options[] = {
    {"--model-path --model", "model", Says::rule},
    {"--tp-size --tp --tensor-parallel-size", "tp", Says::rule},
    {"--pp-size --pipeline-parallel-size", "pp"},
    {"--dp-size --dp --data-parallel-size", "attention_dp", Says::part},
    {"--ep-size --ep --expert-parallel-size", "ep"},
    {"--dcp-size --decode-context-parallel-size", "dcp"},
    {"--enable-dp-attention", "attention_dp", Says::part},
    {"--context-length", "context"},
    {"--mem-fraction-static", "memory_fraction"},
    {"--quantization", "quant", Says::value, sglang_schemes},
    {"--kv-cache-dtype", "kv_dtype", Says::value, sglang_caches},
    {"--chunked-prefill-size", "batched_tokens", Says::number},
    {"--max-running-requests", "max_seqs"},
    {"--page-size", "block"},
    {"--disable-cuda-graph", "graphs", Says::no},
    {"--disable-radix-cache", "prefix_cache", Says::no},
    {"--scheduler-recv-interval", "wait_steps", Says::part},
    {"--enable-lora", "max_loras", Says::part},
    {"--max-loras-per-batch", "max_loras", Says::part},
    {"--max-lora-rank", "lora_rank", Says::part},
    {"--lora-target-modules", "max_loras", Says::part},
    {"--speculative-algorithm --speculative-algo", "draft", Says::part},
    {"--speculative-draft-model-path --speculative-draft-model", "draft", Says::part},
    {"--speculative-num-steps", "draft", Says::part},
    {"--speculative-eagle-topk", "draft", Says::part},
    {"--speculative-num-draft-tokens", "draft", Says::part},
    {"--nnodes", "nodes"},
    {"--node-rank", "nodes", Says::part},
    {"--dist-init-addr", "nodes", Says::part},
};

constexpr Spelling trtllm_caches[] = {
    {"auto", ""}, {"fp8", "fp8"}, {"nvfp4", "nvfp4"}, {"bfloat16", "bf16"}, {"float16", "fp16"}};

/// tensorrt_llm/commands/serve.py, and what it has no words for in a file: tensorrt_llm/llmapi/llm_args.py.
constexpr EngineOption of_trtllm_options[] = {
    {"--tp_size --tensor_parallel_size", "tp", Says::rule},
    {"--pp_size --pipeline_parallel_size", "pp"},
    {"--ep_size --moe_expert_parallel_size", "ep"},
    {"--max_seq_len", "context"},
    {"--max_num_tokens", "batched_tokens"},
    {"--max_batch_size", "max_seqs"},
    {"--kv_cache_free_gpu_memory_fraction --free_gpu_memory_fraction --kv_cache_config.free_gpu_memory_fraction",
     "memory_fraction"},
    {"--extra_llm_api_options", "", Says::part},
    {"enable_attention_dp", "attention_dp", Says::part},
    {"kv_cache_config.dtype kv_cache_dtype", "kv_dtype", Says::value, trtllm_caches},
    {"kv_cache_config.enable_block_reuse", "prefix_cache", Says::part},
    {"kv_cache_config.tokens_per_block", "block"},
    {"kv_cache_config.max_gpu_total_bytes", "kv_bytes"},
    {"cuda_graph_config", "graphs", Says::part},
    {"batch_wait_timeout_iters", "wait_steps"},
    {"lora_config.max_loras", "max_loras"},
    {"speculative_config.decoding_type", "draft", Says::part},
    {"speculative_config.num_nextn_predict_layers", "draft", Says::part},
    {"speculative_config.max_draft_len", "draft", Says::part},
    {"speculative_config.speculative_model_dir speculative_config.speculative_model", "draft", Says::part},
};

constexpr Spelling ggml_caches[] = {{"f16", "fp16"},  {"bf16", "bf16"}, {"f32", "fp32"},
                                    {"q8_0", "q8_0"}, {"q5_1", "q5_1"}, {"q5_0", "q5_0"},
                                    {"q4_1", "q4_1"}, {"q4_0", "q4_0"}, {"iq4_nl", "iq4_nl"}};
constexpr Spelling splits[] = {{"layer", "layer"}, {"row", "row"}, {"tensor", "tensor"}, {"none", ""}};

/// common/arg.cpp; what else they are called are its variables LLAMA_ARG_* and llama-cpp-python's settings.
constexpr EngineOption of_llama_cpp_options[] = {
    {"-hf -hfr --hf-repo", "model", Says::part},
    {"-m --model", "model", Says::rule},
    {"-c --ctx-size --n-ctx", "context", Says::rule},
    {"-np --parallel --n-parallel", "slots"},
    {"-b --batch-size --batch --n-batch", "batched_tokens"},
    {"-ub --ubatch-size --ubatch --n-ubatch", "ubatch"},
    {"--n-cpu-moe -ncmoe", "cpu_experts"},
    {"-ngl --gpu-layers --n-gpu-layers", "gpu_layers", Says::rule},
    {"-sm --split-mode", "split", Says::value, splits},
    {"-fa --flash-attn", "flash", Says::part},
    {"-ctk --cache-type-k", "kv_dtype", Says::value, ggml_caches},
    {"-ctv --cache-type-v", "kv_dtype", Says::part},
    {"--spec-type", "draft", Says::part},
    {"-md --model-draft --spec-draft-model", "draft", Says::rule},
    {"--spec-draft-n-max --draft-max --draft", "draft", Says::part},
};

constexpr Spelling ollama_caches[] = {{"f16", "fp16"}, {"q8_0", "q8_0"}, {"q4_0", "q4_0"}};

/// envconfig/config.go; in small letters what only a Modelfile says (docs/modelfile.md; api/types.go, Options).
constexpr EngineOption of_ollama_options[] = {
    {"OLLAMA_CONTEXT_LENGTH num_ctx", "context"},
    {"OLLAMA_NUM_PARALLEL", "slots"},
    {"OLLAMA_FLASH_ATTENTION", "flash"},
    {"OLLAMA_KV_CACHE_TYPE", "kv_dtype", Says::value, ollama_caches},
    {"OLLAMA_GPU_OVERHEAD", "other_usage"},
    {"num_gpu", "gpu_layers"},
    {"num_batch", "ubatch"},
    {"draft_num_predict", "draft", Says::part},
};

/// An option of ours that not every engine has, and how a question shows that it was said.
struct OptionRow {
  std::string_view term;
  bool (*said)(const Serving& serving);
  std::string_view instead = {};  ///< the term that says so to the other engines
};

template <auto member>
bool has(const Serving& serving) {
  return (serving.options.*member).has_value();
}

template <auto member>
bool is_positive(const Serving& serving) {
  return serving.options.*member > 0;
}

constexpr OptionRow option_rows[] = {
    {"memory_fraction", &has<&EngineOptions::memory_fraction>, "other_usage"},
    {"kv_bytes", &has<&EngineOptions::cache_bytes>},
    {"batched_tokens", &has<&EngineOptions::batched_tokens>, "ubatch"},
    {"max_seqs", &has<&EngineOptions::max_sequences>, "slots"},
    {"block", &has<&EngineOptions::block>},
    {"graphs", &has<&EngineOptions::graphs>},
    {"ubatch", &has<&EngineOptions::ubatch>, "batched_tokens"},
    {"slots", &has<&EngineOptions::slots>, "max_seqs"},
    {"gpu_layers", &has<&EngineOptions::gpu_layers>},
    {"cpu_experts", &is_positive<&EngineOptions::cpu_experts>, "gpu_layers"},
    {"flash", &has<&EngineOptions::flash>},
    {"prefix_cache", &has<&EngineOptions::prefix_cache>},
    {"wait_steps", &is_positive<&EngineOptions::wait_steps>},
    {"draft", [](const Serving& serving) { return serving.options.draft.kind != spec::DraftKind::none; }},
    {"max_loras", &is_positive<&EngineOptions::max_loras>},
    {"group_size", [](const Serving& serving) { return serving.group_size > 0; }, "quant"},
    {"imatrix", [](const Serving& serving) { return !serving.imatrix; }},
    {"split", [](const Serving& serving) { return serving.layout.split != spec::CardSplit::layer; }},
    {"attention_dp", [](const Serving& serving) { return serving.layout.attention_dp > 1; }},
    {"dcp", [](const Serving& serving) { return serving.layout.dcp > 1; }},
    {"shared_prefix", [](const Serving& serving) { return serving.load.shared_prefix > 0; }},
};

const EngineOption* option_of(const EngineRow& row, std::string_view term) {
  return quantity::find_or_null(row.options(), term, &EngineOption::term);
}

bool takes(const EngineRow& row, std::string_view term) {
  return option_of(row, term) != nullptr || quantity::contains(row.beside, term);
}

const OptionRow* unknown_option(const Serving& serving) {
  const EngineRow& engine = row_of(serving.engine);
  const auto is_unknown = [&](const OptionRow& row) { return row.said(serving) && !takes(engine, row.term); };
  return quantity::find_if_or_null(option_rows, is_unknown);
}

std::string flag_of(std::string_view term) {
  std::string flag = "--" + std::string(term);
  std::ranges::replace(flag, '_', '-');
  return flag;
}

/// "vllm (--block-size)", or the engine alone where no option of its own says it.
std::string with_word(std::string_view whose, const EngineOption* option) {
  return option == nullptr ? std::string(whose) : fmt::format("{} ({})", whose, option->printed());
}

/// "--slots (-np) is what it has", where there is such an option.
std::string nearest(const OptionRow& row, const EngineRow& engine) {
  if (row.instead.empty()) return {};
  const EngineOption* option = option_of(engine, row.instead);
  const bool of_its_own = quantity::contains(option_rows, row.instead, &OptionRow::term);
  if (of_its_own && option == nullptr) return {};
  return with_word(flag_of(row.instead), of_its_own ? option : nullptr) + " is what it has";
}

/// "vllm (--block-size), sglang (--page-size)"
std::string who_has(const OptionRow& row) {
  std::string who;
  for (const EngineRow& engine : all_engines()) {
    if (!takes(engine, row.term)) continue;
    who.append(who.empty() ? "" : ", ").append(with_word(spec::name_of(engine.engine), option_of(engine, row.term)));
  }
  return "it is an option of " + who;
}

/// "OLLAMA_NUM_PARALLEL" is read as "num_parallel".
std::string_view without_program(std::string_view name) {
  const bool is_variable = name.front() >= 'A' && name.front() <= 'Z';
  return is_variable ? name.substr(name.find('_') + 1)
                     : name.substr(std::min(name.find_first_not_of('-'), name.size()));
}

char plain(char letter) {
  return letter == '-' ? '_' : letter >= 'A' && letter <= 'Z' ? static_cast<char>(letter + 32) : letter;
}

}  // namespace

std::span<const EngineOption> vllm_options() { return of_vllm_options; }
std::span<const EngineOption> sglang_options() { return of_sglang_options; }
std::span<const EngineOption> trtllm_options() { return of_trtllm_options; }
std::span<const EngineOption> llama_cpp_options() { return of_llama_cpp_options; }
std::span<const EngineOption> ollama_options() { return of_ollama_options; }
/// generate() is given a batch, and lays all it has on the accelerators.
std::span<const EngineOption> transformers_options() { return {}; }

bool EngineOption::is_called(std::string_view key) const {
  std::string_view rest = names;
  while (!rest.empty()) {
    const auto name = without_program(quantity::take_until(rest, " "));
    if (std::ranges::equal(name, key, {}, plain, plain)) return true;
  }
  return false;
}

void check_options(const Serving& serving) {
  const OptionRow* row = unknown_option(serving);
  if (row == nullptr) return;
  const std::string own = nearest(*row, row_of(serving.engine));
  throw quantity::BadInput(flag_of(row->term), fmt::format("{} has no such option", spec::name_of(serving.engine)),
                           own.empty() ? who_has(*row) : own);
}

bool takes_options(const Serving& serving) { return unknown_option(serving) == nullptr; }

}  // namespace llmcalc::serving
