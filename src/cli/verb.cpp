#include "cli/verb.hpp"

#include "cli/scale_options.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/quantity/suggest.hpp"

#include <algorithm>
#include <array>

namespace llmcalc::cli {
namespace {

std::vector<Flag> no_flags() { return {}; }

constexpr Verb rows[] = {
    {"fit", "[options]", "does this run fit, how long does it take, what does it cost?", fit_flags, fit},
    {"plan", "[options; most take lists, as --tp 1,2,4 or --gpu any]",
     "the best layout, batch, context, model or accelerators for a run", plan_flags, plan, "text|json|csv"},
    {"scale", "[options]", "parameters, tokens, compute, cost and loss of a run, from each other", scale_flags, scale},
    {"model", "list | show NAME", "models known by name", no_flags, model},
    {"gpu", "list | show NAME", "accelerators known by name", no_flags, gpu},
    {"validate", "FILE.csv... [options]", "predicted against measured, row by row", validate_flags, validate,
     "text|json|markdown"},
    {"dtype", "[NAME] [options]", "number formats: bits, bytes and rounding", dtype_flags, dtype},
};

}  // namespace

std::span<const Verb> verbs() { return rows; }

bool wants_json(const Arguments& arguments) {
  constexpr std::array<std::string_view, 2> formats{"text", "json"};
  return arguments.choice("format", formats) == "json";
}

bool wants_colour(const Arguments& arguments, const Environment& environment) {
  constexpr std::array<std::string_view, 3> choices{"auto", "always", "never"};
  const auto choice = arguments.choice("color", choices);
  return choice == "always" || (choice == "auto" && environment.terminal && !environment.no_color);
}

const Verb& find_verb(std::string_view name) {
  const auto found = std::ranges::find(rows, name, &Verb::name);
  if (found != std::end(rows)) return *found;
  std::vector<std::string_view> names;
  for (const Verb& verb : rows) names.push_back(verb.name);
  auto hint = quantity::did_you_mean(name, names);
  throw quantity::BadInput({}, "there is no verb '" + std::string(name) + "'",
                           hint.empty() ? "see llmcalc --help" : std::move(hint));
}

}  // namespace llmcalc::cli
