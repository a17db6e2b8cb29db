#include "laws/inner/relation.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/elementary.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cmath>
#include <cstdlib>
#include <span>

namespace llmcalc::laws {

namespace {

using enum Variable;
namespace q = quantity;

struct Factor {
  Variable variable;
  int power;
};

/// 1 = constant x product of factors; the first factor is the left-hand side of the usual way to write it.
struct Relation {
  double constant;
  std::span<const Factor> factors;
  std::string_view source;
};

constexpr std::string_view kaplan = "Kaplan et al. 2020, arXiv:2001.08361, section 2.1: 2PD forward, 4PD backward";
constexpr std::string_view hoffmann = "Hoffmann et al. 2022, arXiv:2203.15556, table 3: about 20 tokens a parameter";
constexpr std::string_view muennighoff = "Muennighoff et al. 2023, arXiv:2305.16264: an epoch sees all unique tokens";
constexpr std::string_view mfu_definition = "Chowdhery et al. 2022, arXiv:2204.02311, appendix B: definition of MFU";

constexpr Factor six_p_d[] = {{compute, -1}, {params, 1}, {tokens, 1}};
constexpr Factor data_for_model[] = {{tokens, -1}, {ratio, 1}, {params, 1}};
constexpr Factor model_for_compute[] = {{compute, -1}, {ratio, 1}, {params, 2}};
constexpr Factor utilization[] = {{compute, -1}, {gpu_time, 1}, {peak, 1}, {mfu, 1}};
constexpr Factor fleet[] = {{gpu_time, -1}, {gpus, 1}, {time, 1}};
constexpr Factor repetition[] = {{tokens, -1}, {epochs, 1}, {unique_tokens, 1}};
constexpr Factor bill[] = {{cost, -1}, {gpu_time, 1}, {price, 1}};

constexpr std::array relations{
    Relation{training_flops, six_p_d, kaplan},
    Relation{1.0, data_for_model, hoffmann},
    Relation{training_flops, model_for_compute, hoffmann},
    Relation{1.0, utilization, mfu_definition},
    Relation{1.0, fleet, "definition"},
    Relation{1.0, repetition, muennighoff},
    Relation{1.0, bill, "definition"},
};

constexpr double rounding_of_published_figures = 0.05;  // Chinchilla's 5.76e23 is 2 % below 6 x 70B x 1.4T

// Two GPUs that are needed by rounding of the last place are two, not three.
constexpr double whole_gpu_slack = 1e-9;

std::string plain(double value) { return q::format_number(value, 4); }

std::string hours_text(double seconds) {
  constexpr double fraction_matters_below = 100.0;
  const double hours = seconds / q::seconds_per_hour;
  return (hours < fraction_matters_below ? plain(hours) : q::format_count(std::llround(hours))) + " GPU-hours";
}

std::string an_hour(double price) { return q::format_rate_of_money(q::dollars(price * q::seconds_per_hour)) + "/h"; }

constexpr double any_double = 1e300;
constexpr double any_integer = 9.2e18;  // below 2^63

constexpr std::array<VariableFacts, variable_count> variables{{
#include "laws/variables.inc"
}};

std::string name_of(Variable variable) { return std::string(facts(variable).name); }

/// The right-hand side of "unknown = ..." with each variable written by `text`.
template <class Text>
std::string expression(const Relation& relation, Variable unknown, Text text) {
  const auto& left = relation.factors.front();
  std::vector<std::string> product;
  if (relation.constant != 1.0) product.push_back(plain(relation.constant));
  int power = 1;
  for (const auto& factor : relation.factors) {
    if (factor.variable == unknown) {
      power = std::abs(factor.power);
    } else if (factor.variable != left.variable) {
      product.push_back(text(factor.variable) + (factor.power == 2 ? "^2" : ""));
    }
  }
  std::string right = fmt::format("{}", fmt::join(product, " x "));
  if (unknown == left.variable) return right;
  if (product.size() > 1) right = "(" + right + ")";
  const std::string quotient = text(left.variable) + " / " + right;
  return power == 2 ? "sqrt(" + quotient + ")" : quotient;
}

template <class Text>
answer::Explanation explained(const Relation& relation, Variable solved, Text text) {
  return {expression(relation, solved, name_of), expression(relation, solved, text), std::string(relation.source)};
}

/// \param made  what the other factors make of the first one
template <class Text>
[[noreturn]] void refuse(const Relation& relation, double made, Text text) {
  const auto left = relation.factors.front().variable;
  throw q::BadInput(
      name_of(left),
      fmt::format("{} contradicts {} = {}, which makes {}", text(left), expression(relation, left, name_of),
                  expression(relation, left, text), text_of(left, made)),
      "leave one of them out");
}

}  // namespace

const VariableFacts& facts(Variable variable) { return variables.at(static_cast<std::size_t>(variable)); }

std::string text_of(Variable variable, double value) { return facts(variable).format(value); }

void require_positive(std::string_view name, std::optional<double> value) {
  if (!value || (std::isfinite(*value) && *value > 0.0)) return;
  throw q::BadInput(std::string(name), fmt::format("{:.4g} is not a finite number above 0", *value));
}

void Solver::set(Variable variable, Known known) {
  const auto& f = facts(variable);
  if (!(known.value > 0.0 && known.value <= f.max)) {
    const std::string origin = known.why.numbers.empty() ? "" : " = " + known.why.numbers;
    throw q::BadInput(std::string(f.name),
                      fmt::format("{:.4g}{} is not above 0 and at most {:.3g}", known.value, origin, f.max));
  }
  known_[index(variable)] = std::move(known);
}

void Solver::propagate() {
  // From the top after each step, so that the plainest relation that can explain a value does.
  for (std::size_t i = 0; i < relations.size();) {
    const auto bit = std::uint32_t{1} << i;
    if ((used_ & bit) != 0 || unknown_in(i).size() > 1) {
      ++i;
      continue;
    }
    use(i);
    used_ |= bit;
    i = 0;
  }
}

std::vector<Variable> Solver::unknown_in(std::size_t relation) const {
  const auto is_unknown = [&](const Factor& factor) { return !known_[index(factor.variable)]; };
  return quantity::mapped_if(relations.at(relation).factors, &Factor::variable, is_unknown);
}

void Solver::use(std::size_t number) {
  const auto& relation = relations.at(number);
  std::optional<Factor> unknown;
  double product = relation.constant;
  for (const auto& factor : relation.factors) {
    const auto& known = known_[index(factor.variable)];
    if (known) {
      product *= quantity::pow(known->value, factor.power);
    } else {
      unknown = factor;
    }
  }
  const auto text = [this](Variable v) { return text_of(v, known_[index(v)]->value); };
  if (unknown) {
    const auto solved = unknown->variable;
    double value = quantity::pow(product, -1.0 / unknown->power);
    if (solved == gpus) value = std::ceil(value * (1.0 - whole_gpu_slack));
    set(solved, {value, Standing::derived, explained(relation, solved, text)});
  } else if (std::abs(product - 1.0) > rounding_of_published_figures) {
    const auto left = relation.factors.front().variable;
    refuse(relation, known_[index(left)]->value * product, text);
  }
}

void Solver::check_all_used() const {
  for (const auto& f : variables) {
    const bool rate = f.variable == mfu || f.variable == peak || f.variable == price;
    if (rate || !known_[index(f.variable)] || takes_part(f.variable)) continue;
    if (f.variable == unique_tokens || f.variable == epochs) {
      throw q::BadInput(std::string(f.name), "nothing follows from it alone", "give params, tokens or compute with it");
    }
    const auto missing = unknown_costs(f.variable);
    throw q::BadInput(std::string(f.name), "nothing follows from it alone",
                      fmt::format("give all but one of {}", fmt::join(missing, ", ")));
  }
}

bool Solver::takes_part(Variable variable) const {
  for (std::size_t i = 0; i < relations.size(); ++i) {
    const bool used = (used_ >> i & 1) != 0;
    if (used && quantity::contains(relations.at(i).factors, variable, &Factor::variable)) return true;
  }
  return false;
}

constexpr Variable parts_of_cost[] = {compute, gpus, time, peak, mfu, price};

std::vector<std::string_view> Solver::unknown_costs(Variable unused) const {
  const auto is_unknown = [&](Variable v) { return (v != price || unused == cost) && !known_[index(v)]; };
  return quantity::mapped_if(
      parts_of_cost, [](Variable v) { return facts(v).name; }, is_unknown);
}

}  // namespace llmcalc::laws
