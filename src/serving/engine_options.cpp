// What each engine is told, and what it calls it: options that not every engine has.
#include "llmcalc/quantity/error.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace llmcalc::serving {

using spec::Engine;
using spec::EngineOptions;
using spec::Serving;

namespace {

constexpr std::size_t engine_count = 6;

/// An option, how a question shows that it was said, and the words of the engines that have it, in the order of
/// spec::Engine. Without words an engine does not have it.
struct OptionRow {
  std::string_view flag;
  bool (*said)(const Serving& serving);
  std::array<std::string_view, engine_count> words;
  std::string_view instead = {};  ///< the option that says so to the other engines
};

template <auto member>
bool has(const Serving& serving) {
  return (serving.options.*member).has_value();
}

template <auto member>
bool is_positive(const Serving& serving) {
  return serving.options.*member > 0;
}

bool drafts(const Serving& serving) { return serving.options.draft.kind != spec::DraftKind::none; }

/// vLLM vllm/engine/arg_utils.py; SGLang python/sglang/srt/server_args.py; TensorRT-LLM tensorrt_llm/llmapi/llm_args.py
/// and commands/serve.py; llama.cpp common/arg.cpp; Ollama api/types.go (Options) and envconfig/config.go.
/// transformers' generate() is given a batch, and lays all it has on the accelerators.
constexpr OptionRow option_rows[] = {
    {"--memory-fraction",
     &has<&EngineOptions::memory_fraction>,
     {"--gpu-memory-utilization", "--mem-fraction-static", "--kv_cache_free_gpu_memory_fraction", "", "", ""},
     "--other-usage"},
    {"--kv-bytes",
     &has<&EngineOptions::cache_bytes>,
     {"--kv-cache-memory-bytes", "", "kv_cache_config.max_gpu_total_bytes", "", "", ""}},
    {"--batched-tokens",
     &has<&EngineOptions::batched_tokens>,
     {"--max-num-batched-tokens", "--chunked-prefill-size", "--max_num_tokens", "-b", "", ""},
     "--ubatch"},
    {"--max-seqs",
     &has<&EngineOptions::max_sequences>,
     {"--max-num-seqs", "--max-running-requests", "--max_batch_size", "", "", ""},
     "--slots"},
    {"--block",
     &has<&EngineOptions::block>,
     {"--block-size", "--page-size", "kv_cache_config.tokens_per_block", "", "", ""}},
    {"--graphs",
     &has<&EngineOptions::graphs>,
     {"--enforce-eager", "--disable-cuda-graph", "cuda_graph_config", "", "", ""}},
    {"--ubatch", &has<&EngineOptions::ubatch>, {"", "", "", "-ub", "num_batch", ""}, "--batched-tokens"},
    {"--slots", &has<&EngineOptions::slots>, {"", "", "", "-np", "OLLAMA_NUM_PARALLEL", ""}, "--max-seqs"},
    {"--gpu-layers", &has<&EngineOptions::gpu_layers>, {"", "", "", "-ngl", "num_gpu", ""}},
    {"--cpu-experts", &is_positive<&EngineOptions::cpu_experts>, {"", "", "", "--n-cpu-moe", "", ""}, "--gpu-layers"},
    {"--flash", &has<&EngineOptions::flash>, {"", "", "", "-fa", "OLLAMA_FLASH_ATTENTION", ""}},
    {"--prefix-cache",
     &has<&EngineOptions::prefix_cache>,
     {"--enable-prefix-caching", "--disable-radix-cache", "kv_cache_config.enable_block_reuse", "", "", ""}},
    {"--wait-steps",
     &is_positive<&EngineOptions::wait_steps>,
     {"", "--scheduler-recv-interval", "batch_wait_timeout_iters", "", "", ""}},
    {"--draft",
     &drafts,
     {"--speculative-config", "--speculative-algorithm", "speculative_config", "-md", "draft_num_predict", ""}},
    {"--max-loras",
     &is_positive<&EngineOptions::max_loras>,
     {"--max-loras", "--max-loras-per-batch", "lora_config.max_loras", "", "", ""}},
    {"--group-size",
     [](const Serving& serving) { return serving.group_size > 0; },
     {"group_size", "group_size", "group_size", "", "", "group_size"},
     "--quant"},
    {"--imatrix",
     [](const Serving& serving) { return !serving.imatrix; },
     {"", "", "", "llama-quantize", "llama-quantize", ""}},
    {"--split",
     [](const Serving& serving) { return serving.layout.split != spec::CardSplit::layer; },
     {"", "", "", "--split-mode", "", ""}},
    {"--attention-dp",
     [](const Serving& serving) { return serving.layout.attention_dp > 1; },
     {"--data-parallel-size", "--enable-dp-attention", "enable_attention_dp", "", "", ""}},
    {"--dcp",
     [](const Serving& serving) { return serving.layout.dcp > 1; },
     {"--decode-context-parallel-size", "--dcp-size", "", "", "", ""}},
    {"--shared-prefix",
     [](const Serving& serving) { return serving.load.shared_prefix > 0; },
     {"--enable-prefix-caching", "--disable-radix-cache", "kv_cache_config.enable_block_reuse", "--kv-unified",
      "--kv-unified", ""}},
};

std::string_view word_of(const OptionRow& row, Engine engine) { return row.words.at(static_cast<std::size_t>(engine)); }

const OptionRow* unknown_option(const Serving& serving) {
  const auto* found = std::ranges::find_if(
      option_rows, [&](const OptionRow& row) { return row.said(serving) && word_of(row, serving.engine).empty(); });
  return found == std::end(option_rows) ? nullptr : found;
}

/// "--slots (-np) is what it has", where there is such an option.
std::string nearest(const OptionRow& row, Engine engine) {
  if (row.instead.empty()) return {};
  const auto* other = std::ranges::find(option_rows, row.instead, &OptionRow::flag);
  if (other == std::end(option_rows)) return fmt::format("{} is what it has", row.instead);
  const auto word = word_of(*other, engine);
  return word.empty() ? std::string() : fmt::format("{} ({}) is what it has", row.instead, word);
}

/// "vllm (--block-size), sglang (--page-size)"
std::string who_has(const OptionRow& row) {
  std::string who;
  for (std::size_t i = 0; i < row.words.size(); ++i) {
    if (row.words.at(i).empty()) continue;
    who += fmt::format("{}{} ({})", who.empty() ? "" : ", ", spec::name_of(static_cast<Engine>(i)), row.words.at(i));
  }
  return "it is an option of " + who;
}

}  // namespace

void check_options(const Serving& serving) {
  const OptionRow* row = unknown_option(serving);
  if (row == nullptr) return;
  const std::string own = nearest(*row, serving.engine);
  throw quantity::BadInput(std::string(row->flag), fmt::format("{} has no such option", spec::name_of(serving.engine)),
                           own.empty() ? who_has(*row) : own);
}

bool takes_options(const Serving& serving) { return unknown_option(serving) == nullptr; }

}  // namespace llmcalc::serving
