#include "dialects/core/letter.hpp"

#include "dialects/reading.hpp"
#include "dialects/writing/command_text.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/resolve.hpp"
#include "read/vocabulary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace llmcalc::dialects {
namespace {

using read::Term;
using read::TermGroup;

/// Of a run, what depends on the data or on what is installed: nobody's command says it.
constexpr std::array<std::string_view, 3> of_no_command{"steps", "framework_version", "software"};

/// What a launch decides.
bool is_told(const Term& term) {
  const bool of_shape = term.group == TermGroup::model && term.name != "model";
  const bool of_run = of_shape || term.group == TermGroup::run || term.group == TermGroup::layout;
  return of_run && term.show != nullptr && !quantity::contains(of_no_command, term.name);
}

read::Given option(std::string_view term, std::string text) {
  return {std::string(term), std::move(text), {read::Source::flag, "--" + read::option_name(term)}};
}

/// What stands beside a command: the model, the accelerator and whatever no command says.
std::vector<read::Given> beside(const spec::Question& question) {
  std::vector<read::Given> words;
  for (read::Given& word : read::words_of(question)) {
    const Term* term = read::find_term(word.term);
    if (!is_told(*term)) words.push_back(std::move(word));
  }
  if (question.gpu) words.push_back(option("gpu", question.gpu->id));
  words.push_back(option("model", question.model.shape.name));
  words.push_back(option("vocab", std::to_string(question.model.shape.vocab)));  // the tokenizer's
  return words;
}

/// A data set that is named, as nothing is executed to know it.
std::string with_data(std::string command) {
  constexpr std::string_view data = "$DATA";
  if (const auto at = command.find(data); at != std::string::npos) command.replace(at, data.size(), "data");
  return command;
}

std::string spelled(const FormatRow& row, std::string text) {
  if (row.spellings.empty() || text.empty()) return text;
  const auto* found = quantity::find_or_null(row.spellings, std::string_view(text), &Spelling::ours);
  return found == nullptr ? std::string() : std::string(found->theirs);
}

}  // namespace

std::string Page::yaml() const {
  std::string text;
  std::string_view open;
  for (const Entry& entry : entries_) {
    const auto dot = entry.key.find('.');
    const auto block = std::string_view(entry.key).substr(0, dot == std::string::npos ? 0 : dot);
    if (block != open && !block.empty()) text.append(block).append(":\n");
    open = block;
    const auto key = block.empty() ? std::string_view(entry.key) : std::string_view(entry.key).substr(dot + 1);
    text += fmt::format("{}{}: {}\n", block.empty() ? "" : "  ", key, entry.value);
  }
  return text;
}

std::string Page::options(std::string command, bool assigns) const {
  CommandText text(std::move(command));
  for (const Entry& entry : entries_) {
    if (assigns) {
      text.flag(fmt::format("{}={}", entry.key, entry.value));
    } else {
      text.word("--" + entry.key, entry.value);
    }
  }
  return text.text();
}

std::string Letter::text(std::string_view term) const { return read::find_term(term)->show(question); }

void write_rows(const Format& format, Letter& letter) {
  std::vector<std::string_view> told;
  for (const auto table : format.tables) {
    for (const FormatRow& row : table) {
      if (row.use != Use::written || quantity::contains(told, row.name)) continue;
      told.push_back(row.name);
      const Term& term = *read::find_term(row.name);
      std::string value = spelled(row, term.show(letter.question));
      if (term.values == "0|1") value = value == "1" ? "true" : "";         // a switch that is off is left out
      const bool is_one = term.group == TermGroup::layout && value == "1";  // a degree that splits nothing
      if (!value.empty() && !is_one) letter.settings.put(row.key, std::move(value));
    }
  }
}

std::string file_text(std::string_view name, std::string_view text) {
  return fmt::format("cat > {} <<END\n{}END\n", name, text);
}

std::vector<std::string> untold(const spec::Question& question, const std::string& command) {
  const FindFile nothing = [](const std::string&) { return std::optional<NamedFile>(); };
  try {
    const Reading reading = read_launch_command(with_data(command), "command", nothing);
    const read::Values values{question.model.shape, question.gpu};
    const auto read =
        read::resolve(with_options(reading, beside(question)), std::nullopt, read::Catalogue(), values).question;
    std::vector<std::string> terms = reading.unread;
    for (const Term& term : read::vocabulary()) {
      if (!is_told(term) || term.show(read) == term.show(question)) continue;
      terms.push_back(fmt::format("--{} {}", read::option_name(term.name), term.show(question)));
    }
    return terms;
  } catch (const quantity::BadInput& error) {
    return {fmt::format("{}: {}", error.place(), error.problem())};
  }
}

}  // namespace llmcalc::dialects
