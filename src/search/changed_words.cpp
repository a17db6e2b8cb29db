#include "search/inner/changed_words.hpp"

#include "quantity/lists.hpp"

#include <algorithm>
#include <string>

namespace llmcalc::search {

void say(Changed& run, const std::vector<ChangedTerm>& terms, std::string_view change, std::string_view cost) {
  for (const ChangedTerm& said : terms) {
    auto* before = quantity::find_or_null(run.terms, said.term, &ChangedTerm::term);
    (before == nullptr ? run.terms.emplace_back() : *before) = said;
  }
  const auto append = [](std::string& text, std::string_view separator, std::string_view more) {
    if (!text.empty()) text.append(separator);
    text.append(more);
  };
  append(run.change, ", and ", change);
  append(run.cost, "; ", cost);
}

}  // namespace llmcalc::search
