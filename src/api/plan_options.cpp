#include "api/inner/plan_options.hpp"

#include "api/asked.hpp"
#include "api/inner/limits.hpp"
#include "api/verbs.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/suggest.hpp"
#include "read/vocabulary.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace llmcalc::api {
namespace {

using quantity::BadInput;
using search::Objective;

struct ObjectiveWord {
  std::string_view word;
  Objective objective;
};

constexpr ObjectiveWord objectives[] = {{"step-time", Objective::step_time}, {"cost", Objective::cost},
                                        {"energy", Objective::energy},       {"memory", Objective::memory},
                                        {"gpus", Objective::gpus},           {"micro-batch", Objective::micro_batch}};

constexpr std::array<std::string_view, 6> plan_forms{"text", "json", "html", "csv", "markdown", "junit"};
constexpr std::array<std::string_view, 4> growing{"", "seq", "params", "micro-batch"};

std::string_view text_of(const Arguments& arguments, std::string_view flag, std::string_view fallback) {
  const std::string* text = arguments.find(flag);
  return text == nullptr ? fallback : std::string_view(*text);
}

std::vector<std::string> table_of(const Arguments& arguments) {
  const std::string* text = arguments.find("table");
  if (text == nullptr) return {};
  const auto comma = text->find(',');
  if (comma == std::string::npos)
    throw BadInput("--table", "expected two terms, found '" + *text + "'", "seq,micro-batch");
  std::vector<std::string> terms;
  for (const auto& name : {text->substr(0, comma), text->substr(comma + 1)}) {
    const read::Term* term = read::find_term(name);
    if (term == nullptr) {
      throw BadInput("--table", "there is no term '" + name + "'",
                     quantity::did_you_mean(name, read::all_term_names()));
    }
    terms.emplace_back(term->name);
  }
  if (terms[0] == terms[1]) throw BadInput("--table", "the two terms are the same");
  return terms;
}

std::size_t best_of(const Arguments& arguments) {
  constexpr std::int64_t most = 100'000;
  const std::string* text = arguments.find("top");
  if (text == nullptr) return PlanOptions().best;
  const auto count = quantity::parse_count(*text, "--top");
  if (count >= 1 && count <= most) return static_cast<std::size_t>(count);
  throw BadInput("--top", "expected 1 to 100,000, found '" + *text + "'");
}

void take_largest(const Arguments& arguments, PlanOptions& options) {
  const auto word = arguments.choice("largest", growing);
  if (word == "seq") options.largest = Largest::seq;
  if (word == "params") options.largest = Largest::params;
  if (word == "micro-batch") options.objective = Objective::micro_batch;
}

void check(const PlanOptions& options) {
  if (options.format == PlanFormat::html && !options.table.empty()) {
    throw BadInput("--format html", "shows one plan, and --table asks for many", "--format csv");
  }
  if (options.format == PlanFormat::junit || options.format == PlanFormat::markdown) {
    throw BadInput("--format", "of a line each is for --rows", "--format csv");
  }
  if (options.largest != Largest::nothing && !options.table.empty()) {
    throw BadInput("--table", "contradicts --largest: one asks for stated values, the other for none");
  }
}

}  // namespace

PlanOptions plan_options(const Arguments& arguments, const Surroundings& around) {
  PlanOptions options;
  arguments.names(1);
  options.words = words_of(arguments);
  options.presets = text_of(arguments, "presets", {});
  options.calibration = text_of(arguments, "calibration", {});
  options.objective = objective_of(text_of(arguments, "objective", objectives[0].word));
  options.limits = limits_of(arguments);
  options.strict = arguments.has("strict");
  options.best = best_of(arguments);
  take_largest(arguments, options);
  options.table = table_of(arguments);
  options.search.is_quiet = arguments.has("quiet");
  options.format = static_cast<PlanFormat>(std::ranges::find(plan_forms, arguments.choice("format", plan_forms)) -
                                           plan_forms.begin());
  options.style.colour = wants_colour(arguments, around);
  if (!arguments.has("rows")) check(options);
  return options;
}

Objective objective_of(std::string_view word) {
  if (const auto* found = quantity::find_or_null(objectives, word, &ObjectiveWord::word)) return found->objective;
  const auto words = quantity::mapped(objectives, &ObjectiveWord::word);
  auto hint = quantity::did_you_mean(word, words);
  throw BadInput("--objective", "there is no objective '" + std::string(word) + "'",
                 hint.empty() ? "the objectives are " + quantity::joined(words, ", ") : std::move(hint));
}

std::string_view word_of(Objective objective) {
  return std::ranges::find(objectives, objective, &ObjectiveWord::objective)->word;
}

}  // namespace llmcalc::api
