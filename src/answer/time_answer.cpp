#include "answer/inner/parts.hpp"
#include "quantity/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::answer {

using quantity::Flops;
using quantity::flops;
using quantity::Tokens;
using quantity::tokens;

namespace {

constexpr double chinchilla_ratio = 20.0;

FlopFigure figure(std::string id, std::string label, Flops per_token, Tokens budget, Explanation why) {
  return {std::move(id), std::move(label), per_token, per_token * quantity::in_tokens(budget), std::move(why), 0.0};
}

std::vector<FlopFigure> flop_figures(const spec::Question& question, const Walks& walks, Tokens budget) {
  const auto per_step_tokens = static_cast<double>(question.training.micro_batch_tokens());
  const auto active = static_cast<double>(walks.size.active);
  const Flops six = flops(6.0 * active);
  const Flops model = walks.work.model() / per_step_tokens;
  const Flops full_square = walks.work.full_square() / per_step_tokens;
  const Flops hardware = walks.work.hardware() / per_step_tokens;
  return {
      figure(
          "six_pd", "C = 6PD", six, budget,
          {"6 x active parameters x tokens", fmt::format("6 x {} a token", quantity::format_count(walks.size.active)),
           "Kaplan et al. 2020, arXiv:2001.08361 section 2.1"}),
      figure("model", "model FLOPs (causal attention)", model, budget,
             {"forward and backward matrix products, attention below the mask only",
              fmt::format("{} forward + {} backward a micro-batch", quantity::format_flops(walks.work.forward),
                          quantity::format_flops(walks.work.backward)),
              "sum over the step program; convention of Megatron-LM training.py since 2025"}),
      figure("hardware", "hardware FLOPs (with recomputation)", hardware, budget,
             {"model FLOPs + recomputed forward work",
              fmt::format("+ {} recomputed, {} inside attention kernels a micro-batch",
                          quantity::format_flops(walks.work.recompute),
                          quantity::format_flops(walks.work.kernel_recompute)),
              "Korthikanti et al. 2022, arXiv:2205.05198 appendix A; Dao 2023, arXiv:2307.08691"}),
      figure("full_square", "model FLOPs (full attention)", full_square, budget,
             {"forward and backward matrix products, attention as a full square",
              fmt::format("+ {} above the mask a micro-batch", quantity::format_flops(3.0 * walks.work.masked)),
              "Narayanan et al. 2021, arXiv:2104.04473 appendix; Chowdhery et al. 2022, arXiv:2204.02311 appendix B"}),
  };
}

/// The step of sequences that end with their sample, which are shorter than the longest that memory must hold.
/// Micro-batches are padded to their own longest sample, so that those of several take somewhat longer.
quantity::Seconds step_of_length(const spec::Question& question, std::int64_t length, const TimeAnswer& answer) {
  if (length == question.training.seq) return answer.step;
  spec::Question shorter = question;
  shorter.training.seq = length;
  const Walks walks = walk(shorter);
  TimeAnswer of_shorter;
  of_shorter.flops = flop_figures(shorter, walks, answer.tokens);
  of_shorter.peak = answer.peak;
  clock_step(shorter, walks, of_shorter);
  return of_shorter.step;
}

void clock(const spec::Question& question, const Walks& walks, const Budget& budget, TimeAnswer& answer) {
  const auto& gpu = *question.gpu;
  answer.peak = spec::matrix_peak(gpu, question.training.precision.compute);
  clock_step(question, walks, answer);
  answer.useful = budget.steps(question.training) * step_of_length(question, budget.length, answer);
  operate(question, walks, answer);
}

/// "50,000 samples x 3 epochs x 350 tokens"
Budget of_samples(const spec::DataBudget& data, std::int64_t seq) {
  const auto longest = static_cast<double>(seq);
  const double each = std::min(data.sample_tokens.value_or(longest), longest);
  std::string source = quantity::format_count(std::llround(*data.samples)) + " samples";
  if (data.epochs != 1.0) source += fmt::format(" x {} epochs", data.epochs);
  source += fmt::format(" x {} tokens{}", each, data.packing ? ", packed" : "");
  const bool fills = data.packing || each == longest;
  return {tokens(*data.samples * data.epochs * each), source, fills ? seq : std::llround(std::ceil(each))};
}

}  // namespace

Budget token_budget(const spec::Question& question, std::int64_t parameters) {
  const auto& data = question.pricing.data;
  const auto total = static_cast<double>(parameters);
  const std::int64_t seq = question.training.seq;
  if (data.tokens) return {*data.tokens, "as given", seq};
  if (data.samples) return of_samples(data, seq);
  if (data.steps) {
    return {tokens(*data.steps * step_tokens(question)),
            fmt::format("{} steps x {} tokens", quantity::format_count(std::llround(*data.steps)),
                        quantity::format_count(question.training.step_tokens())),
            seq};
  }
  if (data.tokens_per_parameter) {
    return {tokens(*data.tokens_per_parameter * total),
            fmt::format("{} x parameters, as given", *data.tokens_per_parameter), seq};
  }
  return {tokens(chinchilla_ratio * total), "default: 20 x parameters (Hoffmann et al. 2022, arXiv:2203.15556)", seq};
}

TimeAnswer time_answer(const spec::Question& question, const Walks& walks) {
  TimeAnswer answer;
  const Budget budget = token_budget(question, walks.size.total);
  answer.tokens = budget.tokens;
  answer.tokens_source = budget.source;
  answer.flops = flop_figures(question, walks, budget.tokens);
  answer.pflop_days = quantity::in_pflop_days(answer.flops[0].total);
  if (question.gpu) clock(question, walks, budget, answer);
  return answer;
}

}  // namespace llmcalc::answer
