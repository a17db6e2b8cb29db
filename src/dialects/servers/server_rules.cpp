#include "dialects/servers/server_rules.hpp"

#include "dialects/core/names.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/node.hpp"

#include <charconv>
#include <cmath>
#include <string>

namespace llmcalc::dialects {
namespace {

constexpr Spelling weight_types[] = {{"float16", "f16"}, {"half", "f16"}, {"float32", "f32"}, {"float", "f32"}};

double factor_of(char suffix) {
  constexpr double kilo = 1e3;
  constexpr double kibi = 1024;
  switch (suffix) {
    case 'k': return kilo;
    case 'm': return kilo * kilo;
    case 'g': return kilo * kilo * kilo;
    case 'K': return kibi;
    case 'M': return kibi * kibi;
    case 'G': return kibi * kibi * kibi;
    default: return 0;
  }
}

}  // namespace

void take_human_number(Sheet& sheet, std::initializer_list<std::string_view> keys, std::string_view term) {
  const Setting* setting = sheet.find(keys);
  if (setting == nullptr || says_nothing(*setting) || setting->text.starts_with('-')) return;
  const double factor = factor_of(setting->text.back());
  if (factor == 0) return sheet.say(term, setting->text, *setting);
  double value = 0;
  const char* end = setting->text.data() + setting->text.size() - 1;
  const auto read = std::from_chars(setting->text.data(), end, value);
  constexpr double most = 1e15;
  if (read.ec != std::errc() || read.ptr != end || !(value >= 0 && value * factor < most)) {
    throw quantity::BadInput(setting->where, quantity::quoted(setting->text) + " is no number of vLLM's", "32k or 32K");
  }
  sheet.say(term, std::to_string(std::llround(value * factor)), *setting);
}

void take_served_model(Sheet& sheet, std::initializer_list<std::string_view> keys) { sheet.take("model", keys); }

namespace {

struct Speculation {
  std::string method;
  std::string model;
  std::string tokens;
};

/// In one object, or key by key (--speculative-config.method mtp).
Speculation speculation_of(const Sheet& sheet, const Setting& setting, const std::string& key) {
  if (setting.text.find('{') == std::string::npos) {
    const auto text = [&](const char* name) {
      const Setting* found = sheet.find(key + name);
      return found == nullptr ? std::string() : found->text;
    };
    return {quantity::to_lower(text(".method")), text(".model"), text(".num_speculative_tokens")};
  }
  const Node config = parse_commented_json(setting.text, setting.where);
  const auto text = [&](const char* name) {
    const Node* found = config.find(name);
    return found == nullptr ? std::string() : found->text;
  };
  return {quantity::to_lower(text("method")), text("model"), text("num_speculative_tokens")};
}

}  // namespace

void take_weight_type(Sheet& sheet) {
  const auto* type = quantity::find_or_null(weight_types, sheet.text("dtype"), &Spelling::theirs);
  if (type != nullptr && !sheet.has("quant")) sheet.say("quant", std::string(type->ours), *sheet.find("dtype"));
}

void take_speculation(Sheet& sheet, std::string_view key) {
  const std::string name(key);
  const Setting* setting = sheet.find({key, name + ".method", name + ".model"});
  if (setting == nullptr) return;
  const auto [method, model, tokens] = speculation_of(sheet, *setting, name);
  const bool mtp = method.find("mtp") != std::string::npos || method == "nextn";
  const bool eagle = method.starts_with("eagle");
  const bool by_model = !model.empty() && (method == "draft_model" || method.empty());
  if (!mtp && !eagle && !by_model) return sheet.assume(*setting, "nothing is proposed ahead: say --draft");
  const std::string who = by_model ? model : mtp ? "mtp" : "eagle";
  sheet.say("draft", who + (tokens.empty() ? "" : ":" + tokens), *setting);
}

void assume_load(Sheet& sheet) {
  sheet.assume("how many requests of which length come: no command says it, --concurrency, --prompt and --output do");
}

}  // namespace llmcalc::dialects
