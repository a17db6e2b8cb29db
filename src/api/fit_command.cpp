#include "api/inner/fit_command.hpp"

#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/say.hpp"
#include "read/vocabulary.hpp"
#include "read/words.hpp"

#include <algorithm>

namespace llmcalc::api {
namespace {

using read::Given;

/// A shell does nothing with it.
bool is_plain_to_shell(char c) {
  return quantity::is_name_char(c) || std::string_view("-=./:,+%@").find(c) != std::string_view::npos;
}

/// A word as a shell reads it back.
std::string quoted(const std::string& text) {
  if (!text.empty() && std::ranges::all_of(text, is_plain_to_shell)) return text;
  std::string safe = "'";
  for (const char c : text) safe += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return safe + "'";
}

/// What the search chose is said as it chose it.
bool is_chosen(const Given& word) {
  return read::is_choice(word.term) || word.term == "zero" || word.term == "recompute_modules" ||
         (word.term != "framework" && quantity::contains(chosen_terms, word.term));
}

}  // namespace

std::string fit_command(const AskedWords& asked, const std::vector<Given>& varied, const spec::Question& question) {
  std::vector<Given> base;
  for (const Given& word : asked.words) {
    if (is_chosen(word)) continue;
    const auto* own = read::find_word(varied, word.term);
    base.push_back(own == nullptr ? word : *own);
  }
  const auto& source = asked.source;
  std::string command = "llmcalc fit";
  for (const Given& word : read::say(question, base, chosen_terms, {source.config, source.catalogue})) {
    command += " --" + read::option_name(word.term) + " " + quoted(word.text);
  }
  if (!source.presets.empty()) command += " --presets " + quoted(source.presets);
  if (!source.calibration.empty()) command += " --calibration " + quoted(source.calibration);
  return command;
}

}  // namespace llmcalc::api
