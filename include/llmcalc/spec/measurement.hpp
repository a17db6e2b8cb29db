// What can be measured of a run.
#pragma once

namespace llmcalc::spec {

enum class Measure {
  peak_allocated,  ///< torch.cuda.max_memory_allocated
  peak_reserved,   ///< torch.cuda.max_memory_reserved
  nvidia_smi,      ///< what the driver shows for the card
  persistent,      ///< allocated between two steps
  fits,            ///< it ran
  oom,             ///< it ran out of memory
  step_time,
  tokens_per_gpu,
};

/// The optimizer step that was watched; the first has no optimizer states before its end.
enum class Step { steady, first };

/// Only whether the run fitted was measured.
constexpr bool is_verdict(Measure measure) { return measure == Measure::fits || measure == Measure::oom; }

/// A number of bytes was measured.
constexpr bool is_memory(Measure measure) { return measure <= Measure::persistent; }

}  // namespace llmcalc::spec
