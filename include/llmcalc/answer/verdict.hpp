// Whether a run fits, and how sure that is.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <string>

namespace llmcalc::answer {

enum class VerdictKind {
  fits,   ///< the high end of the error bar is within the capacity
  tight,  ///< the likely figure is, the high end is not
  does_not_fit,
  no_accelerator
};

struct Verdict {
  VerdictKind kind = VerdictKind::no_accelerator;
  quantity::Bytes capacity;  ///< of one accelerator
  quantity::Bytes needed;    ///< peak_needed: the likely figure
  double error_share = 0.0;  ///< half width of the error bar as a share of `needed`
  std::string error_source;  ///< the class of runs it was measured on, and how many
  double shown_share = 0.0;  ///< the same for what nvidia-smi shows, which counts blocks that are only cached
  quantity::Bytes low;
  quantity::Bytes high;
};

}  // namespace llmcalc::answer
