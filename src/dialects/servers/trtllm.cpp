// trtllm-serve (tensorrt_llm/commands/serve.py) with the keys of its file of further options (llmapi/llm_args.py).
#include "dialects/core/format.hpp"
#include "dialects/servers/server_rules.hpp"

#include <string>

namespace llmcalc::dialects {
namespace {

constexpr Spelling caches[] = {
    {"auto", ""}, {"fp8", "fp8"}, {"nvfp4", "nvfp4"}, {"bfloat16", "bf16"}, {"float16", "fp16"}};

constexpr FormatRow rows[] = {
    {"tp_size", Use::rule, "tp"},
    {"tensor_parallel_size", Use::rule, "tp"},
    {"pp_size", Use::term, "pp"},
    {"pipeline_parallel_size", Use::term, "pp"},
    {"ep_size", Use::term, "ep"},
    {"moe_expert_parallel_size", Use::term, "ep"},
    {"max_batch_size", Use::term, "max_seqs"},
    {"max_num_tokens", Use::term, "batched_tokens"},
    {"max_seq_len", Use::term, "context"},
    {"kv_cache_free_gpu_memory_fraction", Use::term, "memory_fraction"},
    {"free_gpu_memory_fraction", Use::term, "memory_fraction"},
    {"kv_cache_config.free_gpu_memory_fraction", Use::term, "memory_fraction"},
    {"kv_cache_config.dtype", Use::term, "kv_dtype", caches},
    {"kv_cache_dtype", Use::term, "kv_dtype", caches},
    {"kv_cache_config.tokens_per_block", Use::term, "block"},
    {"gpus_per_node", Use::term, "gpus_per_node"},
    {"engine_version", Use::term, "engine_version"},
    {"image_gpus", Use::term, "gpus"},
    {"image_gpu", Use::term, "gpu"},
    {"enable_attention_dp", Use::rule},
    {"speculative_config.decoding_type", Use::rule},
    {"speculative_config.num_nextn_predict_layers", Use::rule},
    {"speculative_config.max_draft_len", Use::rule},
    {"speculative_config.speculative_model_dir", Use::rule},
    {"speculative_config.speculative_model", Use::rule},
    {"kv_cache_config.enable_block_reuse", Use::rule},
    {"batch_wait_timeout_iters", Use::term, "wait_steps"},
    {"model", Use::rule},
    {"positional*", Use::rule},
    {"kv_cache_config.max_gpu_total_bytes", Use::term, "kv_bytes"},
    {"lora_config.max_loras", Use::term, "max_loras"},
    {"cuda_graph_config", Use::rule},
    {"kv_cache_config.max_tokens", Use::unmapped, "as many tokens as fit"},
    {"kv_cache_config.host_cache_size", Use::unmapped, "the cache stays on the accelerator"},
    {"cuda_graph_config*", Use::unmapped, "the graphs that are captured where nothing is said"},
    {"max_beam_width", Use::unmapped, "one beam"},
    {"kv_cache_config*"},
    {"speculative_config*"},
    {"host"},
    {"port"},
    {"backend"},
    {"tokenizer"},
    {"trust_remote_code"},
    {"log_level"},
    {"reasoning_parser"},
    {"moe_config*"},
    {"print_iter_log"},
    {"enable_*"},
    {"disable_*"},
    {"num_postprocess_*"},
    {"metadata_server_config_file"},
    {"server_role"},
    {"stream_interval"},
    {"scheduler_config*"},
    {"cluster_size"},
    {"ray"},
};

constexpr std::span<const FormatRow> tables[] = {rows};

bool recognizes(const Settings& settings) { return settings.has("kv_cache_config.free_gpu_memory_fraction"); }

/// With attention of their own all ranks of tp hold a copy.
void take_ranks(Sheet& sheet) {
  const Setting* tensor = sheet.find({"tp_size", "tensor_parallel_size"});
  if (tensor == nullptr) return;
  const bool copied = sheet.is_on("enable_attention_dp");
  sheet.say("tp", copied ? "1" : tensor->text, *tensor);
  if (copied) sheet.say("attention_dp", tensor->text, *sheet.find("enable_attention_dp"));
}

void take_draft(Sheet& sheet) {
  const std::string type = sheet.text("speculative_config.decoding_type");
  const Setting* setting = sheet.find("speculative_config.decoding_type");
  const auto tokens = sheet.count({"speculative_config.num_nextn_predict_layers", "speculative_config.max_draft_len"});
  const Setting* model =
      sheet.find({"speculative_config.speculative_model_dir", "speculative_config.speculative_model"});
  const bool by_model = type == "drafttarget" && model != nullptr;
  const bool known = type == "mtp" || type == "eagle" || by_model;
  if (known)
    sheet.say("draft", (by_model ? model->text : type) + (tokens ? ":" + std::to_string(*tokens) : std::string()),
              *setting);
  if (setting != nullptr && !known) sheet.assume(*setting, "nothing is proposed ahead: say --draft");
}

void rules(Sheet& sheet) {
  const bool by_verb = sheet.text("positional.0") == "serve";
  take_served_model(sheet, {"model", by_verb ? "positional.1" : "positional.0"});
  take_ranks(sheet);
  sheet.by_default("tp", "1", "trtllm-serve default");
  take_draft(sheet);
  const auto reuses = sheet.truth({"kv_cache_config.enable_block_reuse"});
  const Setting* graphs = sheet.find("cuda_graph_config");
  if (graphs != nullptr && says_nothing(*graphs)) sheet.say("graphs", "0", *graphs);
  if (reuses) sheet.say("prefix_cache", *reuses ? "1" : "0", *sheet.find("kv_cache_config.enable_block_reuse"));
  assume_load(sheet);
}

}  // namespace

const Format& trtllm_format() {
  static constexpr Format format{"trtllm-serve command", "trtllm", tables, recognizes, rules, true};
  return format;
}

}  // namespace llmcalc::dialects
