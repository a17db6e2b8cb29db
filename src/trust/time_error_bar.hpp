// How far off predicted step times of a class of runs were.
#pragma once

#include <string_view>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::trust {

struct TimeErrorBar {
  double share = 0.0;     ///< half width as a share of the prediction
  int runs = 0;           ///< measured ones of this kind, or of its family
  bool measured = false;  ///< runs of the framework itself on this generation; otherwise the bar is wider
  std::string_view kind;  ///< "dense models"
  std::string_view generation;
};

/// How much further off predictions are of a generation that is told by the one before. Of steps that were measured on
/// Blackwell, told by Hopper's rates, the 90th percentile is 1.26 times as wide, and on Hopper, told by Ampere's, 1.36
/// times (tests/measured/time); time to each token of servers 1.42 and 1.39 times (tests/measured/serving).
inline constexpr double wider_by_generation = 1.5;

/// The same of llama.cpp: Hopper told by Ampere's 2.07 times, Blackwell by Hopper's no wider.
inline constexpr double ggml_wider_by_generation = 2.1;

TimeErrorBar time_error_bar(const spec::Question& question);

}  // namespace llmcalc::trust
