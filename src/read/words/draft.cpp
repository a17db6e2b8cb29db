#include "read/words/draft.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/text.hpp"
#include "read/vocabulary.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::read {

using spec::option_of;

void QuestionDraft::take(std::string_view term) {
  const Given* word = words.find(term);
  const Term* row = word == nullptr ? nullptr : find_term(term);
  if (row == nullptr || row->apply == nullptr) return;
  row->apply(question, word->text, word->origin.where);
  set_origin(term, word->origin);
}

void QuestionDraft::set_origin(std::string_view term, Origin origin) {
  origins_.insert_or_assign(std::string(term), std::move(origin));
}

void QuestionDraft::derive(std::string_view term, std::string_view how) {
  set_origin(term, {Source::default_value, std::string(how)});
}

void QuestionDraft::assume(std::string_view term, std::string_view how, std::string text, std::string words) {
  set_origin(term, {Source::assumed, std::string(how)});
  std::erase_if(assumptions, [&](const spec::Assumption& before) { return before.term == term; });
  assumptions.push_back({std::move(words), std::string(term), std::move(text)});
}

Origin QuestionDraft::origin(std::string_view term) const {
  const auto found = origins_.find(term);
  return found == origins_.end() ? Origin{Source::default_value, "default"} : found->second;
}

std::string QuestionDraft::place(std::string_view term) const {
  const Given* word = words.find(term);
  return word == nullptr ? option_of(term) : word->origin.where;
}

std::string QuestionDraft::said(std::string_view term) const {
  if (const Given* word = words.find(term)) {
    const bool by_name = word->origin.where == quantity::quoted(word->text);  // the place is the word itself
    if (by_name) return word->origin.where;
    if (word->origin.source != Source::file) return word->origin.where + " " + std::string(words.typed(*word));
    return std::string(term) + " " + word->text + " (" + word->origin.where + ")";
  }
  const Term* row = find_term(term);
  const std::string value = row == nullptr ? std::string() : row->show(question);
  return std::string(term) + " " + (value.empty() ? "not given" : value + " (" + origin(term).where + ")");
}

void QuestionDraft::contradiction(std::string_view term, std::string_view other, std::string_view why,
                                  std::string hint) const {
  throw quantity::BadInput(place(term), said(term) + " contradicts " + said(other) + ": " + std::string(why),
                           std::move(hint));
}

}  // namespace llmcalc::read
