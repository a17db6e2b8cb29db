#include "read/resolve.hpp"

#include "quantity/lists.hpp"
#include "read/vocabulary.hpp"
#include "read/words/draft_steps.hpp"
#include "spec/names.hpp"

#include <utility>

namespace llmcalc::read {
namespace {

void take_run(QuestionDraft& draft) {
  for (const Term& term : vocabulary()) {
    if (term.group != TermGroup::model) draft.take(term.name);
  }
  choose_framework(draft);
}

/// Trainers start from published weights in the type that they are told to use.
void say_published(QuestionDraft& draft) {
  if (!draft.published_quant || !draft.given("config") || formats::is_quantized(draft.training().precision.weights))
    return;
  draft.assume("the checkpoint is quantized (" + std::string(spec::name_of(*draft.published_quant)) +
               "); the precision of the run is the question's, not the file's");
}

}  // namespace

std::vector<std::string> Resolved::warnings() const {
  if (unread.empty()) return {};
  return {"not read, and may change sizes: " + quantity::joined(unread, ", ")};
}

Resolved resolve(const std::vector<Given>& given, const std::optional<ConfigText>& config, const Catalogue& catalogue,
                 const Values& values) {
  const Words words(given);
  QuestionDraft draft(words, catalogue, values);
  take_gpu(draft);
  take_model(draft, config);
  take_run(draft);
  take_software(draft);
  take_default(draft, "method");
  complete_layout(draft);
  complete_optimizer(draft);
  take_precision(draft);
  say_published(draft);
  complete_method(draft);
  complete_algorithm(draft);
  complete_kernels(draft);
  complete_host(draft);
  complete_sequence(draft);
  complete_images(draft, "seq", draft.training().seq);
  complete_dropout(draft);
  complete_pipeline(draft);
  complete_batch(draft);
  complete_data(draft);
  check_combinations(draft);
  build(draft);
  take_calibration(draft);
  auto lines = echo(draft, vocabulary());
  return {std::move(draft.question), std::move(lines), std::move(draft.assumptions), {}, std::move(draft.unread)};
}

}  // namespace llmcalc::read
