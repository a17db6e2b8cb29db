// Which projections carry an adapter, by the names of modules or a pattern of them.
#include "dialects/trainers/rules.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "spec/roles.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::dialects {
namespace {

constexpr std::array<std::string_view, 4> everything{"all", spec::all_linear_word, "all_linear", "linear"};

/// Endings of a pattern of names, each of its choices: "q_proj" and "v_proj" of ".*\.(q|v)_proj$".
std::string names_of_pattern(std::string_view pattern) {
  pattern = quantity::without_end(quantity::without_end(pattern, "$"), ".*");
  auto begin = pattern.size();
  while (begin > 0 && quantity::is_name_char(pattern[begin - 1])) --begin;
  const auto end = pattern.substr(begin);
  const auto group = begin > 0 && pattern[begin - 1] == ')' ? pattern.rfind('(', begin - 1) : std::string_view::npos;
  if (group == std::string_view::npos) return std::string(end);
  std::string names;
  for (const auto choice : quantity::pieces_of(pattern.substr(group + 1, begin - group - 2), "|")) {
    names.append(choice).append(end).append(",");
  }
  return names;
}

/// "q_proj, v_proj" and "q_proj v_proj".
std::vector<std::string> names_in(const Setting& setting) {
  const bool is_pattern = setting.items.empty() && setting.text.find_first_of("(|*\\") != std::string::npos;
  std::vector<std::string> names;
  std::string name;
  for (const char c : (is_pattern ? names_of_pattern(setting.text) : setting.text) + ",") {
    if (c != ',' && c != ' ' && c != '[' && c != ']' && c != '\'' && c != '"') {
      name += quantity::to_lower(c);
    } else if (!name.empty()) {
      names.push_back(std::exchange(name, {}));
    }
  }
  return names;
}

/// Our words for modules, in the place of `term`; what no role is called by is said.
/// \return whether any is known
bool take_modules(Sheet& sheet, std::string_view term, const Setting& setting, std::string_view lack) {
  std::string words;
  std::string unknown;
  for (const auto& name : names_in(setting)) {
    const std::string_view known = spec::words_of_module(name);
    auto& list = known.empty() ? unknown : words;
    list.append(list.empty() ? "" : ",").append(known.empty() ? std::string_view(name) : known);
  }
  if (!unknown.empty() && (!words.empty() || term != "lora_targets")) {
    sheet.assume(setting, "modules " + unknown + " " + std::string(lack));
  }
  if (!words.empty()) sheet.say(term, words, setting);
  return !words.empty();
}

/// Keys of rank_pattern are modules, or patterns that end with one; those of single layers are not told apart.
void take_ranks(Sheet& sheet) {
  constexpr std::string_view prefix = "rank_pattern.";
  std::string ranks;
  const Setting* first = nullptr;
  for (const Setting& setting : sheet.settings().all()) {
    if (!setting.key.starts_with(prefix) && !setting.key.starts_with("lora_rank_pattern.")) continue;
    const std::string names = names_of_pattern(setting.key);
    const std::string_view words = spec::words_of_module(names);
    if (words.empty()) sheet.assume(setting, "a module that is not known has the rank of the others");
    for (const auto word : quantity::pieces_of(words, ",")) {
      ranks.append(ranks.empty() ? "" : ",").append(word).append(":").append(setting.text);
      first = first == nullptr ? &setting : first;
    }
  }
  if (first != nullptr) sheet.say("rank_pattern", ranks, *first);
}

/// Keys of a LoraConfig beside its targets (peft tuners/lora/config.py), under the keys of all who pass it on.
void take_beside_targets(Sheet& sheet) {
  const auto take = [&](std::string_view term, std::initializer_list<std::string_view> names, std::string_view lack) {
    const Setting* setting = sheet.find(names);
    if (setting != nullptr && !says_nothing(*setting)) take_modules(sheet, term, *setting, lack);
  };
  take("modules_to_save", {"modules_to_save", "lora_modules_to_save", "additional_target"},
       "are trained whole, which is not counted");
  take("target_parameters", {"target_parameters", "lora_target_parameters"}, "carry no adapter");
  take("exclude_modules", {"exclude_modules", "lora_exclude_modules"},
       "are not known, so that nothing is left out for them");
  take_ranks(sheet);
  const Setting* layers = sheet.find({"layers_to_transform", "peft_layers_to_transform"});
  if (layers != nullptr && !says_nothing(*layers)) {
    sheet.say("layers_to_transform", layers->items.empty() ? layers->text : quantity::joined(layers->items, ","),
              *layers);
  }
  const Setting* tokens = sheet.find({"trainable_token_indices", "peft_trainable_token_indices"});
  if (tokens != nullptr && !tokens->items.empty()) {
    sheet.say("trainable_tokens", std::to_string(tokens->items.size()), *tokens);
  }
  if (sheet.is_on("lora_bias")) sheet.say("lora_bias", "1", sheet.said("lora_bias"));
}

}  // namespace

std::string modules_of(const std::vector<std::string>& targets, std::string_view all, std::string_view between) {
  if (spec::names_all_linear(targets)) return std::string(all);
  return quantity::joined(targets, between, spec::module_of_word);
}

void take_targets(Sheet& sheet, std::initializer_list<std::string_view> keys) {
  take_beside_targets(sheet);
  const Setting* setting = sheet.find(keys);
  if (setting == nullptr || says_nothing(*setting)) return;
  const auto is_all = [](const std::string& name) { return quantity::contains(everything, name); };
  const bool all = std::ranges::any_of(names_in(*setting), is_all);
  if (!all && take_modules(sheet, "lora_targets", *setting, "carry no adapter")) return;
  if (!all) sheet.assume(*setting, "all linear layers, for which --lora-targets may say others");
  sheet.say("lora_targets", spec::all_linear_word, *setting);
}

}  // namespace llmcalc::dialects
