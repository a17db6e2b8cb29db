#include "timing/goodput.hpp"

#include "answer/inner/parts.hpp"
#include "answer/wall_clock.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/format.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::answer {

using quantity::format_duration;
using quantity::Seconds;

namespace {

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
  const WallClock clock = wall_clock(question, program);
  Goodput answer;
  answer.stated = question.reliability.stated();
  answer.checkpoint = clock.checkpoint;
  answer.save = clock.save;
  answer.restart = clock.restart;
  answer.mtbf = clock.mtbf;
  answer.interval = clock.segment(step, useful);
  answer.share = clock.share(step, useful);
  answer.failures = useful / answer.share / answer.mtbf;
  answer.why = explain(question, answer);
  return answer;
}

}  // namespace llmcalc::answer
