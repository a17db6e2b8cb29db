#include "llmcalc/llmcalc.hpp"

#include "api/fit.hpp"
#include "api/verbs.hpp"
#include "read/vocabulary.hpp"

namespace llmcalc {

bool Answer::fits() const {
  using trust::VerdictKind;
  return estimate.verdict.kind == VerdictKind::fits || estimate.verdict.kind == VerdictKind::tight;
}

Answer ask(std::span<const Word> words) {
  std::vector<read::Given> given;
  for (const Word& word : words)
    given.push_back({word.term, word.text, {read::Source::flag, "--" + read::option_name(word.term)}});
  return api::fit(given, std::nullopt, read::Catalogue());
}

Answer ask(std::initializer_list<Word> words) { return ask(std::span(words.begin(), words.size())); }

Answer ask(const spec::Question& question) {
  return api::fit(read::words_of(question), std::nullopt, read::Catalogue(), {question.model.shape, question.gpu});
}

std::string to_json(const Answer& answer) { return render::to_json(answer); }

Reply ask(std::string_view verb, std::span<const Word> words, const Outside& outside) {
  return api::ask(verb, words, api::Surroundings(outside));
}

Reply ask(std::string_view verb, std::initializer_list<Word> words, const Outside& outside) {
  return ask(verb, std::span(words.begin(), words.size()), outside);
}

std::string to_json(const Reply& reply) { return reply.show("json"); }

std::string to_text(const Reply& reply) { return reply.show("text"); }

spec::Shape model_preset(std::string_view name) { return read::Catalogue().model(name, "model").shape; }

spec::Accelerator gpu_preset(std::string_view name) { return read::Catalogue().accelerator(name, "gpu").accelerator; }

std::string_view version() { return LLMCALC_VERSION; }

}  // namespace llmcalc
