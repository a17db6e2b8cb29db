// llmcalc serve: does this server start, how long a context, how many requests at once?
#include "api/serve.hpp"
#include "cli/catalogue.hpp"
#include "cli/question.hpp"
#include "cli/verb.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::cli {
namespace {

using serving::Find;

struct ServeRequest {
  api::ServeOptions search;
  bool json = false;
  bool strict = false;
  bool quiet = false;
  render::TextStyle style;
};

struct FindWord {
  std::string_view word;
  Find what;
};

constexpr std::array find_words{FindWord{"concurrency", Find::concurrency}, FindWord{"context", Find::context},
                                FindWord{"gpus", Find::gpus}, FindWord{"quant", Find::quant},
                                FindWord{"engine", Find::engine}};

Find read_find(const std::string& text) {
  if (const auto* found = quantity::find_or_null(find_words, text, &FindWord::word)) return found->what;
  throw quantity::BadInput("--find", "finds concurrency, context, gpus, quant, engine or layout, not '" + text + "'",
                           quantity::did_you_mean(text, quantity::mapped(find_words, &FindWord::word)));
}

bool read_table(const Arguments& arguments) {
  const std::string* text = arguments.find("table");
  const bool known = text == nullptr || *text == "context,concurrency" || *text == "concurrency,context";
  if (!known) throw quantity::BadInput("--table", "is of context,concurrency, not '" + *text + "'");
  return text != nullptr;
}

ServeRequest serve_request(const Arguments& arguments, const Environment& environment) {
  ServeRequest options;
  if (const std::string* what = arguments.find("find")) {
    options.search.layout = *what == "layout";
    if (!options.search.layout) options.search.find = read_find(*what);
  }
  options.search.table = read_table(arguments);
  options.json = wants_json(arguments);
  options.strict = arguments.has("strict");
  options.quiet = arguments.has("quiet");
  options.style.colour = wants_colour(arguments, environment);
  options.style.full = arguments.has("full");
  options.style.explain = arguments.has("explain");
  return options;
}

/// Requests that wait are a warning: the server starts all the same.
Outcome run(const ServeRequest& options, const render::ServingReport& report) {
  if (report.answer.verdict == serving::ServingVerdict::no_accelerator && (options.strict || options.quiet))
    refuse_no_verdict();
  Outcome outcome;
  const bool waits = report.answer.capacity.queued > 0 && report.answer.verdict == serving::ServingVerdict::fits;
  if (report.answer.verdict == serving::ServingVerdict::does_not_fit) outcome.code = ExitCode::does_not_fit;
  const auto& answer = report.answer;
  const bool late = answer.speed && !serving::keeps_limits(answer.deployment.question.serving.load, *answer.speed);
  if (late) outcome.code = ExitCode::does_not_fit;
  if (waits && options.strict) outcome.code = ExitCode::does_not_fit;
  outcome.answer = options.json ? to_json(report) : to_text(report, options.style);
  if (waits && !options.json) {
    outcome.warnings.push_back(std::to_string(report.answer.capacity.queued) + " of the requests wait: " +
                               std::to_string(report.answer.capacity.running) + " run at once");
  }
  return outcome;
}

}  // namespace

std::vector<Flag> serve_flags() {
  std::vector<Flag> flags = serving_question_flags();
  flags.push_back({"find", "concurrency|context|gpus|quant|engine|layout",
                   "the most that fits, the least that is enough, or the most tokens for the money", "Output"});
  flags.push_back({"table", "context,concurrency", "which of both together fit", "Output"});
  flags.push_back({"explain", "", "formula and source of every line", "Output"});
  flags.push_back({"full", "", "every part, on more than one screen", "Output"});
  flags.push_back({"strict", "", "requests that wait are a failure (exit 1)", "Output"});
  return flags;
}

Outcome serve(const Arguments& arguments, const Environment& environment) {
  const auto options = serve_request(arguments, environment);
  const auto catalogue = open_catalogue(arguments, environment);
  const auto asked = ask_server(arguments, catalogue);
  if (arguments.has("show-question")) return show_question(asked, "serve", options.json);
  auto report = api::serve(asked.words, asked.config, catalogue, options.search);
  const auto& assumed = asked.reading.assumptions;
  report.assumptions.insert(report.assumptions.begin(), assumed.begin(), assumed.end());
  Outcome outcome = run(options, report);
  if (!options.json) outcome.notes = asked.notes();
  return outcome;
}

}  // namespace llmcalc::cli
