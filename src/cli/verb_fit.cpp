// llmcalc fit: does this run fit, how long does it take, what does it cost?
#include "api/fit.hpp"
#include "cli/catalogue.hpp"
#include "cli/many_runs.hpp"
#include "cli/question.hpp"
#include "cli/verb.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/render/report.hpp"

#include <array>

namespace llmcalc::cli {
namespace {

struct FitRequest {
  bool json = false;
  bool strict = false;
  bool quiet = false;
  render::TextStyle style;
};

constexpr std::array<std::string_view, 6> units{"GiB", "GB", "MiB", "MB", "TiB", "TB"};

FitRequest fit_request(const Arguments& arguments, const Environment& environment) {
  FitRequest options;
  options.json = wants_json(arguments);
  options.quiet = arguments.has("quiet");
  options.strict = arguments.has("strict");
  options.style.colour = wants_colour(arguments, environment);
  options.style.bars = environment.terminal;
  options.style.timeline = arguments.has("timeline");
  options.style.full = arguments.has("full");
  options.style.explain = arguments.has("explain");
  if (arguments.has("unit")) options.style.unit = arguments.choice("unit", units);
  return options;
}

ExitCode exit_code(trust::VerdictKind verdict, bool strict) {
  if (verdict == trust::VerdictKind::does_not_fit) return ExitCode::does_not_fit;
  return strict && verdict == trust::VerdictKind::tight ? ExitCode::does_not_fit : ExitCode::fits;
}

/// JSON carries its warnings inside; people find them on stderr.
Outcome run(const FitRequest& options, const render::Report& report) {
  const bool unjudged = report.estimate.verdict.kind == trust::VerdictKind::no_accelerator;
  if (unjudged && (options.strict || options.quiet)) refuse_no_verdict();
  Outcome outcome;
  outcome.code = exit_code(report.estimate.verdict.kind, options.strict);
  if (options.json) {
    outcome.answer = to_json(report);
    return outcome;
  }
  outcome.answer = to_text(report, options.style);
  outcome.warnings = report.estimate.warnings;
  return outcome;
}

}  // namespace

Outcome fit(const Arguments& arguments, const Environment& environment) {
  const auto catalogue = open_calibrated(arguments, environment);
  const AskedQuestion asked = ask(arguments, catalogue);
  if (!arguments.has("show-question") && asks_many(arguments, asked.words))
    return fit_many(arguments, asked, catalogue);
  const auto options = fit_request(arguments, environment);
  if (arguments.has("show-question")) return show_question(asked, "fit", options.json);
  auto answer = api::fit(asked.words, asked.config, catalogue);
  const auto& assumed = asked.reading.assumptions;
  answer.assumptions.insert(answer.assumptions.begin(), assumed.begin(), assumed.end());
  Outcome outcome = run(options, answer);
  if (!options.json) outcome.notes = asked.notes();
  return outcome;
}

}  // namespace llmcalc::cli
