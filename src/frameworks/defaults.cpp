#include "frameworks/defaults.hpp"

#include "frameworks/table.hpp"
#include "quantity/lists.hpp"

#include <algorithm>

namespace llmcalc::frameworks {

namespace {

bool applies(const Default& row, const spec::Question& question) { return row.holds == nullptr || row.holds(question); }

}  // namespace

const Default* default_of(const spec::Question& question, std::string_view term) {
  const auto is_it = [&](const Default& row) { return row.term == term && applies(row, question); };
  return quantity::find_if_or_null(row_of(question.training.framework).defaults, is_it);
}

}  // namespace llmcalc::frameworks
