// vLLM, SGLang and TensorRT-LLM.
#include "dialects/writing/servers.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <vector>

namespace llmcalc::dialects {

using formats::Quant;
using serving::Deployment;
using spec::CacheType;
using spec::DraftKind;

namespace {

/// Weights that the checkpoint under the model's id does not have: what the engine is told to quantize them to as it
/// loads them, where it can, and how publishers call the checkpoint that has them.
struct SchemeWord {
  Quant quant;
  std::string_view suffix;
  std::string_view vllm = {};    ///< vllm/model_executor/layers/quantization/__init__.py
  std::string_view sglang = {};  ///< sglang/srt/layers/quantization/__init__.py
};

constexpr std::array schemes{
    SchemeWord{Quant::fp8, "-FP8", "fp8", "fp8"},
    SchemeWord{Quant::bnb_nf4, "-bnb-4bit", "bitsandbytes", "bitsandbytes"},
    SchemeWord{Quant::awq, "-AWQ"},
    SchemeWord{Quant::gptq, "-GPTQ"},
    SchemeWord{Quant::nvfp4, "-NVFP4"},
    SchemeWord{Quant::mxfp4, "-MXFP4"},
    SchemeWord{Quant::int8, "-INT8"},
    SchemeWord{Quant::int4, "-W4A16"},
    SchemeWord{Quant::bf16, "-BF16"},
};

/// The model, and the word of --quantization, which TensorRT-LLM does not have.
struct Served {
  std::string model;
  std::string_view quantization;
};

Served served(Quant quant, const ServedNames& names, std::string_view SchemeWord::*word) {
  const auto* scheme = quantity::find_or_null(schemes, quant, &SchemeWord::quant);
  const std::string& model = names.weights();
  if (quant == names.published || scheme == nullptr) return {model, {}};
  if (word != nullptr && !(scheme->*word).empty()) return {model, scheme->*word};
  return {model.substr(model.rfind('/') + 1).append(scheme->suffix), {}};
}

struct CacheWord {
  CacheType type;
  std::string_view vllm;    ///< vllm/config/cache.py, CacheDType
  std::string_view sglang;  ///< sglang/srt/server_args.py, --kv-cache-dtype
  std::string_view trtllm;  ///< tensorrt_llm/llmapi/llm_args.py, KvCacheConfig
};

constexpr std::array caches{CacheWord{CacheType::fp8, "fp8", "fp8_e4m3", "fp8"},
                            CacheWord{CacheType::nvfp4, "nvfp4", "fp4_e2m1", "nvfp4"},
                            CacheWord{CacheType::bf16, "bfloat16", "bf16", "bfloat16"}};

/// Empty for the type that the engine takes by itself.
std::string_view cache_word(CacheType type, std::string_view CacheWord::*word) {
  const auto* found = quantity::find_or_null(caches, type, &CacheWord::type);
  return found == nullptr ? std::string_view() : found->*word;
}

/// Narrow weights bring a narrow cache, whose type is said as well.
CacheType said_cache(const Deployment& d) {
  const CacheType asked = d.question.serving.cache;
  return asked == CacheType::automatic && d.setup.cache != CacheType::bf16 ? d.setup.cache : asked;
}

/// Layers that propose tokens as EAGLE's do are a checkpoint of their own, whose name nobody asked for.
std::string_view draft_model(const spec::Draft& draft, const ServedNames& names) {
  return draft.kind == DraftKind::eagle ? std::string_view("DRAFT") : std::string_view(names.draft);
}

/// vllm/config/speculative.py, key by key (vllm/utils/argparse_utils.py).
void add_vllm_draft(const spec::Draft& draft, const ServedNames& names, CommandText& command) {
  if (draft.kind == DraftKind::none) return;
  const bool by_model = draft.kind == DraftKind::model;
  const std::string_view method = by_model ? "draft_model" : draft.kind == DraftKind::mtp ? "mtp" : "eagle3";
  command.word("--speculative-config.method", method);
  add_word("--speculative-config.model", draft_model(draft, names), command);
  command.option("--speculative-config.num_speculative_tokens", draft.tokens);
}

/// sglang/srt/server_args.py: a model's own layers propose under the name of EAGLE's, which verifies as many and one.
void add_sglang_draft(const spec::Draft& draft, const ServedNames& names, CommandText& command) {
  if (draft.kind == DraftKind::none) return;
  const bool by_model = draft.kind == DraftKind::model;
  command.word("--speculative-algorithm", by_model ? "STANDALONE" : draft.kind == DraftKind::mtp ? "NEXTN" : "EAGLE3");
  add_word("--speculative-draft-model-path", draft_model(draft, names), command);
  command.option("--speculative-num-steps", draft.tokens);
  command.option("--speculative-eagle-topk", 1);
  command.option("--speculative-num-draft-tokens", draft.tokens + 1);
}

std::string cache_entry(const spec::Serving& serving) {
  std::string entry;
  const auto add_key = [&](const std::string& key) { entry += (entry.empty() ? "" : ", ") + key; };
  const auto type = cache_word(serving.cache, &CacheWord::trtllm);
  if (!type.empty()) add_key(fmt::format("dtype: {}", type));
  if (const auto reuse = serving.options.prefix_cache) add_key(fmt::format("enable_block_reuse: {}", *reuse));
  if (const auto block = serving.options.block) add_key(fmt::format("tokens_per_block: {}", *block));
  if (const auto size = serving.options.cache_bytes)
    add_key(fmt::format("max_gpu_total_bytes: {}", quantity::in_bytes(*size)));
  return entry.empty() ? entry : "kv_cache_config: {" + entry + "}";
}

std::string draft_entry(const spec::Draft& draft, const ServedNames& names) {
  if (draft.kind == DraftKind::none) return {};
  const std::string_view type = draft.kind == DraftKind::mtp     ? "MTP"
                                : draft.kind == DraftKind::eagle ? "Eagle"
                                                                 : "DraftTarget";
  const std::string_view count = draft.kind == DraftKind::mtp ? "num_nextn_predict_layers" : "max_draft_len";
  const auto model = draft_model(draft, names);
  return fmt::format("speculative_config: {{decoding_type: {}, {}: {}{}{}}}", type, count, draft.tokens,
                     model.empty() ? "" : ", speculative_model_dir: ", model);
}

/// Whole steps that a request is let wait.
std::string waiting_entry(double steps) {
  return steps > 0 ? fmt::format("batch_wait_timeout_iters: {}", std::llround(steps)) : std::string();
}

/// tensorrt_llm/llmapi/llm_args.py: what the command line has no words for, in one line of YAML.
std::string trtllm_file(const Deployment& d, const ServedNames& names) {
  const auto& serving = d.question.serving;
  const auto& options = serving.options;
  const std::string attention = serving.layout.attention_dp > 1 ? "enable_attention_dp: true" : "";
  const std::string graphs = options.graphs.value_or(true) ? "" : "cuda_graph_config: null";
  const std::string loras =
      options.max_loras > 0 ? fmt::format("lora_config: {{max_loras: {}}}", options.max_loras) : std::string();
  std::vector<std::string> entries{attention, cache_entry(serving),
                                   graphs,    waiting_entry(options.wait_steps),
                                   loras,     draft_entry(options.draft, names)};
  std::erase(entries, std::string());
  return entries.empty() ? std::string() : "{" + quantity::joined(entries, ", ") + "}";
}

std::optional<std::int64_t> whole_bytes(const std::optional<quantity::Bytes>& size) {
  return size ? std::optional(quantity::in_bytes(*size)) : std::nullopt;
}

/// Copies of the whole model, or of its attention alone where all of them share the experts.
std::optional<std::int64_t> copies(const Deployment& d) {
  const std::int64_t attention = d.question.serving.layout.attention_dp;
  return above_one(attention > 1 || d.question.layout.ep > 1 ? attention : d.question.layout.dp);
}

void add_loras(const spec::Question& question, std::string_view most, CommandText& command) {
  const std::int64_t loras = question.serving.options.max_loras;
  if (loras == 0) return;
  command.flag("--enable-lora");
  command.option(most, loras);
  if (const auto rank = question.training.adapter.rank; rank > 0) command.option("--max-lora-rank", rank);
}

}  // namespace

/// vllm/engine/arg_utils.py.
std::string vllm_command(const Deployment& d, const ServedNames& names) {
  const auto& serving = d.question.serving;
  const auto& options = serving.options;
  const Served served_as = served(serving.quant, names, &SchemeWord::vllm);
  CommandText command(fmt::format("vllm serve {}", served_as.model));
  add({{"--tensor-parallel-size", above_one(d.question.layout.tp)},
       {"--pipeline-parallel-size", above_one(d.question.layout.pp)},
       {"--data-parallel-size", copies(d)},
       {"--decode-context-parallel-size", above_one(serving.layout.dcp)}},
      command);
  if (d.question.layout.ep > 1) command.flag("--enable-expert-parallel");
  command.option("--max-model-len", d.setup.context);
  add_share("--gpu-memory-utilization", options.memory_fraction, command);
  add_word("--quantization", served_as.quantization, command);
  add_word("--kv-cache-dtype", cache_word(said_cache(d), &CacheWord::vllm), command);
  add({{"--max-num-batched-tokens", options.batched_tokens},
       {"--max-num-seqs", options.max_sequences},
       {"--block-size", options.block},
       {"--kv-cache-memory-bytes", whole_bytes(options.cache_bytes)}},
      command);
  if (!options.graphs.value_or(true)) command.flag("--enforce-eager");
  if (!options.prefix_cache.value_or(true)) command.flag("--no-enable-prefix-caching");
  add_loras(d.question, "--max-loras", command);
  add_vllm_draft(options.draft, names, command);
  return command.text();
}

/// sglang/srt/server_args.py.
std::string sglang_command(const Deployment& d, const ServedNames& names) {
  const auto& serving = d.question.serving;
  const auto& options = serving.options;
  const Served served_as = served(serving.quant, names, &SchemeWord::sglang);
  CommandText command(fmt::format("python -m sglang.launch_server --model-path {}", served_as.model));
  add({{"--tp-size", above_one(d.question.layout.tp * serving.layout.attention_dp)},
       {"--pp-size", above_one(d.question.layout.pp)},
       {"--dp-size", copies(d)},
       {"--ep-size", above_one(d.question.layout.ep)},
       {"--dcp-size", above_one(serving.layout.dcp)}},
      command);
  if (serving.layout.attention_dp > 1) command.flag("--enable-dp-attention");
  command.option("--context-length", d.setup.context);
  add_share("--mem-fraction-static", options.memory_fraction, command);
  add_word("--quantization", served_as.quantization, command);
  add_word("--kv-cache-dtype", cache_word(said_cache(d), &CacheWord::sglang), command);
  add({{"--chunked-prefill-size", options.batched_tokens},
       {"--max-running-requests", options.max_sequences},
       {"--page-size", options.block}},
      command);
  if (!options.graphs.value_or(true)) command.flag("--disable-cuda-graph");
  if (!options.prefix_cache.value_or(true)) command.flag("--disable-radix-cache");
  if (options.wait_steps > 0) command.option("--scheduler-recv-interval", std::llround(2 * options.wait_steps + 1));
  add_loras(d.question, "--max-loras-per-batch", command);
  // Without adapters at the start it has to be told where they may stand (sglang/srt/server_args.py,
  // check_lora_server_args).
  if (options.max_loras > 0) command.word("--lora-target-modules", "all");
  add_sglang_draft(options.draft, names, command);
  return command.text();
}

/// tensorrt_llm/commands/serve.py.
std::string trtllm_command(const Deployment& d, const ServedNames& names) {
  const auto& options = d.question.serving.options;
  CommandText command(fmt::format("trtllm-serve {}", served(d.question.serving.quant, names, nullptr).model));
  add({{"--tp_size", above_one(d.question.layout.tp * d.question.serving.layout.attention_dp)},
       {"--pp_size", above_one(d.question.layout.pp)},
       {"--ep_size", above_one(d.question.layout.ep)},
       {"--max_seq_len", d.setup.context},
       {"--max_num_tokens", options.batched_tokens},
       {"--max_batch_size", options.max_sequences}},
      command);
  add_share("--kv_cache_free_gpu_memory_fraction", options.memory_fraction, command);
  const std::string file = trtllm_file(d, names);
  if (file.empty()) return command.text();
  command.word("--extra_llm_api_options", "trtllm.yaml");
  return fmt::format("echo \"{}\" > trtllm.yaml && {}", file, command.text());
}

}  // namespace llmcalc::dialects
