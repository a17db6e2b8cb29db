// Whether a run fits, and how sure that is.
#pragma once

#include "llmcalc/trust/verdict_kind.hpp"

#include <string>

namespace llmcalc::answer {

struct Verdict {
  trust::VerdictKind kind = trust::VerdictKind::no_accelerator;
  trust::Doubt doubt = trust::Doubt::none;  ///< where it is tight
  quantity::Bytes capacity;                 ///< of one accelerator
  quantity::Bytes needed;                   ///< peak_needed: the likely figure
  trust::Spread error;                      ///< of `needed`; both 0: no error is claimed
  std::string error_source;                 ///< the class of runs it was measured on, and how many
  trust::Spread reserved;                   ///< the same for what the allocator holds
  trust::Spread shown;  ///< the same for what nvidia-smi shows, which counts blocks that are only cached
  quantity::Bytes low;
  quantity::Bytes high;
  quantity::Bytes host_capacity;  ///< of one machine; 0 where nobody says it and no accelerator is named
  quantity::Bytes host_needed;    ///< by its ranks together, for what is offloaded
};

}  // namespace llmcalc::answer
