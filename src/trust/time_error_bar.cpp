#include "trust/time_error_bar.hpp"

#include "llmcalc/spec/question.hpp"
#include "trust/inner/measured_bars.hpp"

#include <algorithm>

namespace llmcalc::trust {

namespace {

bool is_mixture(const spec::Question& question) { return question.model.shape.moe.experts > 0; }

std::string_view first_word(std::string_view arch) { return arch.substr(0, arch.find(' ')); }

std::string_view generation_of(const spec::Question& question) {
  return question.gpu ? first_word(question.gpu->arch) : std::string_view();
}

const MeasuredTime* measured_on(const spec::Question& question, std::string_view generation) {
  const bool mixture = is_mixture(question);
  const auto rows = measured_time();
  const auto row = std::ranges::find_if(rows, [&](const MeasuredTime& r) {
    return r.framework == question.training.framework && r.mixture == mixture && r.generation == generation;
  });
  return row == rows.end() ? nullptr : &*row;
}

const FamilyTime& family_of(const spec::Question& question) {
  const auto family = frameworks::row_of(question.training.framework).memory_runs;
  const bool mixture = is_mixture(question);
  return *std::ranges::find_if(family_time(),
                               [&](const FamilyTime& r) { return r.family == family && r.mixture == mixture; });
}

/// Of runs like it on whatever was measured.
TimeErrorBar unmeasured_bar(const spec::Question& question, std::string_view kind) {
  const auto generation = generation_of(question);
  if (const auto* row = measured_on(question, {})) return {row->share, row->runs, false, kind, generation};
  const FamilyTime& family = family_of(question);
  return {family.share, family.runs, false, kind, generation};
}

}  // namespace

TimeErrorBar time_error_bar(const spec::Question& question) {
  const auto generation = generation_of(question);
  const std::string_view kind = is_mixture(question) ? "mixtures of experts" : "dense models";
  const spec::Bias& own = question.calibration.time;
  if (own.is_known()) return {own.bar, static_cast<int>(own.runs), true, "runs of your own", generation};
  if (const auto* row = measured_on(question, generation)) return {row->share, row->runs, true, kind, row->generation};
  TimeErrorBar bar = unmeasured_bar(question, kind);
  if (!question.gpu || !question.gpu->generation.is_nearest) return bar;
  if (const auto* row = measured_on(question, first_word(question.gpu->generation.arch))) {
    bar.share = std::max(bar.share, row->share);
  }
  bar.share *= wider_by_generation;
  return bar;
}

}  // namespace llmcalc::trust
