#include "cli/hub.hpp"
#include "cli/machine.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/words.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace llmcalc::cli {
namespace {

using api::hub_kind;
using api::Lookup;
using read::Given;

bool is_preset(const std::string& name, const read::Catalogue& catalogue) {
  return catalogue.find_model(name).has_value();
}

constexpr std::string_view gguf = ".gguf";

/// "name-00001-of-00003", the first of the files into which gguf-split cuts one (llama.cpp, llama_split_path).
std::string without_shard(std::string name) {
  constexpr std::size_t digits = 5;
  const auto of = name.rfind("-of-");
  const bool is_cut = of != std::string::npos && of > digits && name.size() == of + std::size("-of-") - 1 + digits &&
                      name[of - digits - 1] == '-';
  if (is_cut) name.resize(of - digits - 1);
  return name;
}

/// Words that tunings and repackings of a model add to its name; none of it changes the shape.
constexpr std::array<std::string_view, 14> suffixes{"-instruct", "-chat", "-it",      "-base", "-hf",
                                                    "-bnb-4bit", "-gguf", "-unsloth", "-awq",  "-gptq",
                                                    "-fp8",      "-4bit", "-latest",  "-text"};

/// Types of GGUF files end their names: "-Q4_K_M", ".q8_0", "-iq2_xs", "-f16"; Ollama's tags say "-fp16".
std::string take_quant(std::string& name) {
  const auto at = name.find_last_of("-.");
  if (at == std::string::npos) return {};
  std::string last = name.substr(at + 1);
  if (last == "fp16") last = "f16";
  const bool blocks = (last.starts_with('q') && last.size() > 1) || last.starts_with("iq") || last.starts_with("mxfp");
  const bool is_type = (blocks && last.find_first_of("0123456789") != std::string::npos) || last == "f16" ||
                       last == "bf16" || last == "f32";
  if (!is_type) return {};
  name.resize(at);
  return last;
}

struct Named {
  std::string preset;
  std::string quant;
};

/// Folders of ModelScope have no dots: "Qwen2___5-3B-Instruct" (modelscope hub/utils/utils.py, get_cache_dir).
std::string with_dots(std::string name) {
  constexpr std::string_view dot = "___";
  for (auto at = name.find(dot); at != std::string::npos; at = name.find(dot, at)) name.replace(at, dot.size(), ".");
  return name;
}

/// The preset that a name can only mean: "NousResearch/Meta-Llama-3-8B-Instruct" is llama-3-8b, "llama3.1:8b" is
/// llama-3.1-8b.
std::optional<Named> preset_behind(const std::string& id, const read::Catalogue& catalogue) {
  const auto folder = quantity::without_end(id, "/");
  std::string name = with_dots(quantity::to_lower(folder.substr(folder.rfind('/') + 1)));
  std::ranges::replace(name, ':', '-');
  if (name.ends_with(gguf)) name = without_shard(name.substr(0, name.size() - gguf.size()));
  if (name.starts_with("meta-")) name.erase(0, std::string_view("meta-").size());
  std::string quant;
  for (bool shortened = true; shortened;) {
    if (quant.empty()) quant = take_quant(name);
    if (is_preset(name, catalogue)) return Named{name, quant};
    shortened = false;
    for (const auto suffix : suffixes) {
      if (!name.ends_with(suffix)) continue;
      name.resize(name.size() - suffix.size());
      shortened = true;
      break;
    }
  }
  return std::nullopt;
}

/// GGUF's mixture with MXFP4 experts, which files call "mxfp4" (llama.cpp llama.h, LLAMA_FTYPE_MOSTLY_MXFP4_MOE).
bool is_gguf_mixture(const dialects::Reading& reading, std::string_view quant) {
  const auto* engine = read::find_word(reading.words, "engine");
  return quant == "mxfp4" && engine != nullptr && (engine->text == "llama.cpp" || engine->text == "ollama");
}

void take_quant(dialects::Reading& reading, std::string quant, read::Origin origin) {
  if (quant.empty() || !reading.serves || read::has_word(reading.words, "quant")) return;
  if (is_gguf_mixture(reading, quant)) quant = "mxfp4_moe";
  reading.words.push_back({"quant", std::move(quant), std::move(origin)});
}

void take_preset(dialects::Reading& reading, Given& word, Named named) {
  reading.assumptions.push_back({word.text + " (" + word.origin.where + ") has the shape of " + named.preset});
  word.text = std::move(named.preset);
  take_quant(reading, std::move(named.quant), word.origin);
}

/// The type that a file's name or a tag says of its weights, where an option says the model.
std::string quant_in(const std::string& file) {
  std::string name = quantity::to_lower(file);
  const bool is_file = name.ends_with(gguf);
  if (is_file) name = without_shard(name.substr(0, name.size() - gguf.size()));
  const auto tag = name.rfind(':');
  if (tag == std::string::npos && !is_file) return {};
  if (tag != std::string::npos) name[tag] = '-';
  return take_quant(name);
}

void take_found(dialects::Reading& reading, dialects::Reading found) {
  std::erase_if(reading.words, [](const Given& word) { return word.term == "model"; });
  reading.config = std::move(found.config);
  reading.weights = std::move(found.weights);
  if (!reading.config) reading.kind = std::move(found.kind);  // an adapter, which is no model by itself
  for (Given& word : found.words) {
    const bool said = read::has_word(reading.words, word.term);
    if (!said) reading.words.push_back(std::move(word));
  }
  quantity::append(reading.assumptions, found.assumptions);
}

/// A mistake of the network is one of the line that names the model.
dialects::Reading fetched(const HubName& name, const Given& word, Lookup lookup) {
  try {
    auto hub = read_hub_environment(lookup.offline);
    if (!lookup.is_quiet) hub.notice = std::make_shared<Notice>();
    return read_hub(name, hub);
  } catch (const quantity::BadInput& error) {
    if (error.place() == word.origin.where) throw;
    throw quantity::BadInput(word.origin.where, error.place() + " " + error.problem(), error.hint());
  }
}

bool names_model(const Given& word) { return word.term == "model" || word.term == "config" || word.term == "params"; }

/// A preset of that name, or the one that the name of something published can only mean; false where neither is.
bool take_known(dialects::Reading& reading, Given& word, const std::string& id, const read::Catalogue& catalogue) {
  std::string rest = quantity::to_lower(word.text);
  const bool names_file = reading.kind != hub_kind && (rest.ends_with(gguf) || !take_quant(rest).empty());
  if (!names_file && is_preset(id, catalogue)) {
    word.text = id;
    return true;
  }
  auto named = reading.kind == hub_kind ? std::nullopt : preset_behind(word.text, catalogue);
  if (!named) return false;
  take_preset(reading, word, *std::move(named));
  return true;
}

/// A model in a folder that nobody knows, by its own name.
void take_in_folder(dialects::Reading& reading, const read::Catalogue& catalogue) {
  const auto* path = quantity::find_or_null(reading.in_folders, "model", &Given::term);
  if (path == nullptr || !read::has_word(reading.open, path->term)) return;
  auto named = preset_behind(path->text, catalogue);
  if (!named) return;
  std::erase_if(reading.open, [](const Given& each) { return each.term == "model"; });
  take_preset(reading, reading.words.emplace_back(*path), *std::move(named));
}

/// The thing that the model's name stands for; whether that names another model, as an adapter names its base.
bool follow_name(dialects::Reading& reading, const std::vector<Given>& options, const read::Catalogue& catalogue,
                 Lookup lookup) {
  auto* word = quantity::find_or_null(reading.words, "model", &Given::term);
  if (word == nullptr || reading.config) return false;
  if (std::ranges::any_of(options, names_model)) {
    take_quant(reading, quant_in(word->text), word->origin);
    return false;
  }
  const auto name = hub_name(word->text);
  auto cached = name ? read_cached(*name, read_hub_environment(lookup.offline)) : std::nullopt;
  const std::string id = name && name->quant.empty() ? name->id : word->text;
  if (!cached && take_known(reading, *word, id, catalogue)) return false;
  if (!name) return false;
  reading.hub_name = word->text;
  if (!lookup.answers && reading.kind != hub_kind) return false;
  take_found(reading, cached ? *std::move(cached) : fetched(*name, *word, lookup));
  return !reading.config;
}

}  // namespace

void find_model(dialects::Reading& reading, const std::vector<Given>& options, const read::Catalogue& catalogue,
                Lookup lookup) {
  if (std::ranges::none_of(options, names_model)) take_in_folder(reading, catalogue);
  if (!follow_name(reading, options, catalogue, lookup)) return;
  reading.hub_name.clear();
  follow_name(reading, options, catalogue, lookup);
}

}  // namespace llmcalc::cli
