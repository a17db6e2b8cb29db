// llmcalc serve: does this server start, how long a context, how many requests at once?
#include "api/asked.hpp"
#include "api/serve.hpp"
#include "api/verbs.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace llmcalc::api {
namespace {

using serving::Find;

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

ServeOptions serve_options(const Arguments& arguments) {
  ServeOptions options;
  if (const std::string* what = arguments.find("find")) {
    options.layout = *what == "layout";
    if (!options.layout) options.find = read_find(*what);
  }
  options.table = read_table(arguments);
  return options;
}

/// Requests that wait are a warning: the server starts all the same.
bool has_waiting(const serving::ServingAnswer& answer) {
  return answer.capacity.queued > 0 && answer.verdict == serving::ServingVerdict::fits;
}

bool fails(const serving::ServingAnswer& answer, bool strict) {
  const bool late = answer.speed && !serving::keeps_limits(answer.deployment.question.serving.load, *answer.speed);
  return answer.verdict == serving::ServingVerdict::does_not_fit || late || (strict && has_waiting(answer));
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

Reply ask_serve(const Arguments& arguments, const Surroundings& around) {
  const auto options = serve_options(arguments);
  const render::TextStyle style{
      .colour = wants_colour(arguments, around), .explain = arguments.has("explain"), .full = arguments.has("full")};
  const bool strict = arguments.has("strict");
  const auto catalogue = around.catalogue(arguments);
  const auto asked = asked_server(arguments, around, catalogue);
  if (arguments.has("show-question")) return show_question(asked, "serve");
  auto report = serve(asked.words, asked.config, catalogue, options);
  const auto& assumed = asked.reading.assumptions;
  report.assumptions.insert(report.assumptions.begin(), assumed.begin(), assumed.end());
  const auto& answer = report.answer;
  const bool needs_verdict = strict || arguments.has("quiet");
  if (answer.verdict == serving::ServingVerdict::no_accelerator && needs_verdict) refuse_no_verdict();
  Reply reply;
  reply.code = fails(answer, strict) ? ExitCode::does_not_fit : ExitCode::fits;
  reply.notes = asked.notes();
  if (has_waiting(answer)) {
    reply.warnings.push_back("with whole contexts " + std::to_string(answer.capacity.queued) + " of the requests wait");
  }
  reply.show = [report = std::move(report), style](std::string_view form) {
    if (form == "json") return to_json(report);
    return form == "html" ? to_html(report, style) : to_text(report, style);
  };
  return reply;
}

}  // namespace llmcalc::api
