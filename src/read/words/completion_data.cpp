// How much data a step and a run see where nobody says.
#include "frameworks/table.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "read/words/draft_steps.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <string>

namespace llmcalc::read {
namespace {

/// Tokens of a step, as Llama 2 was trained: 1,024 sequences of 4,096 (Touvron et al. 2023, arXiv:2307.09288
/// section 2.2).
constexpr std::int64_t pretraining_batch = 1024 * 4096;

/// With four times as many micro-batches as stages a pipeline waits less than a quarter of its step: (p - 1) / m of the
/// rest (Narayanan et al. 2021, arXiv:2104.04473 section 2.2.1).
constexpr std::int64_t micro_batches_a_stage = 4;

/// Enough to say how long tuning takes where nobody says on how much.
constexpr double usual_steps = 1000.0;

bool is_up_to_us(const QuestionDraft& draft) {
  const auto& question = draft.question;
  const auto& training = question.training;
  return spec::accumulates(training) && !draft.given("grad_accum") && question.layout.gpus > 1 &&
         frameworks::row_of(training.framework).asks_for_batch && frameworks::pretrains(question);
}

void complete_samples(QuestionDraft& draft) {
  take_default(draft, "packing");
  const auto& data = draft.question.pricing.data;
  const auto seq = draft.training().seq;
  if (!data.sample_tokens) {
    draft.assumptions.push_back({"every sample fills its sequence", "sample_tokens", std::to_string(seq)});
  } else if (*data.sample_tokens > static_cast<double>(seq)) {
    draft.assume("samples are cut to --seq " + std::to_string(seq));
  }
}

}  // namespace

void complete_accumulation(QuestionDraft& draft) {
  if (!is_up_to_us(draft)) return;
  spec::Training& training = draft.training();
  const spec::Layout& layout = draft.layout();
  const std::int64_t at_once = quantity::product(training.micro_batch, training.seq, layout.dp);
  const std::int64_t by_tokens = pretraining_batch / at_once;
  const std::int64_t by_stages = layout.pp > 1 ? quantity::product(micro_batches_a_stage, layout.pp) : 1;
  training.grad_accum = quantity::ceil_to(std::max({std::int64_t{1}, by_tokens, by_stages}), layout.pp);
  draft.assume("grad_accum", "4M tokens a step", std::to_string(training.grad_accum),
               "4M tokens a step or a full pipeline");
}

std::int64_t usual_batch(const spec::Question& question) {
  const spec::Training& training = question.training;
  if (frameworks::pretrains(question)) return std::max<std::int64_t>(1, pretraining_batch / training.seq);
  return quantity::product(training.micro_batch, training.grad_accum, question.layout.dp);
}

void complete_data(QuestionDraft& draft) {
  if (draft.given("samples")) return complete_samples(draft);
  if (draft.given("tokens") || draft.given("steps")) return;
  if (frameworks::pretrains(draft.question)) {
    draft.assumptions.push_back({"20 for each parameter (Hoffmann et al. 2022)", "tokens", "20x"});
    return;
  }
  draft.question.pricing.data.steps = usual_steps;
  draft.assume("steps", "default", "1000", "for want of data: --samples or --tokens say how much there is");
}

}  // namespace llmcalc::read
