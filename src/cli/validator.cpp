#include "cli/validator.hpp"

#include "llmcalc/answer/measured_figure.hpp"
#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/read/resolve.hpp"

#include <cstdint>
#include <exception>
#include <optional>
#include <utility>

namespace llmcalc::cli {
namespace {

/// "FILE:LINE:COLUMN: problem" without file and line, which a contradiction names again, so that equal reasons are
/// counted together.
std::string reason_of(const quantity::BadInput& error) {
  const std::string& place = error.place();
  const std::string row = place.substr(0, place.rfind(':') + 1);
  std::string problem = error.problem();
  constexpr auto nowhere = std::string::npos;
  for (std::size_t at = row.empty() ? nowhere : problem.find(row); at != nowhere; at = problem.find(row, at)) {
    problem.erase(at, row.size());
  }
  return place.substr(row.size()) + ": " + problem;
}

}  // namespace

Validator::Validator(const read::Catalogue& catalogue, std::vector<std::string> by)
    : catalogue_(catalogue), by_(std::move(by)) {}

void Validator::take(const read::MeasuredRun& run) {
  try {
    compare(run, answer::estimate(read::resolve(run.question, std::nullopt, catalogue_).question));
  } catch (const quantity::BadInput& error) {
    skipped_.add(reason_of(error), run.place);
  } catch (const quantity::Overflow&) {
    skipped_.add("the answer has no room in 64 bits", run.place);
  } catch (const std::exception& error) {
    skipped_.add(std::string("internal error: ") + error.what(), run.place);
  }
}

trust::Validation Validator::finish() && {
  validation_.summary = trust::summarize(validation_.rows);
  validation_.configurations = trust::summarize(trust::by_configuration(validation_.rows));
  validation_.groups = trust::group(validation_.rows, by_);
  validation_.skipped = skipped_.most_frequent_first();
  return std::move(validation_);
}

void Validator::compare(const read::MeasuredRun& run, const answer::Estimate& estimate) {
  if (is_verdict(run.measure)) return judge(run, estimate.verdict);
  const auto predicted = answer::predicted(estimate, run.measure, run.step);
  if (!predicted) return skipped_.add("a time needs an accelerator", run.place);
  validation_.rows.push_back({.id = run.id,
                              .place = run.place,
                              .measure = run.measure,
                              .measured = run.value,
                              .predicted = *predicted,
                              .bar = error_bar(estimate, run.measure),
                              .configuration = read::configuration(run),
                              .groups = groups_of(run)});
}

void Validator::judge(const read::MeasuredRun& run, const answer::Verdict& verdict) {
  if (verdict.kind == trust::VerdictKind::no_accelerator) {
    return skipped_.add("a verdict needs an accelerator", run.place);
  }
  const auto judgement = trust::judgement_on(run.measure == spec::Measure::fits, verdict.kind);
  validation_.judged.push_back({run.id, run.place, judgement});
}

std::vector<std::string> Validator::groups_of(const read::MeasuredRun& run) const {
  std::vector<std::string> groups;
  for (const auto& column : by_) groups.emplace_back(read::cell(run, column));
  return groups;
}

}  // namespace llmcalc::cli
