// Names of what a server loads: GGUF files and their repositories, quantized checkpoints, EAGLE's layers.
#include "dialects/servers/server_rules.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>

namespace llmcalc::dialects {
namespace {

using formats::Quant;
using spec::CacheType;

/// "Q8_0", as GGUF files of a type end their names.
std::string file_suffix(Quant quant) {
  std::string name(formats::facts(quant).name);
  std::ranges::transform(name, name.begin(), [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return name;
}

/// How publishers call a checkpoint whose weights are not those under the model's id.
struct Suffix {
  Quant quant;
  std::string_view text;
};

constexpr std::array suffixes{Suffix{Quant::fp8, "-FP8"},
                              Suffix{Quant::fp8_block, "-FP8"},
                              Suffix{Quant::bnb_nf4, "-bnb-4bit"},
                              Suffix{Quant::awq, "-AWQ"},
                              Suffix{Quant::gptq, "-GPTQ"},
                              Suffix{Quant::nvfp4, "-NVFP4"},
                              Suffix{Quant::nvfp4_a16, "-NVFP4A16"},
                              Suffix{Quant::mxfp4, "-MXFP4"},
                              Suffix{Quant::int8, "-INT8"},
                              Suffix{Quant::int8_a16, "-W8A16"},
                              Suffix{Quant::int4, "-W4A16"},
                              Suffix{Quant::bf16, "-BF16"}};

struct Published {
  std::string_view model;
  Quant quant;
  std::string_view suffix;
};

constexpr Published published[] = {
#include "vocabulary/published.inc"
};

/// Layers in a checkpoint of their own, and the model that they propose for.
struct TrainedFor {
  std::string_view model;
  std::string_view draft;
  spec::DraftKind kind = spec::DraftKind::eagle;
};

constexpr TrainedFor trained_drafts[] = {
#include "vocabulary/trained_drafts.inc"
};

/// Whether the name is as the pattern, with a size of one word in the place of `*`.
bool is_like(std::string_view name, std::string_view pattern) {
  const auto star = std::min(pattern.find('*'), pattern.size());
  const auto after = pattern.substr(std::min(star + 1, pattern.size()));
  return name.size() >= pattern.size() && name.starts_with(pattern.substr(0, star)) && name.ends_with(after) &&
         name.substr(star, name.size() - after.size() - star).find('-') == name.npos;
}

/// "Qwen/Qwen3.6-27B" of "Qwen/Qwen3.6-27B-FP8", whose weights in another type are no type of that one's.
std::string without_packing(std::string name) {
  const auto ends = [&](std::string_view text) { return quantity::to_lower(name).ends_with(quantity::to_lower(text)); };
  constexpr std::array<std::string_view, 2> widths{"-INT4", "-4bit"};
  for (auto size = name.size() + 1; name.size() < size;) {
    size = name.size();
    for (const auto& suffix : suffixes) name.resize(name.size() - (ends(suffix.text) ? suffix.text.size() : 0));
    for (const auto width : widths) name.resize(name.size() - (ends(width) ? width.size() : 0));
  }
  return name;
}

}  // namespace

bool is_gguf_repository(std::string_view name) {
  return name.find('/') != name.npos && quantity::to_lower(name).find("gguf") != std::string::npos;
}

std::string fetched(const ServedNames& names, Quant quant) {
  const auto colon = std::min(names.model.find(':'), names.model.size());
  const std::string tag = quantity::to_lower(names.model.substr(std::min(colon + 1, names.model.size())));
  // files whose experts are published narrow have no such tag, and their repositories one file or a usual one
  if (tag.empty() && quant == Quant::mxfp4_moe) return names.model;
  const bool says_another = !tag.empty() && !quantity::contains(formats::all_quants(), tag, &formats::QuantFacts::name);
  return says_another ? names.model : names.model.substr(0, colon) + ":" + file_suffix(quant);  // "UD-Q4_K_XL"
}

std::string gguf_file(const ServedNames& names, Quant quant) {
  const std::string id = without_packing(names.weights());
  return fmt::format("{}-{}.gguf", id.substr(id.rfind('/') + 1), file_suffix(quant));
}

std::string ggml_word(CacheType type) {
  if (type == CacheType::f16) return "f16";
  return type == CacheType::f32 ? "f32" : std::string(spec::name_of(type));
}

ServedAs served_as(const ServerLetter& letter) {
  const Quant quant = letter.serving().quant;
  const std::string& model = letter.names.weights();
  const auto* suffix = quantity::find_or_null(suffixes, quant, &Suffix::quant);
  if (quant == letter.names.published || suffix == nullptr) return {model, std::nullopt};
  const bool quantizes = serving::row_of(letter.serving().engine).quantizes;
  const bool as_it_loads = quantizes && (quant == Quant::fp8 || quant == Quant::bnb_nf4);
  const ServedAs quantized{model, quant == Quant::fp8 ? "fp8" : "bitsandbytes"};
  if (as_it_loads && model == letter.names.model) return quantized;  // the repository that was named
  const std::string plain = without_packing(model);
  const auto is_it = [&](const Published& each) { return each.quant == quant && is_like(plain, each.model); };
  if (const auto* own = quantity::find_if_or_null(published, is_it)) return {plain + std::string(own->suffix), {}};
  if (as_it_loads) return quantized;
  const auto slash = plain.find('/');  // whose checkpoint of that type it is nobody said, and many owners have none
  return {(slash == plain.npos ? plain : "OWNER" + plain.substr(slash)) + std::string(suffix->text), std::nullopt};
}

std::optional<std::string> draft_model(const ServerLetter& letter) {
  if (!letter.names.draft.empty()) return letter.names.draft;
  const auto is_it = [&](const TrainedFor& each) {
    return each.kind == letter.serving().options.draft.kind && each.model == letter.names.weights();
  };
  const auto* known = quantity::find_if_or_null(trained_drafts, is_it);
  return known == nullptr ? std::nullopt : std::optional<std::string>(known->draft);
}

std::string without_layers(const std::string& model) {
  std::string note = "EAGLE's layers are a checkpoint that was trained for the model, and none is known for " + model +
                     ": --draft eagle=OWNER/NAME names one";
  const auto is_near = [&](const TrainedFor& each) { return each.model.starts_with(model); };
  const auto* near = quantity::find_if_or_null(trained_drafts, is_near);
  return near == nullptr ? note : fmt::format("{}; {} has {}", note, near->model, near->draft);
}

}  // namespace llmcalc::dialects
