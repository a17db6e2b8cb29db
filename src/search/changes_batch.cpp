// Changes to what a micro-batch is, and to the states beside it.
#include "search/inner/change_kinds.hpp"
#include "search/inner/changed_words.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <string>

namespace llmcalc::search {

namespace {

/// The n-th divisor of `value` above 1, or 0: the small ones, and at last the value itself.
std::int64_t divisor(std::int64_t value, std::size_t n) {
  constexpr std::int64_t small = 256;
  for (std::int64_t d = 2; d <= std::min(value, small); ++d) {
    if (value % d == 0 && n-- == 0) return d;
  }
  return n == 0 && value > small ? value : 0;
}

}  // namespace

bool smaller_micro_batch(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  const std::int64_t parts = divisor(training.micro_batch, step);
  if (parts == 0 || spec::updates_in_backward(training.optimizer)) return false;
  training.micro_batch /= parts;
  training.grad_accum = quantity::product(training.grad_accum, parts);
  say(run, {{"micro_batch", std::to_string(training.micro_batch)}, {"grad_accum", std::to_string(training.grad_accum)}},
      "the same global batch in more micro-batches", "time: smaller matrix products use the accelerator less well");
  return true;
}

/// Half, a quarter, ... of the tokens, not below what short answers need.
bool shorter_sequence(Changed& run, Larger, std::size_t step) {
  constexpr std::int64_t shortest = 512;
  auto& training = run.question.training;
  const std::int64_t seq = training.seq >> (step + 1);
  if (seq < shortest || (seq << (step + 1)) != training.seq) return false;
  training.seq = seq;
  say(run, {{"seq", std::to_string(seq)}}, "shorter sequences", "context: longer samples are cut or split");
  return true;
}

std::size_t smaller_micro_batches(const spec::Question& question, Larger) {
  std::size_t count = 0;
  while (divisor(question.training.micro_batch, count) != 0) ++count;
  return count;
}

bool smaller_moments(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  if (step > 0 || training.optimizer != spec::Optimizer::adamw) return false;
  training.optimizer = spec::Optimizer::adamw_8bit;
  training.precision.moments = formats::Dtype::int8;
  say(run, {{"optimizer", "adamw-8bit"}}, "optimizer states in 8 bits",
      "numerics: states quantized block by block (Dettmers et al. 2022, arXiv:2110.02861)");
  return true;
}

bool precomputed_reference(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  if (step > 0 || training.reference != spec::Reference::model || training.makes_samples()) return false;
  training.reference = spec::Reference::precomputed;
  say(run, {{"reference", "precomputed"}}, "log-probabilities of the reference are stored before training",
      "time: the reference runs over all data first (trl dpo_config.py, precompute_ref_log_probs)");
  return true;
}

}  // namespace llmcalc::search
