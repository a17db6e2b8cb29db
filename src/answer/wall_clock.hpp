// What failures and checkpoints make of a run's useful time. It is the same for all layouts of a run.
#pragma once

#include "program/program.hpp"

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::answer {

struct WallClock {
  quantity::Bytes checkpoint;
  quantity::Seconds save;      ///< one checkpoint
  quantity::Seconds interval;  ///< training between two, as said or as loses least
  bool stated_interval = false;
  quantity::Seconds restart;
  quantity::Seconds mtbf;      ///< of the whole run; infinite: nothing fails
  bool long_run_ends = false;  ///< of the longest run, of which each interval is saved, some share is useful

  /// Training between two checkpoints: a step at least where nobody says, and no more than there is.
  quantity::Seconds segment(quantity::Seconds step, quantity::Seconds useful) const;
  /// Useful over wall time; 0: failures come faster than the run can restart.
  double share(quantity::Seconds step, quantity::Seconds useful) const;
  /// Whether a run of such steps ends, however many there are; false where that depends on their number.
  bool surely_ends(quantity::Seconds step) const { return long_run_ends && (stated_interval || step <= interval); }
};

WallClock wall_clock(const spec::Question& question, const program::Program& program);

/// Of all ranks together.
quantity::Bandwidth storage_bandwidth(const spec::Question& question);

}  // namespace llmcalc::answer
