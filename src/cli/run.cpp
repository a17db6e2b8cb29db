#include "cli/run.hpp"

#include "cli/help.hpp"
#include "cli/verb.hpp"
#include "llmcalc/quantity/error.hpp"

#include <algorithm>

namespace llmcalc::cli {
namespace {

bool is_help(const std::string& word) { return word == "--help" || word == "-h" || word == "help"; }

std::vector<Flag> all_flags(const Verb& verb) {
  auto flags = verb.flags();
  const auto common = common_flags(verb.formats);
  flags.insert(flags.end(), common.begin(), common.end());
  return flags;
}

Outcome run_verb(const Verb& verb, std::span<const std::string> words, const Environment& environment) {
  const auto flags = all_flags(verb);
  const Arguments arguments(flags, words);
  if (arguments.has("help")) return {.answer = verb_help(verb, flags)};
  Outcome outcome = verb.run(arguments, environment);
  if (arguments.has("quiet")) return {.answer = {}, .code = outcome.code};
  return outcome;
}

}  // namespace

Outcome run(std::span<const std::string> words, const Environment& environment) {
  if (words.empty()) throw quantity::BadInput({}, "a verb is missing", "see llmcalc --help");
  if (is_help(words.front())) return {.answer = program_help()};
  if (words.front() == "--version") return {.answer = "llmcalc " LLMCALC_VERSION "\n"};
  return run_verb(find_verb(words.front()), words.subspan(1), environment);
}

}  // namespace llmcalc::cli
