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

/// How far from their estimates runs were measured, as shares of the estimate: the two arms of an error bar.
struct Spread {
  double below = 0.0;
  double above = 0.0;

  friend bool operator==(const Spread&, const Spread&) = default;
};

struct Verdict {
  VerdictKind kind = VerdictKind::no_accelerator;
  quantity::Bytes capacity;  ///< of one accelerator
  quantity::Bytes needed;    ///< peak_needed: the likely figure
  Spread error;              ///< of `needed`; both 0: no error is claimed
  std::string error_source;  ///< the class of runs it was measured on, and how many
  Spread shown;              ///< the same for what nvidia-smi shows, which counts blocks that are only cached
  quantity::Bytes low;
  quantity::Bytes high;
};

}  // namespace llmcalc::answer
