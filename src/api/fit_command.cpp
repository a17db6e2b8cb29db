#include "api/inner/fit_command.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
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

/// What nobody would say of a run.
bool goes_without_saying(std::string_view term, std::string_view value) {
  if (term == "micro_batch") return false;
  if (term == "cuda_graph") return value == "none";
  return value.empty() || (term == "sp" ? value == "0" : value == "1" || value == "0" || value == "ring");
}

class Command {
 public:
  Command(const FitSource& source, const spec::Question& question) : source_(source), question_(question) {}

  void say(std::string_view term, std::string text);
  void say_of_question(std::string_view term);

  /// Adds what would be resolved to another value than the question's.
  void complete();
  std::string text() const;

 private:
  bool add_differences();
  void settle();

  const FitSource& source_;
  const spec::Question& question_;
  std::vector<Given> words_;
};

void Command::say(std::string_view term, std::string text) {
  auto* said = quantity::find_or_null(words_, term, &Given::term);
  const read::Origin origin{read::Source::flag, "--" + read::option_name(term)};
  if (said == nullptr) said = &words_.emplace_back(Given{std::string(term), {}, origin});
  said->text = std::move(text);
}

void Command::say_of_question(std::string_view term) {
  std::string value = read::find_term(term)->show(question_);
  if (!value.empty()) say(term, std::move(value));
}

/// \return whether there were any
bool Command::add_differences() {
  const auto resolved = read::resolve(words_, source_.config, source_.catalogue).question;
  bool differs = false;
  for (const read::Term& term : read::vocabulary()) {
    std::string value = term.show(question_);
    if (value.empty() || term.name == "model" || value == term.show(resolved)) continue;
    say(term.name, std::move(value));
    differs = true;
  }
  return differs;
}

/// A value that is said may change the default of another, so that it takes some rounds.
void Command::settle() {
  constexpr int most_rounds = 4;
  for (int round = 0; round < most_rounds && add_differences(); ++round) {
  }
}

/// Where the words so far contradict each other, all that was chosen is said before the rest.
void Command::complete() try { settle(); } catch (const quantity::BadInput&) {
  for (const auto term : chosen_terms) say_of_question(term);
  settle();
}

std::string Command::text() const {
  std::string command = "llmcalc fit";
  for (const Given& word : words_) command += " --" + read::option_name(word.term) + " " + quoted(word.text);
  if (!source_.presets.empty()) command += " --presets " + quoted(source_.presets);
  if (!source_.calibration.empty()) command += " --calibration " + quoted(source_.calibration);
  return command;
}

}  // namespace

std::string fit_command(const AskedWords& asked, const std::vector<Given>& varied, const spec::Question& question) {
  Command command(asked.source, question);
  for (const Given& word : asked.words) {
    if (read::is_choice(word.term) || word.term == "zero" || word.term == "recompute_modules") continue;
    if (word.term == "gpu" || word.term == "gpus") continue;
    const auto* own = read::find_word(varied, word.term);
    command.say(word.term, own == nullptr ? word.text : own->text);
  }
  command.say_of_question("framework");
  for (const auto term : chosen_terms) {
    if (!goes_without_saying(term, read::find_term(term)->show(question))) command.say_of_question(term);
  }
  command.say_of_question("recompute_modules");
  command.complete();
  return command.text();
}

}  // namespace llmcalc::api
