// llmcalc fit: does this run fit, how long does it take, what does it cost?
#include "cli/advice_flags.hpp"
#include "cli/catalogue.hpp"
#include "cli/question_words.hpp"
#include "cli/verb.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/read/resolve.hpp"
#include "llmcalc/render/report.hpp"

#include <algorithm>

namespace llmcalc::cli {
namespace {

struct Options {
  std::vector<read::Given> words;
  bool json = false;
  bool strict = false;
  render::TextStyle style;
};

Options setup(const Arguments& arguments, const Environment& environment) {
  arguments.names(0);
  Options options;
  options.words = words_of(arguments);
  options.json = wants_json(arguments);
  options.strict = arguments.has("strict");
  options.style.colour = wants_colour(arguments, environment);
  options.style.bars = environment.terminal;
  options.style.timeline = arguments.has("timeline");
  options.style.full = arguments.has("full");
  options.style.explain = arguments.has("explain");
  return options;
}

std::string_view word_of(read::Source source) {
  switch (source) {
    case read::Source::flag:
      return "flag";
    case read::Source::row:
      return "row";
    case read::Source::preset:
      return "preset";
    case read::Source::config:
      return "config";
    case read::Source::user_preset:
      return "user_preset";
    case read::Source::assumed:
      return "assumed";
    case read::Source::default_value:
      return "default";
  }
  return {};
}

/// Data-centre parts of the same make with more memory, the smallest first.
std::vector<spec::Accelerator> larger_than(const std::optional<spec::Accelerator>& present,
                                           const read::Catalogue& catalogue) {
  std::vector<spec::Accelerator> larger;
  if (!present) return larger;
  for (auto& preset : catalogue.accelerators()) {
    auto& gpu = preset.accelerator;
    const bool in_data_centres = gpu.memory_type.starts_with("HBM") && gpu.peaks.bf16;
    if (in_data_centres && gpu.vendor == present->vendor && gpu.memory_usable > present->memory_usable) {
      larger.push_back(std::move(gpu));
    }
  }
  std::ranges::stable_sort(larger, {}, &spec::Accelerator::memory_usable);
  return larger;
}

render::Report report_on(const std::vector<read::Given>& words, const read::Catalogue& catalogue) {
  auto resolved = resolve(words, read_config_text(words), catalogue);
  render::Report report;
  for (auto& line : resolved.echo) {
    report.question.push_back({std::move(line.term), std::move(line.value), std::string(word_of(line.origin.source)),
                               std::move(line.origin.where)});
  }
  const auto& question = resolved.question;
  report.estimate = answer::estimate(question);
  const auto larger = [&] { return larger_than(question.gpu, catalogue); };
  report.advised = search::advise(question, larger, report.estimate.verdict);
  for (auto& advice : report.advised.changes) unsay(words, question, advice);
  report.assumptions = std::move(resolved.assumptions);
  report.version = LLMCALC_VERSION;
  return report;
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
  return run(options, report_on(options.words, open_catalogue(arguments, environment)));
}

}  // namespace llmcalc::cli
