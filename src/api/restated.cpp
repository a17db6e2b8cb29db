#include "api/inner/restated.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/say.hpp"
#include "read/vocabulary.hpp"
#include "read/words.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace llmcalc::api {
namespace {

using read::Given;
using search::ChangedTerm;
using search::Restated;

bool names(const std::vector<ChangedTerm>& terms, std::string_view term) {
  return quantity::contains(terms, term, &ChangedTerm::term);
}

Given given(const ChangedTerm& changed) {
  return {changed.term, changed.value, {read::Source::flag, "--" + read::option_name(changed.term)}};
}

/// The changed terms, and those that were said and that the change moves without naming them.
std::vector<ChangedTerm> terms_to_say(const std::vector<Given>& words, const spec::Question& before,
                                      const spec::Question& changed, std::vector<ChangedTerm> terms) {
  for (const Given& word : words) {
    const read::Term* term = read::find_term(word.term);
    if (term == nullptr || names(terms, term->name)) continue;
    std::string value = term->show(changed);
    if (!value.empty() && value != term->show(before)) terms.push_back({std::string(term->name), std::move(value)});
  }
  return terms;
}

/// Says something of the model beside its name.
bool concerns_shape(std::string_view name) {
  const read::Term* term = read::find_term(name);
  return term != nullptr && term->group == read::TermGroup::model && term->name != "model";
}

/// Whether the shape is what a preset says, as nothing else on the line touches a model: then it need not be read
/// again.
bool is_of_preset(const std::vector<Given>& words, const std::vector<ChangedTerm>& said) {
  const auto word_concerns = [](const Given& word) { return concerns_shape(word.term) || word.term == "image_size"; };
  const auto change_concerns = [](const ChangedTerm& c) { return concerns_shape(c.term) || c.term == "model"; };
  return read::has_word(words, "model") && std::ranges::none_of(words, word_concerns) &&
         std::ranges::none_of(said, change_concerns);
}

}  // namespace

search::Restate restating(const Asked& asked, const spec::Question& question) {
  return [&asked, &question](const spec::Question& changed,
                             const std::vector<ChangedTerm>& terms) -> std::optional<Restated> {
    auto said = terms_to_say(asked.words, question, changed, terms);
    read::Values known = asked.values;
    if (!names(said, "gpu")) known.gpu = question.gpu;  // looked up before
    if (!known.shape && is_of_preset(asked.words, said)) known.shape = question.model.shape;
    try {
      auto resolved =
          resolve(read::with_said(asked.words, quantity::mapped(said, given)), asked.config, asked.catalogue, known);
      return Restated{std::move(said), std::move(resolved.question)};
    } catch (const quantity::BadInput&) {
      return std::nullopt;
    }
  };
}

}  // namespace llmcalc::api
