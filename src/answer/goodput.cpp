#include "llmcalc/timing/goodput.hpp"

#include "answer/parts.hpp"
#include "llmcalc/quantity/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::answer {

using quantity::format_duration;
using quantity::Seconds;

namespace {

/// Below, failures come faster than the run gets going again, and a thousandfold wall time tells nobody anything.
constexpr double least_share = 1e-3;

quantity::Bandwidth storage_bandwidth(const spec::Question& question) {
  return question.reliability.checkpoint_bandwidth.value_or(static_cast<double>(question.layout.nodes) *
                                                            timing::default_storage_bandwidth_per_node);
}

std::string since(Seconds mtbf) { return std::isinf(quantity::in_seconds(mtbf)) ? "infinite" : format_duration(mtbf); }

/// What each input rests on: the person's word or a default's source.
std::string sources(const spec::Reliability& given) {
  const auto of = [](bool stated, std::string_view source) { return stated ? std::string_view("as given") : source; };
  return fmt::format("Daly 2006, doi:10.1016/j.future.2004.11.016 equations 20 and 37; M: {}; d: {}; R: {}",
                     of(given.mtbf.has_value(), timing::default_mtbf_source),
                     of(given.checkpoint_bandwidth.has_value(), timing::default_storage_source),
                     of(given.restart_time.has_value(), timing::default_restart_source));
}

Explanation explain(const spec::Question& question, const Goodput& goodput) {
  return {"t / (M exp(R/M) (exp((t + d)/M) - 1))",
          fmt::format("t = {} between checkpoints, d = {} / {} = {}, M = {}, R = {}", format_duration(goodput.interval),
                      quantity::format_gigabytes(goodput.checkpoint),
                      quantity::format_bandwidth(storage_bandwidth(question)), format_duration(goodput.save),
                      since(goodput.mtbf), format_duration(goodput.restart)),
          sources(question.reliability)};
}

}  // namespace

Goodput goodput(const spec::Question& question, const program::Program& program, Seconds step, Seconds useful) {
  const auto& given = question.reliability;
  Goodput answer;
  answer.stated = given.stated();
  answer.checkpoint = timing::checkpoint_size(program, question.training);
  answer.save = answer.checkpoint / storage_bandwidth(question);
  answer.restart = given.restart_time.value_or(timing::default_restart);
  answer.mtbf = given.mtbf.value_or(timing::default_mtbf) / static_cast<double>(question.layout.gpus);
  const Seconds best = std::max(step, timing::best_interval(answer.save, answer.mtbf));
  answer.interval = std::min(given.checkpoint_interval.value_or(best), useful);
  // The last checkpoint is the run's result and no loss, so n segments have n - 1 saves.
  const Seconds mean_save = (1.0 - answer.interval / useful) * answer.save;
  const double share = timing::goodput(answer.interval, mean_save, answer.mtbf, answer.restart);
  answer.share = share >= least_share ? share : 0.0;
  answer.failures = useful / answer.share / answer.mtbf;
  answer.why = explain(question, answer);
  return answer;
}

}  // namespace llmcalc::answer
