// llama.cpp common/arg.cpp and ollama envconfig/config.go.
#include "launch/servers.hpp"
#include "llmcalc/spec/names.hpp"
#include "llmcalc/spec/question.hpp"

namespace llmcalc::launch {

using spec::CacheType;

namespace {

void add_cache_type(const serving::Deployment& d, CommandText& command) {
  if (d.setup.cache == CacheType::f16) return;
  const auto type = d.setup.cache == CacheType::f32 ? std::string_view("f32") : spec::name_of(d.setup.cache);
  command.word("-ctk", type);
  command.word("-ctv", type);
}

}  // namespace

std::string llama_command(const serving::Deployment& d, const ServedNames& names) {
  const auto& serving = d.question.serving;
  const auto& options = serving.options;
  CommandText command(fmt::format("llama-server -m {}.gguf", names.model));
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
  add_cache_type(d, command);
  if (!names.draft.empty()) {
    command.word("-md", names.draft + ".gguf");
    command.option("--draft-max", options.draft.tokens);
  }
  return command.text();
}

std::string ollama_command(const serving::Deployment& d, const ServedNames& names) {
  std::string command = fmt::format("OLLAMA_CONTEXT_LENGTH={} ", d.setup.context);
  if (d.setup.slots > 1) command += fmt::format("OLLAMA_NUM_PARALLEL={} ", d.setup.slots);
  if (d.setup.cache != CacheType::f16) {
    command += fmt::format("OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE={} ", spec::name_of(d.setup.cache));
  }
  return command + fmt::format("ollama serve & ollama run {}", names.model);
}

}  // namespace llmcalc::launch
