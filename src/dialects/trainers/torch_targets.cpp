// Which projections carry an adapter, by the names of modules or a pattern of them.
#include "dialects/trainers/torch_rules.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <array>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::dialects {
namespace {

struct Projection {
  std::string_view name;     ///< as modules are called
  std::string_view targets;  ///< as --lora-targets calls them
};

/// Module names of transformers' and torchtune's models.
constexpr Projection projections[] = {
    {"q_proj", "q"},
    {"k_proj", "k"},
    {"v_proj", "v"},
    {"o_proj", "o"},
    {"out_proj", "o"},
    {"output_proj", "o"},
    {"gate_proj", "gate"},
    {"up_proj", "up"},
    {"down_proj", "down"},
    {"gate_up_proj", "gate,up"},
    {"qkv_proj", "q,k,v"},
    {"query_key_value", "q,k,v"},
    {"c_attn", "q,k,v"},
    {"w_pack", "q,k,v"},
    {"dense", "o"},
    {"dense_h_to_4h", "fc1"},
    {"dense_4h_to_h", "fc2"},
    {"fc1", "fc1"},
    {"fc2", "fc2"},
    {"fc_in", "fc1"},
    {"fc_out", "fc2"},
    {"wq", "q"},
    {"wk", "k"},
    {"wv", "v"},
    {"wo", "o"},
    {"w1", "gate"},
    {"w2", "down"},
    {"w3", "up"},
    {"embed_tokens", "embed"},
    {"lm_head", "head"},
    {"linear_qkv", "q,k,v"},
    {"linear_proj", "o"},
    {"linear_fc1", "gate,up"},
    {"linear_fc2", "down"},
};

constexpr std::string_view all_linear = "all-linear";
constexpr std::array<std::string_view, 4> everything{"all", all_linear, "all_linear", "linear"};

/// What a pattern of names ends with, each of its choices: "q_proj" and "v_proj" of ".*\.(q|v)_proj$".
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

/// All the linear layers of a decoder, whatever was named.
bool adapts_all(const std::vector<std::string>& targets) {
  constexpr std::string_view linear[] = {"q", "k", "v", "o", "gate", "up", "down"};
  return std::ranges::all_of(linear, [&](std::string_view each) { return quantity::contains(targets, each); });
}

}  // namespace

std::string modules_of(const std::vector<std::string>& targets, std::string_view all, std::string_view between) {
  if (quantity::contains(targets, all_linear) || adapts_all(targets)) return std::string(all);
  const auto module = [](const std::string& target) {
    const auto* found = quantity::find_or_null(projections, std::string_view(target), &Projection::targets);
    return found == nullptr ? std::string_view(target) : found->name;
  };
  return quantity::joined(quantity::mapped(targets, module), between);
}

void take_targets(Sheet& sheet, std::initializer_list<std::string_view> keys) {
  const Setting* setting = sheet.find(keys);
  if (setting == nullptr || says_nothing(*setting)) return;
  std::string targets;
  std::string unknown;
  for (const auto& name : names_in(*setting)) {
    if (quantity::contains(everything, name)) return sheet.say("lora_targets", std::string(all_linear), *setting);
    const std::string_view last = std::string_view(name).substr(name.rfind('.') + 1);
    const auto* found = quantity::find_or_null(projections, last, &Projection::name);
    auto& list = found == nullptr ? unknown : targets;
    list.append(list.empty() ? "" : ",").append(found == nullptr ? std::string_view(name) : found->targets);
  }
  if (!unknown.empty()) {
    sheet.assume(*setting, targets.empty() ? "all linear layers, for which --lora-targets may say others"
                                           : "modules " + unknown + " carry no adapter");
  }
  sheet.say("lora_targets", targets.empty() ? "all-linear" : targets, *setting);
}

}  // namespace llmcalc::dialects
