// llama.cpp common/arg.cpp and ollama envconfig/config.go.
#include "dialects/writing/servers.hpp"
#include "llmcalc/spec/question.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <cctype>

namespace llmcalc::dialects {

using spec::CacheType;

namespace {

void add_cache_type(const serving::Deployment& d, CommandText& command) {
  if (d.setup.cache == CacheType::f16) return;
  const auto type = d.setup.cache == CacheType::f32 ? std::string_view("f32") : spec::name_of(d.setup.cache);
  command.word("-ctk", type);
  command.word("-ctv", type);
}

/// "Q8_0", as GGUF files of a type end their names.
std::string file_suffix(formats::Quant quant) {
  std::string name(formats::facts(quant).name);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

/// What Ollama's library has under a name without a type in its tag.
bool is_usual(formats::Quant quant) { return quant == formats::Quant::q4_k_m || quant == formats::Quant::mxfp4_moe; }

/// What no option of a command says (ollama docs/modelfile.md, PARAMETER; api/types.go, Options).
std::string modelfile(const spec::EngineOptions& options, const std::string& model) {
  std::string lines;
  const auto add = [&](std::string_view name, std::optional<std::int64_t> value) {
    if (value) lines += fmt::format("\\nPARAMETER {} {}", name, *value);
  };
  add("num_gpu", options.gpu_layers);
  add("num_batch", options.ubatch);
  return lines.empty() ? lines : fmt::format("printf \"FROM {}{}\\n\" > Modelfile; ", model, lines);
}

}  // namespace

std::string llama_command(const serving::Deployment& d, const ServedNames& names) {
  const auto& serving = d.question.serving;
  const auto& options = serving.options;
  CommandText command(fmt::format("llama-server -m {}-{}.gguf", names.model, file_suffix(serving.quant)));
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
  const auto quant = d.question.serving.quant;
  const std::string model =
      is_usual(quant) ? names.model : fmt::format("{}:{}", names.model, formats::facts(quant).name);
  const std::string file = modelfile(d.question.serving.options, model);
  std::string command = file + fmt::format("OLLAMA_CONTEXT_LENGTH={} ", d.setup.context);
  if (d.setup.slots > 1) command += fmt::format("OLLAMA_NUM_PARALLEL={} ", d.setup.slots);
  if (d.setup.cache != CacheType::f16) {
    command += fmt::format("OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE={} ", spec::name_of(d.setup.cache));
  }
  if (file.empty()) return command + "ollama serve & ollama run " + model;
  return command + "ollama serve & ollama create served -f Modelfile && ollama run served";
}

}  // namespace llmcalc::dialects
