// llmcalc fit: does this run fit, how long does it take, what does it cost?
#include "api/asked.hpp"
#include "api/fit.hpp"
#include "api/inner/baseline.hpp"
#include "api/inner/limits.hpp"
#include "api/inner/many_runs.hpp"
#include "api/verbs.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/render/report.hpp"
#include "quantity/lists.hpp"
#include "read/resolve.hpp"
#include "read/vocabulary.hpp"

#include <array>
#include <utility>

namespace llmcalc::api {
namespace {

constexpr std::array<std::string_view, 6> units{"GiB", "GB", "MiB", "MB", "TiB", "TB"};

render::TextStyle fit_style(const Arguments& arguments, const Surroundings& around) {
  render::TextStyle style;
  style.colour = wants_colour(arguments, around);
  style.bars = around.terminal;
  style.timeline = arguments.has("timeline");
  style.full = arguments.has("full");
  style.explain = arguments.has("explain");
  if (arguments.has("unit")) style.unit = arguments.choice("unit", units);
  return style;
}

ExitCode exit_code(trust::VerdictKind verdict, bool strict) {
  if (verdict == trust::VerdictKind::does_not_fit) return ExitCode::does_not_fit;
  return strict && verdict == trust::VerdictKind::tight ? ExitCode::does_not_fit : ExitCode::fits;
}

std::string shown(const render::Report& answer, std::string_view form, const render::TextStyle& style) {
  if (form == "json") return to_json(answer);
  if (form == "html") return to_html(answer, style);
  if (form == "svg") return to_svg(answer);
  if (form == "trace") return to_trace(answer);
  return form == "markdown" ? to_markdown(answer, style) : to_text(answer, style);
}

render::RunLine line_of(const NamedRun& run, const AskedQuestion& asked, const Sources& sources,
                        const RunLimits& limits) {
  const auto config = run.config(asked, sources.around);
  const auto estimate = answer::estimate(read::resolve(run.words, config, sources.catalogue).question);
  render::RunLine line;
  line.reasons = beyond(limits, estimate);
  line.verdict = estimate.verdict;
  if (estimate.timed) line.step = estimate.compute.step;
  if (estimate.timed) line.total = estimate.compute.total;
  line.cost = estimate.compute.cost;
  if (estimate.verdict.kind == trust::VerdictKind::does_not_fit) {
    line.advice = first_advice(run.words, config, sources.catalogue, estimate);
  }
  return line;
}

Reply fit_each(const Arguments& arguments, const AskedQuestion& asked, const Sources& sources) {
  const auto limits = run_limits_of(arguments);
  const auto question = [&] { return read::resolve(asked.words, asked.config, sources.catalogue).question; };
  const auto runs = runs_of(arguments, asked.words, sources.around, question);
  return answer_each(arguments, runs, sources.around,
                     [&](const NamedRun& run) { return line_of(run, asked, sources, limits); });
}

}  // namespace

std::vector<Flag> fit_flags() {
  std::vector<Flag> flags = question_flags();
  flags.push_back({"full", "", "every table instead of one screen", "Output"});
  flags.push_back({"explain", "", "formula, numbers and source of every line", "Output"});
  flags.push_back(calibration_flag());
  flags.push_back({"timeline", "", "draw the memory of a step, block by block", "Output"});
  flags.push_back({"unit", "GiB|GB|MiB|MB|TiB|TB", "of all memory figures; JSON has bytes", "Output"});
  quantity::append(flags, many_flags());
  for (auto& flag : limit_flags("Output")) flags.push_back(std::move(flag));
  flags.push_back({"margin", "size or percent", "memory of an accelerator that must be left", "Output"});
  flags.push_back({"strict", "", "a fit inside the error bar is a failure (exit 1)", "Output"});
  quantity::append(flags, baseline_flags());
  return flags;
}

Reply ask_fit(const Arguments& arguments, const Surroundings& around) {
  const auto catalogue = around.calibrated(arguments);
  const AskedQuestion asked = asked_run(arguments, around, catalogue);
  if (!arguments.has("show-question") && asks_many(arguments, asked.words, {"csv", "junit"}))
    return fit_each(arguments, asked, {around, catalogue});
  const auto style = fit_style(arguments, around);
  if (arguments.has("show-question")) return show_question(asked, "fit");
  const auto limits = run_limits_of(arguments);
  auto answer = fit(asked.words, asked.config, catalogue);
  answer.broken_limits = beyond(limits, answer.estimate);
  const auto& assumed = asked.reading.assumptions;
  answer.assumptions.insert(answer.assumptions.begin(), assumed.begin(), assumed.end());
  const auto verdict = answer.estimate.verdict.kind;
  const bool needs_verdict = arguments.has("strict") || arguments.has("quiet");
  if (verdict == trust::VerdictKind::no_accelerator && needs_verdict) refuse_no_verdict();
  Reply reply;
  reply.code = answer.broken_limits.empty() ? exit_code(verdict, arguments.has("strict")) : ExitCode::does_not_fit;
  reply.notes = asked.notes();
  reply.warnings = answer.estimate.warnings;
  reply.show = [answer = std::move(answer), style](std::string_view form) { return shown(answer, form, style); };
  return reply;
}

}  // namespace llmcalc::api
