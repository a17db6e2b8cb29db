// llmcalc fit: does this run fit, how long does it take, what does it cost?
#include "cli/catalogue.hpp"
#include "cli/question.hpp"
#include "cli/verb.hpp"
#include "llmcalc/api/fit.hpp"
#include "llmcalc/render/report.hpp"

namespace llmcalc::cli {
namespace {

struct Options {
  bool json = false;
  bool strict = false;
  render::TextStyle style;
};

Options setup(const Arguments& arguments, const Environment& environment) {
  Options options;
  options.json = wants_json(arguments);
  options.strict = arguments.has("strict");
  options.style.colour = wants_colour(arguments, environment);
  options.style.bars = environment.terminal;
  options.style.timeline = arguments.has("timeline");
  options.style.full = arguments.has("full");
  options.style.explain = arguments.has("explain");
  return options;
}

ExitCode exit_code(trust::VerdictKind verdict, bool strict) {
  if (verdict == trust::VerdictKind::does_not_fit) return ExitCode::does_not_fit;
  return strict && verdict == trust::VerdictKind::tight ? ExitCode::does_not_fit : ExitCode::fits;
}

/// JSON carries its warnings inside; people find them on stderr.
Outcome run(const Options& options, const render::Report& report) {
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
  const auto options = setup(arguments, environment);
  const auto catalogue = open_catalogue(arguments, environment);
  const AskedQuestion asked = ask(arguments, catalogue);
  if (arguments.has("show-question")) return show_question(asked, "fit", options.json);
  auto answer = api::fit(asked.words, asked.config, catalogue);
  const auto& assumed = asked.reading.assumptions;
  answer.assumptions.insert(answer.assumptions.begin(), assumed.begin(), assumed.end());
  Outcome outcome = run(options, answer);
  if (!options.json) outcome.notes = asked.notes();
  return outcome;
}

}  // namespace llmcalc::cli
