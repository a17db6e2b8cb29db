#include "trust/time_error_bar.hpp"

#include "llmcalc/spec/question.hpp"
#include "trust/inner/measured_bars.hpp"

#include <algorithm>

namespace llmcalc::trust {

namespace {

bool is_mixture(const spec::Question& question) { return question.model.shape.moe.experts > 0; }

std::string_view generation_of(const spec::Question& question) {
  if (!question.gpu) return {};
  const std::string_view arch = question.gpu->arch;
  return arch.substr(0, arch.find(' '));
}

}  // namespace

TimeErrorBar time_error_bar(const spec::Question& question) {
  const auto framework = question.training.framework;
  const bool mixture = is_mixture(question);
  const auto generation = generation_of(question);
  const std::string_view kind = mixture ? "mixtures of experts" : "dense models";
  const spec::Bias& own = question.calibration.time;
  if (own.is_known()) return {own.bar, static_cast<int>(own.runs), true, "runs of your own", generation};
  const auto find = [&](std::string_view measured_on) {
    return std::ranges::find_if(measured_time(), [&](const MeasuredTime& r) {
      return r.framework == framework && r.mixture == mixture && r.generation == measured_on;
    });
  };
  const auto none = measured_time().end();
  if (const auto row = find(generation); row != none) return {row->share, row->runs, true, kind, row->generation};
  if (const auto row = find({}); row != none) return {row->share, row->runs, false, kind, generation};
  const auto family = frameworks::row_of(framework).memory_runs;
  const auto families = family_time();
  const auto wider =
      std::ranges::find_if(families, [&](const FamilyTime& r) { return r.family == family && r.mixture == mixture; });
  return {wider->share, wider->runs, false, kind, generation};
}

}  // namespace llmcalc::trust
