#include "cli/model_id.hpp"

#include "cli/things.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/text.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string>

namespace llmcalc::cli {
namespace {

using read::Given;

bool is_preset(const std::string& name, const read::Catalogue& catalogue) {
  try {
    catalogue.model(name, {});
    return true;
  } catch (const quantity::BadInput&) {
    return false;
  }
}

/// What tunings and repackings of a model add to its name; none of it changes the shape.
constexpr std::array<std::string_view, 12> suffixes{"-instruct", "-chat",          "-it",  "-base", "-hf",  "-bnb-4bit",
                                                    "-unsloth",  "-instruct-2501", "-awq", "-gptq", "-fp8", "-4bit"};

/// The preset that a name of the Hub can only mean: "NousResearch/Meta-Llama-3-8B-Instruct" is llama-3-8b.
std::optional<std::string> preset_behind(const std::string& id, const read::Catalogue& catalogue) {
  std::string name = quantity::to_lower(id.substr(id.rfind('/') + 1));
  if (name.starts_with("meta-")) name.erase(0, std::string_view("meta-").size());
  for (bool shortened = true; shortened;) {
    if (is_preset(name, catalogue)) return name;
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

}  // namespace

void find_model(read::Reading& reading, const std::vector<Given>& options, const read::Catalogue& catalogue) {
  const auto names_model = [](const Given& word) {
    return word.term == "model" || word.term == "config" || word.term == "params";
  };
  const auto word = std::ranges::find(reading.words, "model", &Given::term);
  if (word == reading.words.end() || reading.config || std::ranges::any_of(options, names_model)) return;
  if (is_preset(word->text, catalogue)) return;
  if (auto preset = preset_behind(word->text, catalogue)) {
    reading.assumptions.push_back(word->text + " (" + word->origin.where + ") has the shape of " + *preset);
    word->text = *std::move(preset);
  }
}

}  // namespace llmcalc::cli
