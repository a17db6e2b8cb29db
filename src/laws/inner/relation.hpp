// A small solver: quantities tied by products of powers, each found from the others.
//
// A new law of scaling that has this form is one more row of the table in relation.cpp.
#pragma once

#include "laws/scaling.hpp"
#include "llmcalc/answer/estimate.hpp"

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::laws {

enum class Variable {
  params,
  tokens,
  ratio,
  unique_tokens,
  epochs,
  compute,
  gpu_time,
  gpus,
  time,
  mfu,
  peak,
  price,
  cost
};
inline constexpr std::size_t variable_count = 13;

struct VariableFacts {
  Variable variable;
  std::string_view name;  ///< in formulas and messages, as the option is called
  std::string_view id;    ///< of its line
  std::string_view label;
  double unit;  ///< of the line, in the base unit (FLOP, FLOP/s, seconds, dollars, dollars per second)
  double max;
  std::string (*format)(double value);
};

const VariableFacts& facts(Variable variable);

/// A value in the unit and form of its variable.
std::string text_of(Variable variable, double value);

/// \throws quantity::BadInput for a value that is there but no finite number above 0
void require_positive(std::string_view name, std::optional<double> value);

struct Known {
  double value = 0.0;
  Standing origin = Standing::given;
  answer::Explanation why;
};

/// Solver of what follows from the facts known so far.
class Solver {
 public:
  /// \throws quantity::BadInput when the value is not a number above 0 and within the variable's range
  void set(Variable variable, Known known);
  const std::optional<Known>& operator[](Variable variable) const { return known_[index(variable)]; }
  bool knows(Variable variable) const { return known_[index(variable)].has_value(); }

  /// Uses every relation in which one variable is unknown until there is none.
  /// \throws quantity::BadInput when a relation whose variables are all known does not hold
  void propagate();

  /// \throws quantity::BadInput naming what is missing, when a value that was given took part in no relation
  void check_all_used() const;

 private:
  static constexpr std::size_t index(Variable variable) { return static_cast<std::size_t>(variable); }
  void use(std::size_t number);  // of a relation; \pre at most one unknown in it
  std::vector<Variable> unknown_in(std::size_t relation) const;
  bool takes_part(Variable variable) const;
  std::vector<std::string_view> unknown_costs(Variable unused) const;

  std::array<std::optional<Known>, variable_count> known_;
  std::uint32_t used_ = 0;  ///< one bit for each relation
};

}  // namespace llmcalc::laws
