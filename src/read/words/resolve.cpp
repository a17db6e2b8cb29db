#include "llmcalc/read/resolve.hpp"

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/read/vocabulary.hpp"
#include "read/words/algorithm.hpp"
#include "read/words/checks.hpp"
#include "read/words/completion.hpp"
#include "read/words/model_source.hpp"
#include "read/words/recipe.hpp"

#include <utility>

namespace llmcalc::read {
namespace {

void take_gpu(Draft& draft) {
  const Given* word = draft.words.find("gpu");
  if (draft.values.gpu) {
    draft.question.gpu = draft.values.gpu;
    draft.set_origin("gpu", {Source::flag, "gpu"});
    return;
  }
  if (word == nullptr) return;
  draft.question.gpu = draft.catalogue.accelerator(word->text, word->origin.where).accelerator;
  draft.set_origin("gpu", word->origin);
}

void take_run(Draft& draft) {
  for (const Term& term : vocabulary()) {
    if (term.group != Group::model) draft.take(term.name);
  }
  if (draft.given("framework")) return;
  draft.assume(
      "framework", "default",
      "--framework generic, the textbook, which leaves out what frameworks add: name yours for a narrower error bar");
}

/// Expands the shape; a mistake in a dimension is reported where that dimension was said.
void build(Draft& draft) {
  try {
    draft.question.model = spec::build_model(std::move(draft.shape()));
  } catch (const quantity::BadInput& error) {
    const Term* term = find_term(error.place());
    if (term == nullptr) throw;
    const bool said = draft.given(term->name);
    throw quantity::BadInput(said ? draft.place(term->name) : draft.origin(term->name).where,
                             std::string(term->name) + " " + error.problem(), error.hint());
  }
}

/// A model that is no preset has a name for people, which is no word that could be typed again.
bool is_echoed(const Draft& draft, const Term& term) { return term.name != "model" || draft.given("model"); }

std::vector<Echo> echo(const Draft& draft) {
  std::vector<Echo> lines;
  for (const Shorthand& shorthand : shorthands()) {
    const Given* word = draft.words.find(shorthand.name);
    if (word != nullptr) lines.push_back({word->term, word->text, word->origin});
  }
  for (const Term& term : vocabulary()) {
    if (!is_echoed(draft, term)) continue;
    std::string value = term.show(draft.question);
    if (!value.empty()) lines.push_back({std::string(term.name), std::move(value), draft.origin(term.name)});
  }
  return lines;
}

}  // namespace

std::vector<Given> words_of(const spec::Question& question) {
  const spec::Question untouched;
  std::vector<Given> words;
  for (const Term& term : vocabulary()) {
    if (term.group == Group::model || term.apply == nullptr) continue;
    std::string value = term.show(question);
    if (value.empty() || value == term.show(untouched)) continue;
    words.push_back({std::string(term.name), std::move(value), {Source::flag, "--" + option_name(term.name)}});
  }
  return words;
}

Resolved resolve(const std::vector<Given>& given, const std::optional<ConfigText>& config, const Catalogue& catalogue,
                 const Values& values) {
  const Words words(given);
  Draft draft(words, catalogue, values);
  take_gpu(draft);
  take_model(draft, config);
  take_run(draft);
  complete_optimizer(draft);
  take_precision(draft);
  complete_method(draft);
  complete_algorithm(draft);
  complete_kernels(draft);
  complete_sequence(draft);
  complete_dropout(draft);
  complete_adapter_dropout(draft);
  complete_functional_test(draft);
  complete_layout(draft);
  complete_dispatch(draft);
  complete_pipeline(draft);
  complete_batch(draft);
  complete_data(draft);
  check_combinations(draft);
  build(draft);
  auto lines = echo(draft);
  return {std::move(draft.question), std::move(lines), std::move(draft.assumptions)};
}

}  // namespace llmcalc::read
