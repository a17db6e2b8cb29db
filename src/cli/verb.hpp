// The verbs, written once: dispatch and help follow from the table.
#pragma once

#include "cli/arguments.hpp"
#include "cli/environment.hpp"
#include "cli/outcome.hpp"

#include <span>
#include <string_view>
#include <vector>

namespace llmcalc::cli {

/// A verb lives in verb_<name>.cpp, in two halves: setup() reads the arguments, throws on bad ones and opens nothing;
/// run() reads files and answers.
struct Verb {
  std::string_view name;
  std::string_view usage;  ///< what follows the name
  std::string_view summary;
  std::vector<Flag> (*flags)();
  Outcome (*run)(const Arguments& arguments, const Environment& environment);
  std::string_view formats = "text|json";        ///< of its answer
  std::span<const std::string_view> usual = {};  ///< options that most questions need; empty: all of them
  std::span<const std::string_view> examples = {};
};

std::span<const Verb> verbs();

/// --format json.
bool wants_json(const Arguments& arguments);

/// --color, and NO_COLOR and the terminal where it leaves the choice to them.
bool wants_colour(const Arguments& arguments, const Environment& environment);

/// A script that asks for nothing but the verdict gets none without an accelerator.
/// \throws quantity::BadInput that says so
[[noreturn]] void refuse_no_verdict();

/// \throws quantity::BadInput with the nearest verb
const Verb& find_verb(std::string_view name);

Outcome fit(const Arguments& arguments, const Environment& environment);
Outcome from(const Arguments& arguments, const Environment& environment);
Outcome serve(const Arguments& arguments, const Environment& environment);
Outcome plan(const Arguments& arguments, const Environment& environment);
Outcome scale(const Arguments& arguments, const Environment& environment);
Outcome model(const Arguments& arguments, const Environment& environment);
Outcome gpu(const Arguments& arguments, const Environment& environment);
Outcome validate(const Arguments& arguments, const Environment& environment);
Outcome dtype(const Arguments& arguments, const Environment& environment);

std::vector<Flag> serve_flags();
std::vector<Flag> plan_flags();
std::vector<Flag> dtype_flags();
std::vector<Flag> validate_flags();

}  // namespace llmcalc::cli
