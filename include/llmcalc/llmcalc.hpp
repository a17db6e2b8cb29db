// llmcalc as a library: ask whether a run fits, where it peaks, how long it takes and what it costs.
//
//   const auto answer = llmcalc::ask({{"model", "llama-3-8b"}, {"method", "lora"}, {"gpu", "rtx-4090"}});
//   if (answer.fits()) use(answer.estimate.compute.step);
//
// Everything here is pure: no files, no environment, no clock, and safe to call from several threads at once.
#pragma once

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/render/report.hpp"
#include "llmcalc/spec/question.hpp"

#include <initializer_list>
#include <span>
#include <string>
#include <string_view>

namespace llmcalc {

/// One option of `llmcalc fit` without its dashes, and its value as one types it: {"micro-batch", "4"}.
struct Word {
  std::string term;
  std::string text;
};

/// Everything that is said about one run: the question as it was completed, each value with its origin; estimate,
/// advice or headroom, assumptions.
struct Answer : render::Report {
  spec::Question completed;

  /// Within the capacity by the likely figure; false without an accelerator.
  bool fits() const;
};

/// Answers as `llmcalc fit` does.
/// \throws quantity::BadInput naming the term that is wrong or missing
Answer ask(std::span<const Word> words);
Answer ask(std::initializer_list<Word> words);

/// The same for a question of typed values: a member that was left as constructed is completed by the defaults that
/// also complete words, and everything is checked. `question.model.shape` is the model, `question.gpu` the accelerator.
/// \throws quantity::BadInput
Answer ask(const spec::Question& question);

/// The answer of `llmcalc fit --format json` (docs/json.md).
std::string to_json(const Answer& answer);

/// "0.1.0"
std::string_view version();

}  // namespace llmcalc
