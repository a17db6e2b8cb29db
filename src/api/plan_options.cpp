#include "api/inner/plan_options.hpp"

#include "api/asked.hpp"
#include "api/verbs.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/suggest.hpp"
#include "read/vocabulary.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <limits>
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

constexpr std::array<std::string_view, 3> plan_forms{"text", "json", "csv"};
constexpr std::array<std::string_view, 4> growing{"", "seq", "params", "micro-batch"};

std::string_view text_of(const Arguments& arguments, std::string_view flag, std::string_view fallback) {
  const std::string* text = arguments.find(flag);
  return text == nullptr ? fallback : std::string_view(*text);
}

search::PlanLimits limits_of(const Arguments& arguments) {
  search::PlanLimits limits;
  if (const auto* text = arguments.find("max-memory")) limits.memory = quantity::parse_capacity(*text, "--max-memory");
  if (const auto* text = arguments.find("max-days")) {
    limits.time = quantity::days(quantity::parse_number(*text, "--max-days"));
  }
  if (const auto* text = arguments.find("max-cost")) {
    limits.cost = quantity::dollars(quantity::parse_number(*text, "--max-cost"));
  }
  return limits;
}

/// "2/8": the third of eight parts.
Shard shard_of(const std::string& text) {
  const auto slash = text.find('/');
  const std::string place = "--shard";
  if (slash == std::string::npos) throw BadInput(place, "expected i/n, found '" + text + "'", "--shard 0/4");
  Shard shard{quantity::parse_count(text.substr(0, slash), place),
              quantity::parse_count(text.substr(slash + 1), place)};
  if (shard.of < 1 || shard.index >= shard.of) {
    throw BadInput(place, "'" + text + "' is no part: i goes from 0 to n - 1", "--shard 0/4");
  }
  return shard;
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

struct Range {
  std::int64_t most;
  std::string_view words;
};

/// A number from 1 to the most that makes sense, or what is usual.
std::size_t count_of(const Arguments& arguments, std::string_view flag, const Range& range, std::size_t usual) {
  const std::string* text = arguments.find(flag);
  if (text == nullptr) return usual;
  const std::string place = "--" + std::string(flag);
  const auto count = quantity::parse_count(*text, place);
  if (count >= 1 && count <= range.most) return static_cast<std::size_t>(count);
  throw BadInput(place, fmt::format("expected {}, found '{}'", range.words, *text));
}

unsigned threads_of(const Arguments& arguments, const Surroundings& around) {
  return static_cast<unsigned>(count_of(arguments, "threads", {1024, "1 to 1024"}, around.threads()));
}

std::size_t best_of(const Arguments& arguments) {
  return count_of(arguments, "top", {100'000, "1 to 100,000"}, PlanOptions().best);
}

void take_largest(const Arguments& arguments, PlanOptions& options) {
  const auto word = arguments.choice("largest", growing);
  if (word == "seq") options.largest = Largest::seq;
  if (word == "params") options.largest = Largest::params;
  if (word == "micro-batch") options.objective = Objective::micro_batch;
}

/// Combinations that no search can answer.
void check(const PlanOptions& options, const Arguments& arguments) {
  const bool several = options.largest != Largest::nothing || !options.table.empty();
  if (options.sharded && several) {
    throw BadInput("--shard", "cuts one search, and this asks for many", "leave out --table and --largest");
  }
  if (options.largest != Largest::nothing && !options.table.empty()) {
    throw BadInput("--table", "contradicts --largest: one asks for stated values, the other for none");
  }
  if (!options.merged.empty() && (options.sharded || !options.words.empty())) {
    throw BadInput("--merge", "takes its question from the files", "llmcalc plan --merge part*.json");
  }
  if (arguments.has("merge") && options.merged.empty()) {
    throw BadInput("--merge", "needs files", "llmcalc plan --merge part*.json");
  }
}

}  // namespace

PlanOptions plan_options(const Arguments& arguments, const Surroundings& around) {
  PlanOptions options;
  const auto& names = arguments.names(arguments.has("merge") ? std::numeric_limits<std::size_t>::max() : 1);
  options.words = words_of(arguments);
  options.presets = text_of(arguments, "presets", {});
  options.calibration = text_of(arguments, "calibration", {});
  options.objective = objective_of(text_of(arguments, "objective", objectives[0].word));
  options.limits = limits_of(arguments);
  options.strict = arguments.has("strict");
  options.best = best_of(arguments);
  take_largest(arguments, options);
  options.table = table_of(arguments);
  if (const std::string* text = arguments.find("shard")) {
    options.sharded = true;
    options.pool.shard = shard_of(*text);
  }
  if (arguments.has("merge")) options.merged = names;
  options.pool.threads = threads_of(arguments, around);
  options.pool.is_quiet = arguments.has("quiet");
  options.format = static_cast<PlanFormat>(std::ranges::find(plan_forms, arguments.choice("format", plan_forms)) -
                                           plan_forms.begin());
  options.style.colour = wants_colour(arguments, around);
  check(options, arguments);
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
