#include "render/text_common.hpp"

#include "llmcalc/quantity/format.hpp"
#include "render/style.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::render {

MemoryUnit memory_unit_of(const answer::Estimate& estimate) {
  return memory_unit_for(std::max(estimate.verdict.needed, estimate.verdict.capacity));
}

namespace {

constexpr std::size_t explanation_indent = 6;

}  // namespace

void add_explanation(Table& table, const answer::Explanation& why, const TextStyle& style) {
  if (!style.explain) return;
  const auto add = [&](std::string_view lead, std::string_view text) {
    if (!text.empty()) table.add_prose(explanation_indent, paint(std::string(lead).append(text), Ink::dim, style));
  };
  add("", why.formula);
  add("= ", why.numbers);
  add("source: ", why.source);
}

std::string figure_text(double value) {
  constexpr double whole_from = 1e3;    // below, decimals carry information
  constexpr double whole_until = 1e15;  // from there on an exponent reads better than six groups of digits
  constexpr int digits = 3;
  if (value >= whole_from && value < whole_until) return quantity::format_count(std::llround(value));
  return quantity::format_number(value, digits);
}

}  // namespace llmcalc::render
