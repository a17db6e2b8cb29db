#include "read/words/draft_steps.hpp"

#include "llmcalc/quantity/error.hpp"

#include <utility>

namespace llmcalc::read {
namespace {

/// A model that is no preset has a name for people, which is no word that could be typed again.
bool is_echoed(const QuestionDraft& draft, const Term& term) { return term.name != "model" || draft.given("model"); }

}  // namespace

void take_gpu(QuestionDraft& draft) {
  const Given* word = draft.words.find("gpu");
  if (draft.values.gpu) {
    draft.question.gpu = draft.values.gpu;
    draft.catalogue.add_rates(*draft.question.gpu);
    draft.set_origin("gpu", {Source::flag, "gpu"});
    return;
  }
  if (word == nullptr) return;
  draft.question.gpu = draft.catalogue.accelerator(word->text, word->origin.where).accelerator;
  draft.set_origin("gpu", word->origin);
}

void build(QuestionDraft& draft) {
  try {
    draft.question.model = spec::build_model(std::move(draft.shape()));
    const auto& adapter = draft.training().adapter;
    if (!adapter.layers.empty()) spec::keep_adapters_to(adapter.layers, draft.question.model);
  } catch (const quantity::BadInput& error) {
    const Term* term = find_term(error.place());
    if (term == nullptr) throw;
    const bool said = draft.given(term->name);
    throw quantity::BadInput(said ? draft.place(term->name) : draft.origin(term->name).where,
                             std::string(term->name) + " " + error.problem(), error.hint());
  }
}

std::vector<Given> echo(const QuestionDraft& draft, std::span<const Term> terms) {
  std::vector<Given> lines;
  for (const Shorthand& shorthand : shorthands()) {
    const Given* word = draft.words.find(shorthand.name);
    if (word != nullptr) lines.push_back({word->term, word->text, word->origin});
  }
  for (const Term& term : terms) {
    if (!is_echoed(draft, term)) continue;
    std::string value = term.show(draft.question);
    if (!value.empty()) lines.push_back({std::string(term.name), std::move(value), draft.origin(term.name)});
  }
  return lines;
}

}  // namespace llmcalc::read
