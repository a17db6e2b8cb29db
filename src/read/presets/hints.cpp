#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/presets/names.hpp"

namespace llmcalc::read {
namespace {

/// A name of nothing that is asked about, by how it begins, and what is said to it.
struct NoCard {
  std::string_view name;
  std::string_view hint;
};

constexpr NoCard no_cards[] = {
#include "vocabulary/no_cards.inc"
};

constexpr NoCard no_models[] = {
#include "vocabulary/no_models.inc"
};

/// "24gb", "80 GiB".
bool is_size(std::string_view name) {
  const auto digits = name.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) return false;
  const auto letters = quantity::trim(name.substr(digits));
  return letters == "g" || letters == "gb" || letters == "gib";
}

}  // namespace

std::string hint_for_card(std::string_view name) {
  const std::string spelled = card_spelling(name);  // "Tesla K80", "ascend 910b"
  const auto is_it = [&](const NoCard& card) { return spelled.starts_with(card.name); };
  if (const auto* known = quantity::find_if_or_null(no_cards, is_it)) return std::string(known->hint);
  return is_size(quantity::to_lower(name)) ? "a size alone is --memory " + std::string(name) : std::string();
}

std::string hint_for_model(std::string_view name) {
  const std::string lower = quantity::to_lower(without_organisation(name));
  const auto is_it = [&](const NoCard& model) { return lower.starts_with(model.name); };
  const auto* known = quantity::find_if_or_null(no_models, is_it);
  return known == nullptr ? std::string() : std::string(known->hint);
}

}  // namespace llmcalc::read
