#include "read/words/draft_steps.hpp"
#include "read/words/training_rules.hpp"
#include "spec/names.hpp"

#include <string>

namespace llmcalc::read {

using frameworks::StateRecipe;
using spec::Algorithm;
using spec::Reference;

namespace {

/// Whether the loss of an algorithm compares with a reference. GRPO's does where its penalty is not zero.
enum class Comparison { never, optional, always };

constexpr Comparison comparison_of(Algorithm algorithm) {
  switch (algorithm) {
    case Algorithm::sft:
    case Algorithm::orpo: return Comparison::never;
    case Algorithm::grpo: return Comparison::optional;
    case Algorithm::dpo:
    case Algorithm::kto:
    case Algorithm::ppo: return Comparison::always;
  }
  return Comparison::never;
}

/// trl's GRPO has no penalty, and so no reference, unless it is asked for one (trl trainer/grpo_config.py, beta = 0);
/// the paper's has (Shao et al. 2024, arXiv:2402.03300 eq. 3).
bool implies_reference(const spec::Training& training) {
  const Comparison comparison = comparison_of(training.algorithm);
  if (comparison != Comparison::optional) return comparison == Comparison::always;
  return states_of(training) != StateRecipe::torch;
}

}  // namespace

void complete_algorithm(QuestionDraft& draft) {
  spec::Training& training = draft.training();
  if (draft.given("reference") || !implies_reference(training)) return;
  training.reference = trains_adapters(training.method) ? Reference::base : Reference::model;
  const std::string word(spec::name_of(training.reference));
  draft.assume("reference", "algorithm " + std::string(spec::name_of(training.algorithm)), word);
}

void check_algorithm(const QuestionDraft& draft) {
  const auto& training = draft.question.training;
  const bool trains = spec::has_backward_pass(training.method);
  if (training.algorithm != Algorithm::sft && !trains) draft.contradiction("algorithm", "method", "nothing is trained");
  const Comparison comparison = comparison_of(training.algorithm);
  if (comparison == Comparison::never && training.reference != Reference::none) {
    draft.contradiction("reference", "algorithm", "its loss compares with no other model", "--algorithm dpo");
  }
  if (comparison == Comparison::always && training.reference == Reference::none) {
    draft.contradiction("reference", "algorithm", "its loss compares with a reference", "--algorithm orpo needs none");
  }
  if (training.reference == Reference::base && !trains_adapters(training.method)) {
    draft.contradiction("reference", "method", "only a model with adapters has a base without them", "--method lora");
  }
  if (training.reference == Reference::precomputed && training.makes_samples()) {
    draft.contradiction("reference", "algorithm", "its samples are made anew in each step", "--reference model");
  }
}

}  // namespace llmcalc::read
