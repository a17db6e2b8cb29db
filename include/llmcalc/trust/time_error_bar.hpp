// How far off predicted step times of a class of runs were.
#pragma once

#include "llmcalc/spec/question.hpp"

#include <string_view>

namespace llmcalc::trust {

struct TimeErrorBar {
  std::string_view name;  ///< "Megatron, dense"
  double share = 0.0;     ///< half width as a share of the prediction
  int runs = 0;
};

const TimeErrorBar& time_error_bar(const spec::Question& question);

}  // namespace llmcalc::trust
