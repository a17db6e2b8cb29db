#include "read/servers/server_rules.hpp"

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/text.hpp"
#include "read/settings/node.hpp"

#include <charconv>
#include <cmath>
#include <string>

namespace llmcalc::read {
namespace {

double factor_of(char suffix) {
  constexpr double kilo = 1e3;
  constexpr double kibi = 1024;
  switch (suffix) {
    case 'k':
      return kilo;
    case 'm':
      return kilo * kilo;
    case 'g':
      return kilo * kilo * kilo;
    case 'K':
      return kibi;
    case 'M':
      return kibi * kibi;
    case 'G':
      return kibi * kibi * kibi;
    default:
      return 0;
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

void take_speculation(Sheet& sheet, std::string_view key) {
  const Setting* setting = sheet.find(key);
  if (setting == nullptr) return;
  const Node config = parse_commented_json(setting->text, setting->where);
  const Node* method = config.find("method");
  const Node* tokens = config.find("num_speculative_tokens");
  const std::string name = method == nullptr ? std::string() : quantity::to_lower(method->text);
  const bool mtp = name.find("mtp") != std::string::npos || name == "nextn";
  const bool eagle = name.starts_with("eagle");
  if (!mtp && !eagle) return sheet.assume(*setting, "nothing is proposed ahead: say --draft");
  sheet.say("draft", std::string(mtp ? "mtp" : "eagle") + (tokens == nullptr ? "" : ":" + tokens->text), *setting);
}

void assume_load(Sheet& sheet) {
  sheet.assume("how many requests of which length come: no command says it, --concurrency, --prompt and --output do");
}

}  // namespace llmcalc::read
