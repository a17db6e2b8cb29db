// vLLM, SGLang and TensorRT-LLM.
#include "launch/servers.hpp"
#include "llmcalc/spec/question.hpp"

#include <array>
#include <cmath>

namespace llmcalc::launch {

using formats::Quant;
using serving::Deployment;
using spec::CacheType;
using spec::DraftKind;

namespace {

/// How a scheme is called that the checkpoint under the model's id does not have: the engine quantizes as it loads, or
/// wants the checkpoint that was.
struct SchemeWord {
  Quant quant;
  std::string_view vllm;    ///< vllm/model_executor/layers/quantization/__init__.py
  std::string_view sglang;  ///< sglang/srt/layers/quantization/__init__.py
};

constexpr std::array schemes{
    SchemeWord{Quant::fp8, "fp8", "fp8"},
    SchemeWord{Quant::awq, "awq", "awq"},
    SchemeWord{Quant::gptq, "gptq", "gptq"},
    SchemeWord{Quant::bnb_nf4, "bitsandbytes", "bitsandbytes"},
    SchemeWord{Quant::nvfp4, "modelopt_fp4", "modelopt_fp4"},
    SchemeWord{Quant::mxfp4, "mxfp4", "mxfp4"},
};

void add_quantization(Quant quant, const ServedNames& names, std::string_view SchemeWord::*word, CommandText& command) {
  if (quant == names.published) return;
  for (const SchemeWord& scheme : schemes) {
    if (scheme.quant == quant) command.word("--quantization", scheme.*word);
  }
}

/// vllm/config/speculative.py, key by key (vllm/utils/argparse_utils.py).
void add_vllm_draft(const spec::Draft& draft, const ServedNames& names, CommandText& command) {
  if (draft.kind == DraftKind::none) return;
  const bool by_model = draft.kind == DraftKind::model;
  const std::string_view method = by_model ? "draft_model" : draft.kind == DraftKind::mtp ? "mtp" : "eagle3";
  command.word("--speculative-config.method", method);
  if (by_model) command.word("--speculative-config.model", names.draft);
  command.option("--speculative-config.num_speculative_tokens", draft.tokens);
}

/// sglang/srt/server_args.py: a model's own layers propose under the name of EAGLE's, which verifies as many and one.
void add_sglang_draft(const spec::Draft& draft, const ServedNames& names, CommandText& command) {
  if (draft.kind == DraftKind::none) return;
  const bool by_model = draft.kind == DraftKind::model;
  command.word("--speculative-algorithm", by_model ? "STANDALONE" : draft.kind == DraftKind::mtp ? "NEXTN" : "EAGLE3");
  if (by_model) command.word("--speculative-draft-model-path", names.draft);
  command.option("--speculative-num-steps", draft.tokens);
  command.option("--speculative-eagle-topk", 1);
  command.option("--speculative-num-draft-tokens", draft.tokens + 1);
}

std::string cache_entry(const spec::Serving& serving) {
  std::string entry;
  const auto add_key = [&](const std::string& key) { entry += (entry.empty() ? "" : ", ") + key; };
  if (serving.cache == CacheType::fp8) add_key("dtype: fp8");
  if (const auto reuse = serving.options.prefix_cache) add_key(fmt::format("enable_block_reuse: {}", *reuse));
  if (const auto block = serving.options.block) add_key(fmt::format("tokens_per_block: {}", *block));
  return entry.empty() ? entry : "kv_cache_config: {" + entry + "}";
}

std::string draft_entry(const spec::Draft& draft, const ServedNames& names) {
  if (draft.kind == DraftKind::none) return {};
  const std::string_view type = draft.kind == DraftKind::mtp     ? "MTP"
                                : draft.kind == DraftKind::eagle ? "Eagle"
                                                                 : "DraftTarget";
  const std::string_view count = draft.kind == DraftKind::mtp ? "num_nextn_predict_layers" : "max_draft_len";
  const std::string model = names.draft.empty() ? names.draft : ", speculative_model_dir: " + names.draft;
  return fmt::format("speculative_config: {{decoding_type: {}, {}: {}{}}}", type, count, draft.tokens, model);
}

/// tensorrt_llm/llmapi/llm_args.py: what the command line has no words for, in one line of YAML.
std::string trtllm_file(const Deployment& d, const ServedNames& names) {
  const auto& serving = d.question.serving;
  std::string file;
  const std::string attention = serving.layout.attention_dp > 1 ? "enable_attention_dp: true" : "";
  for (const std::string& entry : {attention, cache_entry(serving), draft_entry(serving.options.draft, names)}) {
    if (!entry.empty()) file += (file.empty() ? "" : ", ") + entry;
  }
  return file.empty() ? file : "{" + file + "}";
}

/// Copies of the whole model, or of its attention alone where all of them share the experts.
std::optional<std::int64_t> copies(const Deployment& d) {
  const std::int64_t attention = d.question.serving.layout.attention_dp;
  return above_one(attention > 1 || d.question.layout.ep > 1 ? attention : d.question.layout.dp);
}

}  // namespace

/// vllm/engine/arg_utils.py.
std::string vllm_command(const Deployment& d, const ServedNames& names) {
  const auto& serving = d.question.serving;
  const auto& options = serving.options;
  CommandText command(fmt::format("vllm serve {}", names.model));
  add({{"--tensor-parallel-size", above_one(d.question.layout.tp)},
       {"--pipeline-parallel-size", above_one(d.question.layout.pp)},
       {"--data-parallel-size", copies(d)},
       {"--decode-context-parallel-size", above_one(serving.layout.dcp)}},
      command);
  if (d.question.layout.ep > 1) command.flag("--enable-expert-parallel");
  command.option("--max-model-len", d.setup.context);
  add_share("--gpu-memory-utilization", options.memory_fraction, command);
  add_quantization(serving.quant, names, &SchemeWord::vllm, command);
  if (d.setup.cache == CacheType::fp8) command.word("--kv-cache-dtype", "fp8");
  add({{"--max-num-batched-tokens", options.batched_tokens},
       {"--max-num-seqs", options.max_sequences},
       {"--block-size", options.block}},
      command);
  if (!options.graphs.value_or(true)) command.flag("--enforce-eager");
  if (!options.prefix_cache.value_or(true)) command.flag("--no-enable-prefix-caching");
  if (options.max_loras > 0) {
    command.flag("--enable-lora");
    command.option("--max-loras", options.max_loras);
  }
  add_vllm_draft(options.draft, names, command);
  return command.text();
}

/// sglang/srt/server_args.py.
std::string sglang_command(const Deployment& d, const ServedNames& names) {
  const auto& serving = d.question.serving;
  const auto& options = serving.options;
  CommandText command(fmt::format("python -m sglang.launch_server --model-path {}", names.model));
  add({{"--tp-size", above_one(d.question.layout.tp * serving.layout.attention_dp)},
       {"--pp-size", above_one(d.question.layout.pp)},
       {"--dp-size", copies(d)},
       {"--ep-size", above_one(d.question.layout.ep)}},
      command);
  if (serving.layout.attention_dp > 1) command.flag("--enable-dp-attention");
  command.option("--context-length", d.setup.context);
  add_share("--mem-fraction-static", options.memory_fraction, command);
  add_quantization(serving.quant, names, &SchemeWord::sglang, command);
  if (d.setup.cache == CacheType::fp8) command.word("--kv-cache-dtype", "fp8_e4m3");
  add({{"--chunked-prefill-size", options.batched_tokens},
       {"--max-running-requests", options.max_sequences},
       {"--page-size", options.block}},
      command);
  if (!options.graphs.value_or(true)) command.flag("--disable-cuda-graph");
  if (!options.prefix_cache.value_or(true)) command.flag("--disable-radix-cache");
  if (options.wait_steps > 0) command.option("--scheduler-recv-interval", std::llround(2 * options.wait_steps + 1));
  if (options.max_loras > 0) {
    command.flag("--enable-lora");
    command.option("--max-loras-per-batch", options.max_loras);
  }
  add_sglang_draft(options.draft, names, command);
  return command.text();
}

/// tensorrt_llm/commands/serve.py.
std::string trtllm_command(const Deployment& d, const ServedNames& names) {
  const auto& options = d.question.serving.options;
  CommandText command(fmt::format("trtllm-serve {}", names.model));
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

}  // namespace llmcalc::launch
