// llama.cpp common/arg.cpp and ollama envconfig/config.go.
#include "dialects/writing/servers.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
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

/// A repository of GGUF files on the Hub, of which llama.cpp and Ollama fetch the type behind the colon (llama.cpp
/// common/arg.cpp, --hf-repo; huggingface.co/docs/hub/ollama).
bool is_gguf_repository(std::string_view name) {
  return name.find('/') != name.npos && quantity::to_lower(name).find("gguf") != std::string::npos;
}

std::string fetched(const ServedNames& names, formats::Quant quant) {
  const auto colon = std::min(names.model.find(':'), names.model.size());
  const std::string tag = quantity::to_lower(names.model.substr(std::min(colon + 1, names.model.size())));
  const bool says_another = !tag.empty() && !quantity::contains(formats::all_quants(), tag, &formats::QuantFacts::name);
  return says_another ? names.model : names.model.substr(0, colon) + ":" + file_suffix(quant);  // "UD-Q4_K_XL"
}

/// What Ollama's library has under a tag that says no type.
bool is_usual(formats::Quant quant) { return quant == formats::Quant::q4_k_m || quant == formats::Quant::mxfp4_moe; }

/// The file that was made of other weights, or downloaded.
std::string file_name(const ServedNames& names, formats::Quant quant) {
  const std::string& id = names.weights();
  return fmt::format("{}-{}.gguf", id.substr(id.rfind('/') + 1), file_suffix(quant));
}

/// common/arg.cpp: the model's own layers for further tokens have been a type of speculation since b9235, and the
/// options a name that begins with it.
void add_draft(const spec::Draft& draft, const ServedNames& names, CommandText& command) {
  if (draft.kind == spec::DraftKind::none) return;
  if (draft.kind == spec::DraftKind::mtp) command.word("--spec-type", "draft-mtp");
  if (!names.draft.empty()) command.word("-md", names.draft.substr(names.draft.rfind('/') + 1) + ".gguf");
  command.option("--spec-draft-n-max", draft.tokens);
}

/// "llama3.1:8b-instruct-q8_0"
bool says_type(std::string_view tag, formats::Quant quant) {
  return quantity::to_lower(tag).ends_with(formats::facts(quant).name);
}

/// What Ollama runs: a name of its library, a repository of the Hub, or a file by way of a Modelfile.
struct Runnable {
  std::string name;
  bool is_file = false;
};

Runnable runnable(const ServedNames& names, formats::Quant quant) {
  if (is_gguf_repository(names.model)) return {"hf.co/" + fetched(names, quant)};
  const bool is_tag = names.model.find('/') == std::string::npos && names.model.find(':') != std::string::npos;
  return is_tag && (is_usual(quant) || says_type(names.model, quant)) ? Runnable{names.model}
                                                                      : Runnable{"./" + file_name(names, quant), true};
}

/// What no option of a command says (ollama docs/modelfile.md, PARAMETER; api/types.go, Options).
std::string modelfile(const spec::EngineOptions& options, const Runnable& model) {
  std::string lines;
  const auto add = [&](std::string_view name, std::optional<std::int64_t> value) {
    if (value) lines += fmt::format("\\nPARAMETER {} {}", name, *value);
  };
  add("num_gpu", options.gpu_layers);
  add("num_batch", options.ubatch);
  const bool needed = model.is_file || !lines.empty();
  return needed ? fmt::format("printf \"FROM {}{}\\n\" > Modelfile; ", model.name, lines) : std::string();
}

}  // namespace

std::string llama_command(const serving::Deployment& d, const ServedNames& names) {
  const auto& serving = d.question.serving;
  const auto& options = serving.options;
  CommandText command("llama-server");
  if (is_gguf_repository(names.model)) {
    command.word("-hf", fetched(names, serving.quant));
  } else {
    command.word("-m", file_name(names, serving.quant));
  }
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
  add_draft(options.draft, names, command);
  return command.text();
}

std::string ollama_command(const serving::Deployment& d, const ServedNames& names) {
  const auto model = runnable(names, d.question.serving.quant);
  const std::string file = modelfile(d.question.serving.options, model);
  std::string command = file + fmt::format("OLLAMA_CONTEXT_LENGTH={} ", d.setup.context);
  if (d.setup.slots > 1) command += fmt::format("OLLAMA_NUM_PARALLEL={} ", d.setup.slots);
  if (d.setup.cache != CacheType::f16) {
    command += fmt::format("OLLAMA_FLASH_ATTENTION=1 OLLAMA_KV_CACHE_TYPE={} ", spec::name_of(d.setup.cache));
  }
  if (file.empty()) return command + "ollama serve & ollama run " + model.name;
  return command + "ollama serve & ollama create served -f Modelfile && ollama run served";
}

}  // namespace llmcalc::dialects
