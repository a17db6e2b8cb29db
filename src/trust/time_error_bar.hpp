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

TimeErrorBar time_error_bar(const spec::Question& question);

}  // namespace llmcalc::trust
