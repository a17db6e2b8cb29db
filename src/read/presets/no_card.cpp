#include "read/presets/no_card.hpp"

#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>
#include <iterator>

namespace llmcalc::read {
namespace {

struct NoCard {
  std::string_view name;
  std::string_view hint;
};

constexpr NoCard no_cards[] = {
    {"mac", "say its chip, as apple-m3-max"},
    {"macbook", "say its chip, as apple-m3-max"},
    {"cpu", "runs on processors are not modelled"},
    {"colab", "its cards are t4, l4 and a100-40-sxm"},  // colab.research.google.com, types of runtimes, November 2026
};

/// "24gb", "80 GiB".
bool is_size(std::string_view name) {
  const auto digits = name.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  const auto unit = quantity::trim(name.substr(digits));
  return unit == "g" || unit == "gb" || unit == "gib";
}

}  // namespace

std::string hint_for_card(std::string_view name) {
  const std::string lower = quantity::to_lower(name);
  if (const auto* known = quantity::find_or_null(no_cards, lower, &NoCard::name)) return std::string(known->hint);
  return is_size(lower) ? "a size alone is --memory " + std::string(name) : std::string();
}

}  // namespace llmcalc::read
