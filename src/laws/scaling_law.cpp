// The laws: losses, optima and their neighbours, batch sizes and learning rates.

#include "laws/scaling_law.hpp"

#include "laws/inner/curves.hpp"
#include "laws/inner/scaling_section.hpp"
#include "laws/scaling.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/elementary.hpp"
#include "quantity/lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace llmcalc::laws {

double critical_batch(double compute) {
  const double loss = *optimum_at({ScalingLaw::kaplan}, compute).loss;
  return 2.1e8 / quantity::pow(loss, 1.0 / 0.21);
}

BatchPrice batch_price(double batch, double critical) { return {1.0 + batch / critical, 1.0 + critical / batch}; }

double deepseek_batch(double compute) { return 0.2920 * quantity::pow(compute, 0.3271); }

double deepseek_learning_rate(double compute) { return 0.3118 * quantity::pow(compute, -0.1250); }

namespace {

constexpr double share_of_ceiling = 0.5;

/// Median bf16 ceiling of the twelve parts measured with the MAMF finder (stas00/ml-engineering,
/// compute/accelerator/README.md).
constexpr double median_ceiling = 0.78;

}  // namespace

Usual usual_mfu(const spec::Accelerator& gpu) {
  const double ceiling = gpu.matmul_ceiling.value_or(median_ceiling);
  const std::string origin =
      gpu.matmul_ceiling ? fmt::format("{:.1f} % of peak measured, {}", 100.0 * ceiling, gpu.matmul_ceiling_source)
                         : fmt::format("{:.0f} % of peak, the median of measured parts", 100.0 * ceiling);
  return {share_of_ceiling * ceiling, fmt::format("half of the matrix-product ceiling ({})", origin)};
}

namespace {

double balance(const LossSurface& s) { return quantity::pow(s.alpha * s.a / (s.beta * s.b), 1.0 / (s.alpha + s.beta)); }

}  // namespace

double reducible_loss(const LossSurface& surface, const Allocation& split) {
  return surface.a / quantity::pow(split.params, surface.alpha) + surface.b / quantity::pow(split.tokens, surface.beta);
}

Allocation optimum(const LossSurface& surface, double compute) {
  const double product = compute / training_flops;
  const double params = balance(surface) * quantity::pow(product, surface.beta / (surface.alpha + surface.beta));
  return {params, product / params};
}

double optimal_params(const LossSurface& surface, double tokens) {
  const double g = balance(surface);
  return g * quantity::pow(g * tokens, surface.beta / surface.alpha);
}

namespace {

// Sizes in powers of two and budgets in half powers of ten around the optimum.
constexpr std::array size_exponents{-3, -2, -1, 0, 1, 2, 3};
constexpr std::array neighbour_exponents{-1, 0, 1};
constexpr std::array budget_exponents{-4, -3, -2, -1, 0, 1, 2, 3, 4};

FrontierPoint size_point(const KnownRun& run, const Optimum& best, double params) {
  const double compute = run.split.compute();
  const Allocation split{params, compute / (training_flops * params)};
  FrontierPoint point{split, loss_of(run.choice, split), params == best.split.params, std::nullopt};
  if (const auto tokens = tokens_for_loss(run.choice, params, *best.loss)) {
    point.same_loss_compute = Allocation{params, *tokens}.compute() / compute;
  }
  return point;
}

std::vector<FrontierPoint> sizes_around(const KnownRun& run, std::span<const int> exponents) {
  const auto best = optimum_at(run.choice, run.split.compute());
  std::vector<FrontierPoint> points;
  for (const int exponent : exponents) {
    const auto point = size_point(run, best, best.split.params * quantity::exp2(exponent));
    if (countable(point.split)) points.push_back(point);
  }
  return points;
}

}  // namespace

std::vector<FrontierPoint> neighbours(const KnownRun& run) { return sizes_around(run, neighbour_exponents); }

std::vector<FrontierPoint> frontier(Frontier which, const KnownRun& run) {
  const double compute = run.split.compute();
  std::vector<FrontierPoint> points;
  if (which == Frontier::budgets) {
    for (const int exponent : budget_exponents) {
      const auto best = optimum_at(run.choice, compute * quantity::pow(10.0, exponent / 2.0));
      if (countable(best.split)) points.push_back({best.split, best.loss, exponent == 0, std::nullopt});
    }
    return points;
  }
  const auto& law = facts(run.choice.law);
  if (!law.surface) {
    throw quantity::BadInput("frontier", fmt::format("the law {} says nothing of sizes beside the best", law.name),
                             "ask for budgets, or for the law chinchilla or data-constrained");
  }
  return sizes_around(run, size_exponents);
}

namespace {

constexpr double pflop_day = 8.64e19;

// The refit of Hoffmann et al.'s third approach. Their own rounded constants (E = 1.69, A = 406.4, B = 410.7,
// alpha = 0.34, beta = 0.28) contradict their other two approaches and the model they built, and are not used.
constexpr LossSurface chinchilla_refit{1.8172, 482.01, 0.3478, 2085.43, 0.3658};

double chinchilla_loss(const Allocation& split, double /*unique_tokens*/) {
  return chinchilla_refit.irreducible + reducible_loss(chinchilla_refit, split);
}

Allocation chinchilla_optimum(double compute, double /*unique_tokens*/) { return optimum(chinchilla_refit, compute); }

// Kaplan et al. 2020, table 2: the joint fit of L(N, D).
constexpr double kaplan_alpha_n = 0.076;
constexpr double kaplan_alpha_d = 0.103;
constexpr double kaplan_critical_params = 6.4e13;
constexpr double kaplan_critical_tokens = 1.8e13;

double kaplan_loss(const Allocation& split, double /*unique_tokens*/) {
  const double by_size = quantity::pow(kaplan_critical_params / split.params, kaplan_alpha_n / kaplan_alpha_d);
  return quantity::pow(by_size + kaplan_critical_tokens / split.tokens, kaplan_alpha_d);
}

// Kaplan et al. 2020, table 6: N = 1.3e9 C^0.73 with C in PFLOP-days, at batches far below the critical one.
Allocation kaplan_optimum(double compute, double /*unique_tokens*/) {
  const double params = 1.3e9 * quantity::pow(compute / pflop_day, 0.73);
  return {params, compute / (training_flops * params)};
}

// Grattafiori et al. 2024, section 3.2.1: D = A C^alpha, which at 3.8e25 FLOP is 16.55T tokens. The text's (alpha, A) =
// (0.53, 0.29) are rounded and give 10.5T there; the legend of figure 3 has (0.537, 0.299), which give 16.3T. This is
// that exponent through the stated point.
Allocation llama_3_optimum(double compute, double /*unique_tokens*/) {
  const double tokens = 16.55e12 * quantity::pow(compute / 3.8e25, 0.537);
  return {compute / (training_flops * tokens), tokens};
}

// Muennighoff et al. 2023, appendix A: fitted on C4; published are the logarithms of E (0.6254804), A (6.255414) and
// B (7.3049974).
constexpr LossSurface c4_fit{1.8691437, 520.82495, 0.3526596, 1487.7161, 0.3526596};
constexpr double repeated_tokens_worth = 15.387756;
constexpr double excess_params_worth = 5.309743;

/// U + U R* (1 - exp(-R / R*)), equations 5 and 6.
double worth(double amount, double unique, double decay) {
  if (amount <= unique) return amount;
  return unique - unique * decay * quantity::expm1(-(amount / unique - 1.0) / decay);
}

/// Equation 6 for parameters: those beyond the optimum of the unique data lose value as repeated tokens do.
double data_constrained_reducible(const Allocation& split, double unique_tokens) {
  const double unique_params = optimal_params(c4_fit, std::min(split.tokens, unique_tokens));
  return reducible_loss(
      c4_fit, {worth(split.params, unique_params, excess_params_worth), effective_tokens(split.tokens, unique_tokens)});
}

double data_constrained_loss(const Allocation& split, double unique_tokens) {
  return c4_fit.irreducible + data_constrained_reducible(split, unique_tokens);
}

Allocation data_constrained_optimum(double compute, double unique_tokens) {
  const auto split = [compute](double params) { return Allocation{params, compute / (training_flops * params)}; };
  return split(lowest([&](double params) { return data_constrained_reducible(split(params), unique_tokens); },
                      search_min, compute / training_flops));
}

/// Kaplan et al. 2020, equation 1.3: the loss of the compute-efficient model.
double kaplan_efficient_loss(double compute) { return quantity::pow(3.1e8 / (compute / pflop_day), 0.050); }

constexpr LawFacts laws[] = {
#include "laws/laws.inc"
};

struct Rules {
  double (*loss)(const Allocation& split, double unique_tokens);
  Allocation (*optimum)(double compute, double unique_tokens);
  double (*loss_at_optimum)(double compute);  ///< where it is not that of the split
};

// In the order of ScalingLaw, as the facts.
constexpr std::array<Rules, std::size(laws)> rules{{
    {chinchilla_loss, chinchilla_optimum, nullptr},
    {kaplan_loss, kaplan_optimum, kaplan_efficient_loss},
    {nullptr, llama_3_optimum, nullptr},
    {data_constrained_loss, data_constrained_optimum, nullptr},
}};

const Rules& rules_of(ScalingLaw law) { return rules.at(static_cast<std::size_t>(law)); }

/// The smallest amount from which on a rising function of it reaches `target`; empty where none does.
template <class Function>
std::optional<double> reach(Function rising, double target) {
  if (rising(search_max) < target) return std::nullopt;
  return crossing(rising, target);
}

}  // namespace

std::span<const LawFacts> scaling_laws() { return laws; }

const LawFacts& facts(ScalingLaw law) { return *quantity::find_or_null(laws, law, &LawFacts::law); }

std::optional<double> loss_of(const LawChoice& choice, const Allocation& split) {
  const auto loss = rules_of(choice.law).loss;
  return loss == nullptr ? std::nullopt : std::optional(loss(split, choice.unique_tokens));
}

Optimum optimum_at(const LawChoice& choice, double compute) {
  const auto& law = rules_of(choice.law);
  const auto split = law.optimum(compute, choice.unique_tokens);
  if (law.loss_at_optimum != nullptr) return {split, law.loss_at_optimum(compute)};
  return {split, loss_of(choice, split)};
}

double compute_for_params(const LawChoice& choice, double params) {
  return crossing([&](double compute) { return optimum_at(choice, compute).split.params; }, params);
}

double compute_for_tokens(const LawChoice& choice, double tokens) {
  return crossing([&](double compute) { return optimum_at(choice, compute).split.tokens; }, tokens);
}

std::optional<double> compute_for_loss(const LawChoice& choice, double loss) {
  if (rules_of(choice.law).loss == nullptr) return std::nullopt;
  return reach([&](double compute) { return -*optimum_at(choice, compute).loss; }, -loss);
}

std::optional<double> tokens_for_loss(const LawChoice& choice, double params, double loss) {
  if (rules_of(choice.law).loss == nullptr) return std::nullopt;
  return reach([&](double tokens) { return -*loss_of(choice, {params, tokens}); }, -loss);
}

std::optional<double> params_for_loss(const LawChoice& choice, double tokens, double loss) {
  if (rules_of(choice.law).loss == nullptr) return std::nullopt;
  return reach([&](double params) { return -*loss_of(choice, {params, tokens}); }, -loss);
}

double effective_tokens(double tokens, double unique_tokens) {
  return worth(tokens, unique_tokens, repeated_tokens_worth);
}

}  // namespace llmcalc::laws
