#include "answer/wall_clock.hpp"

#include "llmcalc/spec/question.hpp"
#include "timing/goodput.hpp"

#include <algorithm>

namespace llmcalc::answer {

using quantity::Seconds;

namespace {

/// Below, failures come faster than the run gets going again, and a thousandfold wall time tells nobody anything.
constexpr double least_share = 1e-3;

}  // namespace

quantity::Bandwidth storage_bandwidth(const spec::Question& question) {
  return question.reliability.checkpoint_bandwidth.value_or(static_cast<double>(question.layout.nodes) *
                                                            timing::default_storage_bandwidth_per_node);
}

WallClock wall_clock(const spec::Question& question, const program::Program& program) {
  const auto& given = question.reliability;
  WallClock clock;
  clock.checkpoint = timing::checkpoint_size(program, question.training);
  clock.save = clock.checkpoint / storage_bandwidth(question);
  clock.restart = given.restart_time.value_or(timing::default_restart);
  clock.mtbf = given.mtbf.value_or(timing::default_mtbf) / static_cast<double>(question.layout.gpus);
  clock.stated_interval = given.checkpoint_interval.has_value();
  clock.interval = given.checkpoint_interval.value_or(timing::best_interval(clock.save, clock.mtbf));
  clock.long_run_ends = timing::goodput(clock.interval, clock.save, clock.mtbf, clock.restart) >= least_share;
  return clock;
}

Seconds WallClock::segment(Seconds step, Seconds useful) const {
  return std::min(stated_interval ? interval : std::max(step, interval), useful);
}

/// The last checkpoint is the run's result and no loss, so n segments have n - 1 saves.
double WallClock::share(Seconds step, Seconds useful) const {
  const Seconds between = segment(step, useful);
  const Seconds mean_save = (1.0 - between / useful) * save;
  const double share = timing::goodput(between, mean_save, mtbf, restart);
  return share >= least_share ? share : 0.0;
}

}  // namespace llmcalc::answer
