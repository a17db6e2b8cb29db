// The lines of one section of an answer about scaling.
#pragma once

#include "laws/inner/relation.hpp"
#include "laws/scaling.hpp"

#include <initializer_list>
#include <string>
#include <string_view>
#include <utility>

namespace llmcalc::laws {

/// What stands for the words of a formula.
using Numbers = std::initializer_list<std::pair<std::string_view, std::string>>;

class Section {
 public:
  Section(ScaleSection section, std::string_view source, ScaleAnswer& answer)
      : section_(section), source_(source), answer_(answer) {}

  /// \throws quantity::BadInput when the value is beyond counting
  void add(std::string_view id, std::string_view label, double value, std::string text, std::string_view formula,
           Numbers numbers = {});

  /// A line in the unit and form of a variable.
  void add(std::string_view id, Variable variable, double value, std::string_view formula, Numbers numbers = {});

 private:
  ScaleSection section_;
  std::string source_;
  ScaleAnswer& answer_;
};

/// "2.049 nats per token"
std::string loss_text(double loss);

/// Not below 0, where rounding leaves nothing to gain.
double at_least_none(double share);

}  // namespace llmcalc::laws
