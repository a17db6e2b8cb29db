#include "llmcalc/frameworks/defaults.hpp"

#include "llmcalc/frameworks/table.hpp"
#include "llmcalc/quantity/lists.hpp"

#include <algorithm>

namespace llmcalc::frameworks {

const Default* default_of(const spec::Question& question, std::string_view term) {
  const auto is_it = [&](const Default& row) {
    return row.term == term && (row.holds == nullptr || row.holds(question));
  };
  return quantity::find_if_or_null(row_of(question.training.framework).defaults, is_it);
}

}  // namespace llmcalc::frameworks
