// vLLM's server (vllm/engine/arg_utils.py), by command, configuration file and container.
#include "dialects/core/format.hpp"
#include "dialects/servers/server_rules.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "quantity/text.hpp"

#include <string>

namespace llmcalc::dialects {
namespace {

constexpr Spelling quantizations[] = {
    {"awq", "awq"},     {"awq_marlin", "awq"},       {"gptq", "gptq"},    {"gptq_marlin", "gptq"},
    {"fp8", "fp8"},     {"bitsandbytes", "bnb-nf4"}, {"modelopt", "fp8"}, {"modelopt_fp4", "nvfp4"},
    {"mxfp4", "mxfp4"}, {"compressed-tensors", ""},  {"gguf", ""},        {"fbgemm_fp8", "fp8"},
    {"int8", "int8"},
};
constexpr Spelling caches[] = {{"auto", ""},        {"fp8", "fp8"},       {"fp8_e4m3", "fp8"},
                               {"fp8_e5m2", "fp8"}, {"bfloat16", "bf16"}, {"nvfp4", "nvfp4"}};

constexpr FormatRow rows[] = {
    {"tensor_parallel_size", Use::term, "tp"},
    {"tp", Use::term, "tp"},
    {"pipeline_parallel_size", Use::term, "pp"},
    {"pp", Use::term, "pp"},
    {"data_parallel_size", Use::rule, "dp"},
    {"dp", Use::rule, "dp"},
    {"enable_expert_parallel", Use::rule},
    {"ep", Use::rule},
    {"max_model_len", Use::rule, "context"},
    {"max_num_batched_tokens", Use::rule, "batched_tokens"},
    {"kv_cache_memory_bytes", Use::rule},
    {"gpu_memory_utilization", Use::term, "memory_fraction"},
    {"max_num_seqs", Use::term, "max_seqs"},
    {"kv_cache_dtype", Use::term, "kv_dtype", caches},
    {"quantization", Use::term, "quant", quantizations},
    {"q", Use::term, "quant", quantizations},
    {"dtype", Use::rule},
    {"block_size", Use::term, "block"},
    {"enforce_eager", Use::rule},
    {"speculative_config", Use::rule},
    {"speculative_config.method", Use::rule},
    {"speculative_config.model", Use::rule},
    {"speculative_config.num_speculative_tokens", Use::rule},
    {"enable_lora", Use::rule},
    {"max_loras", Use::rule},
    {"max_lora_rank", Use::rule},
    {"decode_context_parallel_size", Use::term, "dcp"},
    {"dcp", Use::term, "dcp"},
    {"engine_version", Use::term, "engine_version"},
    {"positional.0", Use::rule},
    {"model", Use::rule},
    {"model_tag", Use::rule},
    {"model_id", Use::rule},
    {"disable_vllm", Use::unmapped, "vLLM: say --engine hf"},
    {"model_name"},
    {"model_dir"},
    {"backend"},
    {"max_length"},
    {"image_gpus", Use::term, "gpus"},
    {"image_gpu", Use::term, "gpu"},
    {"cpu_offload_gb", Use::unmapped, "all weights rest on the accelerator"},
    {"limit_mm_per_prompt", Use::unmapped, "prompts of text alone"},
    {"kv_transfer_config", Use::unmapped, "prefill and decoding share the accelerators"},
    {"kv_offloading*", Use::unmapped, "the cache stays on the accelerator"},
    {"compilation_config", Use::unmapped, "the graphs that are captured where nothing is said"},
    {"cudagraph_capture_sizes", Use::unmapped, "the graphs that are captured where nothing is said"},
    {"hf_overrides*", Use::unmapped, "the model as its configuration says"},
    {"rope_scaling*", Use::unmapped, "the model as its configuration says"},
    {"swap_space"},
    {"host"},
    {"port"},
    {"served_model_name"},
    {"api_key"},
    {"trust_remote_code"},
    {"tokenizer*"},
    {"chat_template*"},
    {"enable_auto_tool_choice"},
    {"tool_call_parser"},
    {"reasoning_parser"},
    {"disable_log_*"},
    {"enable_prefix_caching", Use::rule},
    {"no_enable_prefix_caching", Use::rule},
    {"enable_chunked_prefill"},
    {"no_enable_*"},
    {"seed"},
    {"distributed_executor_backend"},
    {"download_dir"},
    {"load_format"},
    {"revision"},
    {"uvicorn_log_level"},
    {"root_path"},
    {"generation_config"},
    {"override_generation_config"},
    {"disable_*"},
    {"enable_log_*"},
    {"max_log_len"},
    {"ssl_*"},
    {"allowed_*"},
    {"allow_credentials"},
    {"response_role"},
    {"lora_modules"},
    {"async_scheduling"},
    {"all2all_backend"},
    {"stream_interval"},
    {"scheduling_policy"},
    {"guided_*"},
    {"data_parallel_*"},
    {"nnodes"},
    {"node_rank"},
    {"master_*"},
    {"headless"},
    {"api_server_count"},
    {"task"},
    {"runner"},
    {"max_seq_len_to_capture"},
    {"num_gpu_blocks_override", Use::unmapped, "as many blocks as fit"},
    {"mm_*"},
    {"otlp_*"},
    {"worker_*"},
    {"enable_*"},
    {"collect_*"},
    {"logits_processors"},
    {"attention_backend"},
    {"positional*"},
    {"middleware"},
    {"max_context_len_to_capture"},
    {"max_logprobs"},
    {"max_num_partial_prefills"},
    {"max_long_partial_prefills"},
    {"long_prefill_token_threshold"},
    {"calculate_kv_scales"},
    {"eplb_config"},
    {"media_io_kwargs"},
    {"convert"},
    {"pooler_config"},
    {"language_model_only"},
    {"gdn_prefill_backend"},
};

constexpr std::span<const FormatRow> tables[] = {rows};

bool recognizes(const Settings& settings) {
  const bool sized = settings.has("max_model_len") || settings.has("gpu_memory_utilization");
  return settings.has("model") && (sized || settings.has("max_num_seqs"));
}

/// With expert parallelism the experts are spread over all ranks of tp and dp, and dp copies the attention; without it
/// dp copies the whole (docs/serving/data_parallel_deployment).
void take_data_parallelism(Sheet& sheet) {
  const auto copies = sheet.count({"data_parallel_size", "dp"}).value_or(1);
  const auto tensor = sheet.count({"tensor_parallel_size", "tp"}).value_or(1);
  const bool experts = sheet.is_on("enable_expert_parallel") || sheet.is_on("ep");
  const auto stages = sheet.count({"pipeline_parallel_size", "pp"}).value_or(1);
  if (copies > 1 && experts) {
    sheet.say("attention_dp", std::to_string(copies), *sheet.find({"data_parallel_size", "dp"}));
  } else if (copies > 1) {
    const auto ranks = quantity::product(copies, tensor, stages);
    sheet.say("gpus", std::to_string(ranks), *sheet.find({"data_parallel_size", "dp"}));
  }
  if (experts)
    sheet.say("ep", std::to_string(quantity::product(copies, tensor)), *sheet.find({"enable_expert_parallel", "ep"}));
}

void take_adapters(Sheet& sheet) {
  if (!sheet.is_on("enable_lora")) return;
  const Setting* loras = sheet.find("max_loras");
  const Setting* rank = sheet.find("max_lora_rank");
  sheet.say("max_loras", loras == nullptr ? "1" : loras->text, loras == nullptr ? *sheet.find("enable_lora") : *loras);
  if (rank != nullptr) sheet.say("lora_rank", rank->text, *rank);
}

void rules(Sheet& sheet) {
  take_served_model(sheet, {"model", "model_tag", "model_id", "positional.0"});
  take_human_number(sheet, {"max_model_len"}, "context");
  take_human_number(sheet, {"max_num_batched_tokens"}, "batched_tokens");
  take_human_number(sheet, {"kv_cache_memory_bytes"}, "kv_bytes");
  take_data_parallelism(sheet);
  sheet.by_default("tp", "1", "vLLM default");
  take_adapters(sheet);
  take_weight_type(sheet);
  take_speculation(sheet, "speculative_config");
  if (sheet.is_on("no_enable_prefix_caching")) sheet.say("prefix_cache", "0", sheet.said("no_enable_prefix_caching"));
  if (sheet.is_on("enforce_eager")) sheet.say("graphs", "0", sheet.said("enforce_eager"));
  assume_load(sheet);
}

}  // namespace

const Format& vllm_format() {
  static constexpr Format format{"vLLM command", "vllm", tables, recognizes, rules, true};
  return format;
}

}  // namespace llmcalc::dialects
