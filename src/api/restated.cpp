#include "api/inner/restated.hpp"

#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"
#include "read/vocabulary.hpp"
#include "read/words.hpp"

#include <algorithm>
#include <string>
#include <utility>

namespace llmcalc::api {
namespace {

using read::Given;
using search::Restated;

/// The changed terms, and those that were said and that the change moves without naming them.
std::vector<spec::Word> terms_to_say(const std::vector<Given>& words, const spec::Question& before,
                                     const spec::Question& changed, std::vector<spec::Word> terms) {
  for (Given& moved : read::differences(changed, before)) {
    if (read::has_word(words, moved.term) && !read::has_word(terms, moved.term)) terms.push_back(std::move(moved));
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
bool is_of_preset(const std::vector<Given>& words, const std::vector<spec::Word>& said) {
  const auto concerns = [](const Given& word) { return concerns_shape(word.term) || word.term == "image_size"; };
  return read::has_word(words, "model") && !read::has_word(said, "model") && std::ranges::none_of(words, concerns) &&
         std::ranges::none_of(said, concerns);
}

}  // namespace

search::Restate restating(const Asked& asked, const spec::Question& question) {
  return [&asked, &question](const spec::Question& changed,
                             const std::vector<spec::Word>& terms) -> std::optional<Restated> {
    auto said = terms_to_say(asked.words, question, changed, terms);
    read::Values known = asked.values;
    known.gpu = changed.gpu;  // looked up before
    if (!known.shape && is_of_preset(asked.words, said)) known.shape = question.model.shape;
    try {
      auto resolved = resolve(read::with_said(asked.words, said), asked.config, asked.catalogue, known);
      return Restated{std::move(said), std::move(resolved.question)};
    } catch (const quantity::BadInput&) {
      return std::nullopt;
    }
  };
}

}  // namespace llmcalc::api
