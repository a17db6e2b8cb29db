#include "dialects/trainers/torchtitan_model.hpp"

#include "dialects/core/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <iterator>
#include <string>
#include <string_view>

namespace llmcalc::dialects {
namespace {

/// torchtitan/models/<name>/__init__.py, the flavors that are public models.
struct Flavor {
  std::string_view model;
  std::string_view flavor;
  std::string_view preset;
};
constexpr Flavor flavors[] = {
    {"llama3", "1b", "llama-3.2-1b"},
    {"llama3", "3b", "llama-3.2-3b"},
    {"llama3", "8b", "llama-3.1-8b"},
    {"llama3", "70b", "llama-3.1-70b"},
    {"llama3", "405b", "llama-3.1-405b"},
    {"deepseek_v3", "16b", "deepseek-v2-lite"},
    {"deepseek_v3", "236b", "deepseek-v2"},
    {"deepseek_v3", "671b", "deepseek-v3"},
    {"llama4", "17bx16e", "llama-4-scout"},
    {"llama4", "17bx128e", "llama-4-maverick"},
    {"qwen3", "0.6b", "qwen3-0.6b"},
    {"qwen3", "1.7b", "qwen3-1.7b"},
    {"qwen3", "4b", "qwen3-4b"},
    {"qwen3", "8b", "qwen3-8b"},
    {"qwen3", "14b", "qwen3-14b"},
    {"qwen3", "32b", "qwen3-32b"},
    {"qwen3", "30b-a3b", "qwen3-30b-a3b"},
    {"qwen3", "235b-a22b", "qwen3-235b-a22b"},
    {"qwen3_5", "0.8b", "qwen3.5-0.8b"},
    {"qwen3_5", "2b", "qwen3.5-2b"},
    {"qwen3_5", "4b", "qwen3.5-4b"},
    {"qwen3_5", "9b", "qwen3.5-9b"},
    {"qwen3_5", "122b-a10b", "qwen3.5-122b-a10b"},
    {"qwen3_5", "397b-a17b", "qwen3.5-397b-a17b"},
    {"gpt_oss", "20b", "gpt-oss-20b"},
    {"gpt_oss", "120b", "gpt-oss-120b"},
};

/// Flavors that attend by another kernel, or in chunks, have the shape of those without; names of functions have '_'
/// where flavors have '-' or '.'.
std::string_view plain_flavor(std::string_view flavor) {
  for (const auto kernel : {"_flex_attn", "_flex", "_varlen", "_irope"}) flavor = quantity::without_end(flavor, kernel);
  return flavor;
}

bool is_flavor(std::string_view written, std::string_view flavor) {
  return std::ranges::equal(written, flavor,
                            [](char a, char b) { return a == b || (a == '_' && (b == '-' || b == '.')); });
}

/// Functions of the registry that quantize say so (torchtitan/models/<name>/config_registry.py).
constexpr Spelling products[] = {{"_mxfp8", "mxfp8"}, {"_float8", "fp8-e4m3"}};

/// Without the module in front, whose '_' names of functions may leave out ("qwen35_4b" of qwen3_5).
std::string without_module(const std::string& flavor, std::string module) {
  const auto rest = quantity::without_start(flavor, module + "_");
  std::erase(module, '_');
  return std::string(rest.size() < flavor.size() ? rest : quantity::without_start(flavor, module + "_"));
}

}  // namespace

/// "llama3" with "8B", or the registry's name "llama3_8b".
void take_torchtitan_model(Sheet& sheet) {
  const Setting* name = sheet.find({"model.flavor", "config"});
  if (name == nullptr) return;
  const std::string module = sheet.text({"model.name", "module"});
  const std::string written = without_module(quantity::to_lower(name->text), module);
  std::string_view flavor = written;
  for (const auto& [ending, product] : products) {
    if (!flavor.ends_with(ending)) continue;
    flavor.remove_suffix(ending.size());
    sheet.say("compute", std::string(product), *name);
  }
  flavor = plain_flavor(flavor);
  const auto is_it = [&](const Flavor& each) { return each.model == module && is_flavor(flavor, each.flavor); };
  if (const auto* found = quantity::find_if_or_null(flavors, is_it))
    return sheet.say("model", std::string(found->preset), *name);
  sheet.assume(*name, "no public model is known by that name: say --model or the shape");
}

}  // namespace llmcalc::dialects
