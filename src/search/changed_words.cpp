#include "search/changed_words.hpp"

#include <algorithm>
#include <string>

namespace llmcalc::search {

void say(Changed& run, const std::vector<ChangedTerm>& terms, std::string_view change, std::string_view cost) {
  for (const ChangedTerm& said : terms) {
    const auto before = std::ranges::find(run.terms, said.term, &ChangedTerm::term);
    if (before == run.terms.end()) {
      run.terms.push_back(said);
    } else {
      before->value = said.value;
    }
  }
  const auto append = [](std::string& text, std::string_view separator, std::string_view more) {
    if (!text.empty()) text.append(separator);
    text.append(more);
  };
  append(run.change, ", and ", change);
  append(run.cost, "; ", cost);
}

}  // namespace llmcalc::search
