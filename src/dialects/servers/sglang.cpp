// SGLang's server (python/sglang/srt/server_args.py).
#include "dialects/core/format.hpp"
#include "dialects/servers/server_rules.hpp"
#include "llmcalc/quantity/checked.hpp"

#include <fmt/format.h>

#include <string>

namespace llmcalc::dialects {
namespace {

constexpr Spelling quantizations[] = {{"awq", "awq"},
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
constexpr Spelling caches[] = {{"auto", ""},     {"fp8_e5m2", "fp8"},  {"fp8_e4m3", "fp8"},
                               {"bf16", "bf16"}, {"bfloat16", "bf16"}, {"fp4_e2m1", "nvfp4"}};

constexpr FormatRow rows[] = {
    {"mem_fraction_static", Use::term, "memory_fraction"},
    {"context_length", Use::term, "context"},
    {"chunked_prefill_size", Use::rule, "batched_tokens"},
    {"max_running_requests", Use::term, "max_seqs"},
    {"kv_cache_dtype", Use::term, "kv_dtype", caches},
    {"quantization", Use::term, "quant", quantizations},
    {"page_size", Use::term, "block"},
    {"pp_size", Use::term, "pp"},
    {"pipeline_parallel_size", Use::term, "pp"},
    {"ep", Use::term, "ep"},
    {"ep_size", Use::term, "ep"},
    {"expert_parallel_size", Use::term, "ep"},
    {"nnodes", Use::term, "nodes"},
    {"engine_version", Use::term, "engine_version"},
    {"image_gpus", Use::term, "gpus"},
    {"image_gpu", Use::term, "gpu"},
    {"tp", Use::rule, "tp"},
    {"tp_size", Use::rule, "tp"},
    {"tensor_parallel_size", Use::rule, "tp"},
    {"dp", Use::rule, "dp"},
    {"dp_size", Use::rule, "dp"},
    {"data_parallel_size", Use::rule, "dp"},
    {"enable_dp_attention", Use::rule},
    {"disable_cuda_graph", Use::rule},
    {"disable_radix_cache", Use::rule},
    {"scheduler_recv_interval", Use::rule},
    {"enable_lora", Use::rule},
    {"max_loras_per_batch", Use::rule},
    {"lora_target_modules"},
    {"speculative_draft_model_path", Use::rule},
    {"speculative_draft_model", Use::rule},
    {"speculative_algorithm", Use::rule},
    {"speculative_algo", Use::rule},
    {"speculative_num_draft_tokens", Use::rule},
    {"speculative_num_steps", Use::rule},
    {"model_path", Use::rule},
    {"model", Use::rule},
    {"positional.0", Use::rule},
    {"dcp_size", Use::term, "dcp"},
    {"decode_context_parallel_size", Use::term, "dcp"},
    {"cuda_graph_max_bs", Use::unmapped, "the graphs that are captured where nothing is said"},
    {"cuda_graph_bs", Use::unmapped, "the graphs that are captured where nothing is said"},
    {"cpu_offload_gb", Use::unmapped, "all weights rest on the accelerator"},
    {"max_total_tokens", Use::unmapped, "as many tokens as fit"},
    {"max_prefill_tokens", Use::unmapped, "one chunk of a prompt at once"},
    {"enable_hierarchical_cache", Use::unmapped, "the cache stays on the accelerator"},
    {"disaggregation_mode", Use::unmapped, "prefill and decoding share the accelerators"},
    {"dtype", Use::rule},
    {"ep_num_redundant_experts", Use::unmapped, "every expert rests once"},
    {"swa_full_tokens_ratio", Use::unmapped, "the cache of windowed layers as wide as SGLang makes it unasked"},
    {"mamba_*", Use::unmapped, "states in the type and number that SGLang takes unasked"},
    {"hicache_*", Use::unmapped, "the cache stays on the accelerator"},
    {"torch_compile_max_bs"},
    {"eplb_*"},
    {"ep_*"},
    {"speculative_*"},
    {"host"},
    {"port"},
    {"trust_remote_code"},
    {"served_model_name"},
    {"tokenizer*"},
    {"api_key"},
    {"log_*"},
    {"enable_*"},
    {"disable_*"},
    {"dist_init_addr"},
    {"node_rank"},
    {"chat_template*"},
    {"tool_call_parser"},
    {"reasoning_parser"},
    {"attention_backend"},
    {"sampling_backend"},
    {"schedule_*"},
    {"random_seed"},
    {"watchdog*"},
    {"mem_*"},
    {"download_dir"},
    {"load_format"},
    {"moe_*"},
    {"deepep_mode"},
    {"stream_*"},
    {"decode_*"},
    {"prefill_*"},
    {"nccl_*"},
    {"load_balance_method"},
    {"grammar_*"},
    {"revision"},
    {"is_embedding"},
    {"warmups"},
    {"positional*"},
};

constexpr std::span<const FormatRow> tables[] = {rows};

bool recognizes(const Settings& settings) {
  return settings.has("model_path") &&
         (settings.has("mem_fraction_static") || settings.has("tp") || settings.has("tp_size"));
}

/// tp counts all ranks of a copy: attention that is copied dp times leaves tp / dp of them to each.
void take_ranks(Sheet& sheet) {
  const auto tensor = sheet.count({"tp", "tp_size", "tensor_parallel_size"});
  const auto copies = sheet.count({"dp", "dp_size", "data_parallel_size"}).value_or(1);
  const bool attention = sheet.is_on("enable_dp_attention") && copies > 1;
  if (tensor) {
    const auto left = attention && *tensor % copies == 0 ? *tensor / copies : *tensor;
    sheet.say("tp", std::to_string(left), *sheet.find({"tp", "tp_size", "tensor_parallel_size"}));
  }
  if (copies <= 1) return;
  const Setting& because = *sheet.find({"dp", "dp_size", "data_parallel_size"});
  if (attention) return sheet.say("attention_dp", std::to_string(copies), because);
  sheet.say("gpus", std::to_string(quantity::product(copies, tensor.value_or(1))), because);
}

void take_draft(Sheet& sheet) {
  const Setting* algorithm = sheet.find({"speculative_algorithm", "speculative_algo"});
  if (algorithm == nullptr) return;
  const std::string name = sheet.text({"speculative_algorithm", "speculative_algo"});
  const auto tokens = sheet.count({"speculative_num_steps", "speculative_num_draft_tokens"});
  const Setting* model = sheet.find({"speculative_draft_model_path", "speculative_draft_model"});
  const bool by_model = name == "standalone" && model != nullptr;
  // EAGLE without a head of its own takes the layers that the model brings (server_args.py, NEXTN is its other name).
  const bool mtp = name == "nextn" || (name == "eagle" && model == nullptr);
  if (!mtp && !by_model && !name.starts_with("eagle")) {
    return sheet.assume(*algorithm, "nothing is proposed ahead: say --draft");
  }
  const std::string who = by_model ? model->text : mtp ? "mtp" : "eagle";
  sheet.say("draft", who + (tokens ? ":" + std::to_string(*tokens) : std::string()), *algorithm);
}

/// Half of the steps between two looks at new requests is what one waits in the mean
/// (managers/scheduler_recv_skipper.py).
void take_interval(Sheet& sheet) {
  const auto steps = sheet.count({"scheduler_recv_interval"}).value_or(1);
  if (steps > 1)
    sheet.say("wait_steps", fmt::format("{:g}", static_cast<double>(steps - 1) / 2.0),
              *sheet.find("scheduler_recv_interval"));
}

void take_adapters(Sheet& sheet) {
  if (!sheet.is_on("enable_lora")) return;
  const Setting* loras = sheet.find("max_loras_per_batch");
  constexpr std::string_view usual = "8";  // server_args.py
  const Setting& said = loras == nullptr ? *sheet.find("enable_lora") : *loras;
  sheet.say("max_loras", loras == nullptr ? std::string(usual) : loras->text, said);
}

void rules(Sheet& sheet) {
  take_served_model(sheet, {"model_path", "model", "positional.0"});
  take_ranks(sheet);
  sheet.by_default("tp", "1", "SGLang default");
  take_draft(sheet);
  take_weight_type(sheet);
  const Setting* chunk = sheet.find("chunked_prefill_size");
  if (chunk != nullptr && !chunk->text.starts_with('-')) sheet.say("batched_tokens", chunk->text, *chunk);
  take_interval(sheet);
  take_adapters(sheet);
  if (sheet.is_on("disable_radix_cache")) sheet.say("prefix_cache", "0", sheet.said("disable_radix_cache"));
  if (sheet.is_on("disable_cuda_graph")) sheet.say("graphs", "0", sheet.said("disable_cuda_graph"));
  assume_load(sheet);
}

}  // namespace

const Format& sglang_format() {
  static constexpr Format format{"SGLang command", "sglang", tables, recognizes, rules, true};
  return format;
}

}  // namespace llmcalc::dialects
