#include "frameworks/layout_rules.hpp"
#include "frameworks/profile.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "read/words/draft.hpp"
#include "spec/names.hpp"

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

using spec::Method;
using spec::RecomputeModule;
using spec::RecomputePolicy;
using spec::Training;

bool is_quantized(const QuestionDraft& draft) { return formats::is_quantized(draft.training().precision.weights); }

bool has_rank(const QuestionDraft& draft) { return spec::has_low_rank(draft.training().method); }

bool fuses_head(const Training& training) {
  return training.loss == spec::Loss::fused_linear || training.loss == spec::Loss::cut;
}

bool adapts_head(const Training& training) { return quantity::contains(training.adapter.targets, "head"); }

bool trains_weights(const Training& training) {
  return training.method == Method::full || training.method == Method::galore;
}

bool has_narrow_weights(const Training& training) {
  return is_half(training.precision.weights) || formats::is_narrow_float(training.precision.weights);
}

bool multiplies_narrow(const Training& training) { return formats::is_narrow_float(training.precision.compute); }

bool scales_rows(const QuestionDraft& draft) { return draft.training().fp8_scaling == spec::Fp8Scaling::row; }

/// trl 1.16 trainer/sft_trainer.py: documents would attend to one another around torch's ring (cp_size); Ulysses
/// (sp_size) takes packed samples.
bool packs_around_ring(const QuestionDraft& draft) {
  const spec::Layout& layout = draft.layout();
  const bool packs =
      draft.question.pricing.data.packing && frameworks::row_of(draft.training().framework).splits_by_accelerate;
  return packs && layout.cp > 1 && layout.cp_exchange != spec::ContextExchange::all_to_all;
}

bool recomputes(const QuestionDraft& draft, RecomputeModule module) {
  return quantity::contains(draft.training().recompute.modules, module);
}

bool recomputes_experts(const QuestionDraft& draft) {
  return recomputes(draft, RecomputeModule::moe) || recomputes(draft, RecomputeModule::moe_act);
}

Comparison compares(const QuestionDraft& draft) { return comparison_of(draft.training().algorithm); }

bool runs_on_core(const Training& training) {
  return frameworks::row_of(training.framework).engine == frameworks::TrainingEngine::megatron_core;
}

constexpr Contradiction contradictions[] = {
#include "vocabulary/contradictions.inc"
};

bool is_said(const QuestionDraft& draft, const Contradiction& row) {
  switch (row.said) {
    case Said::either_way: return true;
    case Said::itself: return draft.given(row.term);
    case Said::both: return draft.given(row.term) && draft.given(row.other);
    case Said::not_the_other: return !draft.given(row.other);
  }
  return true;
}

void check_moments(const QuestionDraft& draft) {
  const auto moments = quantized_moments(draft.training().optimizer);
  if (!moments || *moments == draft.training().precision.moments) return;
  draft.contradiction("optimizer_states", "optimizer", "its moments are " + std::string(spec::name_of(*moments)));
}

void check_experts(const QuestionDraft& draft) {
  const auto& moe = draft.shape().moe;
  if (moe.experts == 0 || moe.top_k > 0) return;
  throw quantity::BadInput("--top-k", "is missing: " + draft.said("experts") + " needs it");
}

/// A thing that the framework cannot do is refused by name, with those that can.
void check_abilities(const QuestionDraft& draft) {
  const auto framework = draft.question.training.framework;
  const auto term = frameworks::unable_to(framework, draft.question);
  if (term.empty()) return;
  const auto others = quantity::joined(frameworks::able_to(term, draft.question), ", ");
  const std::string hint = others.empty() ? "--framework textbook" : "--framework " + others + " or textbook";
  draft.contradiction(term, "framework", std::string(frameworks::row_of(framework).title) + " cannot do that", hint);
}

void check_layout(const QuestionDraft& draft) {
  const auto& question = draft.question;
  const auto* rule = frameworks::broken_rule({question.model.shape, question.training, question.layout});
  if (rule != nullptr) draft.contradiction(rule->term, rule->other, rule->why, std::string(rule->hint));
}

void check_rank(const QuestionDraft& draft) {
  const auto& question = draft.question;
  if (question.rank.kind != spec::RankChoice::Kind::stage || question.rank.stage < question.layout.pp) return;
  draft.contradiction("rank", "pp", "stages are counted from 0 to " + std::to_string(question.layout.pp - 1));
}

/// \throws quantity::BadInput where the accelerator multiplies in no type that carries this one
void check_products(const QuestionDraft& draft) {
  const auto& question = draft.question;
  if (question.gpu) spec::matrix_peak(*question.gpu, question.training.precision.compute);
}

}  // namespace

void complete_algorithm(QuestionDraft& draft) {
  spec::Training& training = draft.training();
  if (draft.given("reference") || !implies_reference(training)) return;
  training.reference = trains_adapters(training.method) ? Reference::base : Reference::model;
  const std::string word(spec::name_of(training.reference));
  draft.assume("reference", "algorithm " + std::string(spec::name_of(training.algorithm)), word);
}

void refuse(const QuestionDraft& draft, std::span<const Contradiction> rows) {
  const auto is_one = [&](const Contradiction& row) { return is_said(draft, row) && row.holds(draft); };
  const auto* row = quantity::find_if_or_null(rows, is_one);
  if (row != nullptr) draft.contradiction(row->term, row->other, row->why, std::string(row->hint));
}

void check_combinations(const QuestionDraft& draft) {
  check_abilities(draft);
  refuse(draft, contradictions);
  check_moments(draft);
  check_experts(draft);
  check_layout(draft);
  check_rank(draft);
  check_products(draft);
}

}  // namespace llmcalc::read
