#include "laws/inner/scaling_section.hpp"

#include "laws/inner/formula_text.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::laws {

void Section::add(std::string_view id, std::string_view label, double value, std::string text, std::string_view formula,
                  Numbers numbers) {
  if (!std::isfinite(value)) throw quantity::BadInput("scale", fmt::format("'{}' is beyond counting", label));
  std::string worked = numbers.size() == 0 ? std::string() : with_numbers(formula, numbers);
  answer_.lines.push_back({id,
                           label,
                           value,
                           std::move(text),
                           Standing::derived,
                           {std::string(formula), std::move(worked), source_},
                           section_});
}

void Section::add(std::string_view id, Variable variable, double value, std::string_view formula, Numbers numbers) {
  const auto& f = facts(variable);
  add(id, f.label, value / f.unit, f.format(value), formula, numbers);
}

std::string loss_text(double loss) { return quantity::format_number(loss, 4) + " nats per token"; }

double at_least_none(double share) { return std::max(0.0, share); }

}  // namespace llmcalc::laws
