#include "llmcalc/answer/scaling.hpp"

#include "answer/relation.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace llmcalc::answer {

namespace {

namespace q = quantity;

// Hoffmann et al. 2022, table 3: 67B and 1.5T at Gopher's budget, 20 to 22 tokens a parameter over all budgets.
constexpr double compute_optimal_ratio = 20.0;
constexpr std::string_view hoffmann = "Hoffmann et al. 2022, arXiv:2203.15556, table 3";
constexpr std::string_view decode_bound = "roofline of decoding one sequence: each weight is read once a token";

template <class Optional, class Raw>
void give(Solver& solver, Variable variable, const Optional& value, Raw raw) {
  if (value) solver.set(variable, {static_cast<double>(raw(*value)), Origin::given, {}});
}

Solver given_values(const ScaleQuestion& question) {
  const auto itself = [](auto value) { return value; };
  Solver solver;
  give(solver, Variable::params, question.params, q::in_parameters);
  give(solver, Variable::tokens, question.tokens, q::in_tokens);
  give(solver, Variable::ratio, question.tokens_per_parameter, itself);
  give(solver, Variable::compute, question.compute, q::in_flops);
  give(solver, Variable::gpu_time, question.gpu_time, q::in_seconds);
  give(solver, Variable::gpus, question.gpus, itself);
  give(solver, Variable::time, question.time, q::in_seconds);
  give(solver, Variable::mfu, question.mfu, itself);
  give(solver, Variable::peak, question.peak, q::in_flops_per_second);
  return solver;
}

void require_positive(std::string_view name, std::optional<double> value) {
  if (!value || (std::isfinite(*value) && *value > 0.0)) return;
  throw q::BadInput(std::string(name), fmt::format("{:.4g} is not a finite number above 0", *value));
}

void check_inference(const ScaleQuestion& question) {
  const auto raw = [](const auto& value, auto in_unit) {
    return value ? std::optional<double>(static_cast<double>(in_unit(*value))) : std::nullopt;
  };
  require_positive("weight", raw(question.weight, q::in_bits_per_element));
  require_positive("memory", raw(question.memory, q::in_bytes));
  require_positive("decode rate", question.decode_rate);
  require_positive("bandwidth", raw(question.bandwidth, q::in_bytes_per_second));
  if (question.memory && !question.weight) {
    throw q::BadInput("memory", "how many weights it holds depends on their width", "give the dtype of the weights");
  }
  if (question.decode_rate && !(question.weight && question.bandwidth)) {
    throw q::BadInput("decode rate", "it needs the width of the weights and the bandwidth of the memory they are in",
                      "give the dtype of the weights and an accelerator or a bandwidth");
  }
}

double bytes_per_weight(const ScaleQuestion& question) { return q::in_bits_per_element(*question.weight) / 8.0; }

std::string weight_text(const ScaleQuestion& question) {
  return q::format_number(bytes_per_weight(question), 6) + " B";
}

ScaleLine parameter_line(std::string_view id, std::string_view label, double value, Explanation why) {
  if (!(value < facts(Variable::params).max)) throw q::BadInput("params", fmt::format("{:.4g} are too many", value));
  const double whole = std::floor(value);
  return {id, label, whole, facts(Variable::params).format(whole), Origin::derived, std::move(why)};
}

/// The largest models that the inference side of the question allows.
std::vector<ScaleLine> inference_limits(const ScaleQuestion& question) {
  std::vector<ScaleLine> limits;
  if (question.memory) {
    const double most = static_cast<double>(q::in_bytes(*question.memory)) / bytes_per_weight(question);
    limits.push_back(parameter_line(
        "largest_in_memory_params", "largest model in this memory", most,
        {"memory / bytes of a weight", q::format_gib(*question.memory) + " / " + weight_text(question), "definition"}));
  }
  if (question.decode_rate) {
    const double most =
        q::in_bytes_per_second(*question.bandwidth) / (*question.decode_rate * bytes_per_weight(question));
    limits.push_back(parameter_line("largest_at_speed_params", "largest model at this speed", most,
                                    {"bandwidth / (tokens per second x bytes of a weight)",
                                     fmt::format("{} / ({} x {})", q::format_bandwidth(*question.bandwidth),
                                                 q::format_number(*question.decode_rate, 4), weight_text(question)),
                                     std::string(decode_bound)}));
  }
  return limits;
}

/// Closes a question that leaves one degree of freedom.
void close(Solver& solver, const std::vector<ScaleLine>& limits, ScaleAnswer& answer) {
  const auto known = [&](Variable variable) { return solver[variable].has_value(); };
  const bool nothing = !known(Variable::params) && !known(Variable::tokens) && !known(Variable::compute);
  if (nothing && !limits.empty()) {
    const auto& tightest = *std::ranges::min_element(limits, {}, &ScaleLine::value);
    solver.set(Variable::params, {tightest.value, Origin::derived, tightest.why});
    solver.propagate();
  } else if (nothing) {
    solver.check_all_used();
    throw q::BadInput("scale", "there is nothing to scale from",
                      "give params, tokens or compute; or gpus, time, peak and mfu; or memory and a dtype");
  }
  if (known(Variable::params) && known(Variable::tokens)) return;
  Explanation why{"assumed", "20", std::string(hoffmann)};
  solver.set(Variable::ratio, {compute_optimal_ratio, Origin::assumed, std::move(why)});
  answer.assumptions.push_back("compute-optimal at 20 tokens a parameter (Hoffmann et al. 2022)");
  solver.propagate();
}

void add_known(const Solver& solver, Variable variable, ScaleAnswer& answer) {
  const auto& known = solver[variable];
  if (!known) return;
  const auto& f = facts(variable);
  answer.lines.push_back({f.id, f.label, known->value / f.unit, f.format(known->value), known->origin, known->why});
}

void add_pflop_days(const Solver& solver, ScaleAnswer& answer) {
  const auto work = q::flops(solver[Variable::compute]->value);
  const double value = q::in_pflop_days(work);
  answer.lines.push_back(
      {"compute_pflop_days",
       "compute",
       value,
       q::format_number(value, 4) + " PFLOP-days",
       Origin::derived,
       {"compute / 8.64e19", q::format_flops(work) + " / 8.64e19", "Brown et al. 2020, arXiv:2005.14165, appendix D"}});
}

void add_inference(const ScaleQuestion& question, double params, ScaleAnswer& answer) {
  if (!question.weight) return;
  const double weights = params * bytes_per_weight(question);
  const std::string product = facts(Variable::params).format(params) + " x " + weight_text(question);
  answer.lines.push_back({"weights_bytes",
                          "weights at inference",
                          weights,
                          q::format_number(weights / q::giga, 4) + " GB",
                          Origin::derived,
                          {"params x bytes of a weight", product, "definition"}});
  answer.assumptions.emplace_back("inference counts the weights alone: no KV cache, no activations, no runtime");
  if (!question.bandwidth || question.decode_rate) return;
  const double rate = q::in_bytes_per_second(*question.bandwidth) / weights;
  answer.lines.push_back(
      {"decode_tokens_per_s",
       "decoding at most",
       rate,
       q::format_number(rate, 4) + " tokens/s",
       Origin::derived,
       {"bandwidth / (params x bytes of a weight)", q::format_bandwidth(*question.bandwidth) + " / (" + product + ")",
        std::string(decode_bound)}});
}

}  // namespace

ScaleAnswer scale(const ScaleQuestion& question) {
  check_inference(question);
  auto limits = inference_limits(question);
  Solver solver = given_values(question);
  solver.propagate();
  ScaleAnswer answer;
  close(solver, limits, answer);
  solver.check_all_used();
  for (const auto variable : {Variable::params, Variable::tokens, Variable::ratio, Variable::compute}) {
    add_known(solver, variable, answer);
  }
  add_pflop_days(solver, answer);
  for (const auto variable : {Variable::gpu_time, Variable::gpus, Variable::time, Variable::mfu, Variable::peak}) {
    add_known(solver, variable, answer);
  }
  std::ranges::move(limits, std::back_inserter(answer.lines));
  add_inference(question, solver[Variable::params]->value, answer);
  return answer;
}

const ScaleLine* find_line(const ScaleAnswer& answer, std::string_view id) {
  const auto found = std::ranges::find(answer.lines, id, &ScaleLine::id);
  return found == answer.lines.end() ? nullptr : &*found;
}

}  // namespace llmcalc::answer
