#include "llmcalc/frameworks/defaults.hpp"

#include "llmcalc/frameworks/table.hpp"

#include <algorithm>

namespace llmcalc::frameworks {

const Default* default_of(const spec::Question& question, std::string_view term) {
  const auto defaults = row_of(question.training.framework).defaults;
  const auto found = std::ranges::find_if(
      defaults, [&](const Default& row) { return row.term == term && (row.holds == nullptr || row.holds(question)); });
  return found == defaults.end() ? nullptr : &*found;
}

}  // namespace llmcalc::frameworks
