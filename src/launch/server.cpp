#include "llmcalc/launch/server.hpp"

#include "launch/command_text.hpp"
#include "llmcalc/spec/names.hpp"

#include <fmt/format.h>

#include <initializer_list>
#include <optional>

namespace llmcalc::launch {

using serving::Deployment;
using spec::CacheType;
using spec::Engine;

namespace {

struct WholeOption {
  std::string_view name;
  std::optional<std::int64_t> value;
};

void add(std::initializer_list<WholeOption> options, CommandText& command) {
  for (const auto& [name, value] : options) {
    if (value) command.option(name, *value);
  }
}

std::optional<std::int64_t> above_one(std::int64_t degree) { return degree > 1 ? std::optional(degree) : std::nullopt; }

void add_share(std::string_view name, std::optional<double> share, CommandText& command) {
  if (share) command.word(name, fmt::format("{:.4g}", *share));
}

/// Weights that these engines quantize as they load them; other schemes are those of a checkpoint.
void add_quantization(formats::Quant quant, CommandText& command) {
  if (quant == formats::Quant::fp8) command.word("--quantization", "fp8");
}

/// vllm/engine/arg_utils.py.
std::string vllm_command(const Deployment& d, std::string_view model) {
  const auto& serving = d.question.serving;
  const auto& options = serving.options;
  CommandText command(fmt::format("vllm serve {}", model));
  add({{"--tensor-parallel-size", above_one(d.question.layout.tp)},
       {"--pipeline-parallel-size", above_one(d.question.layout.pp)},
       {"--data-parallel-size", above_one(serving.layout.attention_dp)},
       {"--decode-context-parallel-size", above_one(serving.layout.dcp)}},
      command);
  if (d.question.layout.ep > 1) command.flag("--enable-expert-parallel");
  command.option("--max-model-len", d.setup.context);
  add_share("--gpu-memory-utilization", options.memory_fraction, command);
  add_quantization(serving.quant, command);
  if (d.setup.cache == CacheType::fp8) command.word("--kv-cache-dtype", "fp8");
  add({{"--max-num-batched-tokens", options.batched_tokens},
       {"--max-num-seqs", options.max_sequences},
       {"--block-size", options.block}},
      command);
  if (!options.graphs.value_or(true)) command.flag("--enforce-eager");
  if (options.max_loras > 0) {
    command.flag("--enable-lora");
    command.option("--max-loras", options.max_loras);
  }
  return command.text();
}

/// sglang/srt/server_args.py.
std::string sglang_command(const Deployment& d, std::string_view model) {
  const auto& serving = d.question.serving;
  const auto& options = serving.options;
  CommandText command(fmt::format("python -m sglang.launch_server --model-path {}", model));
  add({{"--tp-size", above_one(d.question.layout.tp * serving.layout.attention_dp)},
       {"--pp-size", above_one(d.question.layout.pp)},
       {"--dp-size", above_one(serving.layout.attention_dp)},
       {"--ep-size", above_one(d.question.layout.ep)}},
      command);
  if (serving.layout.attention_dp > 1) command.flag("--enable-dp-attention");
  command.option("--context-length", d.setup.context);
  add_share("--mem-fraction-static", options.memory_fraction, command);
  add_quantization(serving.quant, command);
  if (d.setup.cache == CacheType::fp8) command.word("--kv-cache-dtype", "fp8_e4m3");
  add({{"--chunked-prefill-size", options.batched_tokens}, {"--max-running-requests", options.max_sequences}}, command);
  if (!options.graphs.value_or(true)) command.flag("--disable-cuda-graph");
  return command.text();
}

/// tensorrt_llm/commands/serve.py.
std::string trtllm_command(const Deployment& d, std::string_view model) {
  const auto& options = d.question.serving.options;
  CommandText command(fmt::format("trtllm-serve {}", model));
  add({{"--tp_size", above_one(d.question.layout.tp)},
       {"--pp_size", above_one(d.question.layout.pp)},
       {"--ep_size", above_one(d.question.layout.ep)},
       {"--max_seq_len", d.setup.context},
       {"--max_num_tokens", options.batched_tokens},
       {"--max_batch_size", options.max_sequences}},
      command);
  add_share("--kv_cache_free_gpu_memory_fraction", options.memory_fraction, command);
  return command.text();
}

/// llama.cpp common/arg.cpp.
std::string llama_command(const Deployment& d, std::string_view model) {
  const auto& serving = d.question.serving;
  const auto& options = serving.options;
  CommandText command(fmt::format("llama-server -m {}.gguf", model));
  command.option("-c", d.setup.context);
  add({{"-np", options.slots},
       {"-ub", options.ubatch},
       {"--n-cpu-moe", options.cpu_experts > 0 ? std::optional(options.cpu_experts) : std::nullopt}},
      command);
  const std::int64_t all = d.question.model.layer_count() + 1;
  const std::int64_t layers = options.gpu_layers.value_or(all);
  command.option("-ngl", layers < all ? layers : 999);
  if (d.question.layout.gpus > 1) command.word("-sm", spec::name_of(serving.layout.split));
  command.word("-fa", d.setup.flash ? "on" : "off");
  if (d.setup.cache != CacheType::f16) {
    const auto type = d.setup.cache == CacheType::f32 ? std::string_view("f32") : spec::name_of(d.setup.cache);
    command.word("-ctk", type);
    command.word("-ctv", type);
  }
  return command.text();
}

/// ollama envconfig/config.go.
std::string ollama_command(const Deployment& d, std::string_view model) {
  std::string command = fmt::format("OLLAMA_CONTEXT_LENGTH={} ", d.setup.context);
  if (d.setup.slots > 1) command += fmt::format("OLLAMA_NUM_PARALLEL={} ", d.setup.slots);
  if (d.setup.cache != CacheType::f16) {
    command += fmt::format("OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE={} ", spec::name_of(d.setup.cache));
  }
  return command + fmt::format("ollama serve & ollama run {}", model);
}

}  // namespace

std::string server_command(const Deployment& deployment, std::string_view model) {
  switch (deployment.question.serving.engine) {
    case Engine::vllm:
      return vllm_command(deployment, model);
    case Engine::sglang:
      return sglang_command(deployment, model);
    case Engine::trtllm:
      return trtllm_command(deployment, model);
    case Engine::llama_cpp:
      return llama_command(deployment, model);
    case Engine::ollama:
      return ollama_command(deployment, model);
    case Engine::hf:
      break;
  }
  return {};
}

}  // namespace llmcalc::launch
