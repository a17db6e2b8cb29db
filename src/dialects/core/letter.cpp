#include "dialects/core/letter.hpp"

#include "frameworks/table.hpp"
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

/// Terms of a run that depend on the data or on what is installed: nobody's command says them.
constexpr std::array<std::string_view, 3> of_no_command{"steps", "framework_version", "software"};

/// Terms that a launch decides.
bool is_told(const Term& term) {
  const bool of_shape = term.group == TermGroup::model && term.name != "model";
  const bool of_run = of_shape || term.group == TermGroup::run || term.group == TermGroup::layout;
  return of_run && term.show != nullptr && !quantity::contains(of_no_command, term.name);
}

read::Given option(std::string_view term, std::string text) {
  return {std::string(term), std::move(text), {read::Source::flag, spec::option_of(term)}};
}

/// Words beside a command: the model, the accelerator and whatever no command says.
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
  if (row.words.empty() || text.empty()) return text;
  const auto theirs = theirs_for(text, row.words);
  return theirs == "yes" ? "true" : theirs == "no" ? "false" : std::string(theirs);
}

/// Reads the command as --from does: the options that it does not say or says otherwise, as typed.
std::vector<std::string> untold(const spec::Question& question, const std::string& command) {
  try {
    const Reading reading = read_launch_command(with_data(command), "command", no_files);
    const read::Values values{question.model.shape, question.gpu};
    const auto read =
        read::resolved_question(with_options(reading, beside(question)), std::nullopt, read::Catalogue(), values);
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

/// Where a word stands in a command by itself.
std::size_t find_whole(std::string_view command, std::string_view word) {
  const auto is_inside = [&](std::size_t at) {
    return at < command.size() && (quantity::is_name_char(command[at]) || command[at] == '.');
  };
  auto at = command.find(word);
  while (at != command.npos && (is_inside(at - 1) || is_inside(at + word.size()))) at = command.find(word, at + 1);
  return at;
}

/// That a program does not take the command before a release.
std::string too_old(const spec::Question& question, const frameworks::ReleaseWord& row) {
  const Term& software = *read::find_term("framework_version");
  spec::Question later = question;
  later.training.software = {{{row.library, row.since}}, {}, {}};
  return fmt::format("--{} '{}': {} takes these options since {}", read::option_name(software.name),
                     software.show(question), row.word, software.show(later));
}

}  // namespace

std::vector<Launch> launches(const spec::Question& question, const std::string& model) {
  const spec::Framework framework = question.training.framework;
  const auto starts = [word = spec::name_of(framework)](const Format& each) {
    return each.write != nullptr && each.starts(word);
  };
  const auto* format = quantity::find_if_or_null(formats(), starts);
  if (format == nullptr) return {};
  Letter letter{question, *format, model};
  const auto to_come = frameworks::words_to_come(spec::name_of(framework), question.training.software);
  letter.settings.write_before(to_come);
  letter.accelerate.write_before(to_come);
  Launch launch{std::string(frameworks::row_of(framework).title), format->write(letter), {}};
  if (launch.command.empty()) return {};
  for (const auto& row : to_come) {
    if (row.before.empty() && find_whole(launch.command, row.word) != launch.command.npos)
      launch.beyond.push_back(too_old(question, row));
  }
  quantity::append(launch.beyond, untold(question, launch.command));
  if (!launch.beyond.empty()) launch.command.clear();  // what is read back as another run starts none
  return {std::move(launch)};
}

std::vector<std::pair<std::string, std::string>> files_of(const Launch& launch) {
  constexpr std::string_view opens = "cat > ";
  constexpr std::string_view named = " <<END\n";
  constexpr std::string_view closes = "END\n";
  std::vector<std::pair<std::string, std::string>> files;
  std::string_view rest = launch.command;
  while (rest.starts_with(opens)) {
    rest.remove_prefix(opens.size());
    const auto begin = rest.find(named);
    const auto end = rest.find(closes, begin + named.size());
    const auto text = rest.substr(begin + named.size(), end - begin - named.size());
    files.emplace_back(rest.substr(0, begin), text);
    rest.remove_prefix(end + closes.size());
  }
  if (rest.empty()) return files;
  files.emplace_back("run.sh", fmt::format("#!/usr/bin/env bash\ncd \"$(dirname \"$0\")\"\n{}\n", rest));
  return files;
}

void Page::rename(std::string_view key, std::string_view name) {
  for (Entry& entry : entries_) {
    if (entry.key == key) entry.key = name;
  }
}

void Page::remove(std::string_view key) {
  std::erase_if(entries_, [&](const Entry& entry) { return entry.key == key; });
}

std::vector<Page::Entry> Page::known() const {
  std::vector<Entry> entries;
  for (Entry entry : entries_) {
    const auto* row = quantity::find_or_null(to_come_, entry.key, &frameworks::ReleaseWord::word);
    if (row != nullptr) entry.key = row->before;
    if (!entry.key.empty()) entries.push_back(std::move(entry));
  }
  return entries;
}

std::string Page::yaml() const {
  std::string text;
  std::string_view open;
  const auto entries = known();
  for (const Entry& entry : entries) {
    const auto dot = entry.key.find('.');
    const auto block = std::string_view(entry.key).substr(0, dot == std::string::npos ? 0 : dot);
    if (block != open && !block.empty()) text.append(block).append(":\n");
    open = block;
    const auto key = block.empty() ? std::string_view(entry.key) : std::string_view(entry.key).substr(dot + 1);
    text += fmt::format("{}{}: {}\n", block.empty() ? "" : "  ", key, entry.value);
  }
  return text;
}

std::string Page::options(std::string command, Style style) const {
  for (const auto& row : to_come_) {
    if (const auto at = find_whole(command, row.word); at != command.npos && !row.before.empty())
      command.replace(at, row.word.size(), row.before);
  }
  CommandText text(std::move(command));
  for (const auto& [key, value] : known()) {
    std::string name = key;
    if (style == Style::dashed) std::ranges::replace(name, '_', '-');
    const bool is_switch = (style == Style::dashed || style == Style::bare) && (value == "true" || value == "false");
    if (style == Style::assigned) {
      text.flag(fmt::format("{}={}", name, value));
    } else if (is_switch) {
      text.flag((value == "true" ? "--" : "--no-") + name);
    } else {
      text.word("--" + name, value);
    }
  }
  return text.text();
}

std::string Letter::text(std::string_view term) const { return read::find_term(term)->show(question); }

void write_rows(Letter& letter) {
  std::vector<std::string_view> told;
  const auto tables = letter.format.tables;
  for (const auto table : tables.first(std::min<std::size_t>(2, tables.size()))) {
    for (const FormatRow& row : table) {
      if (row.use != Use::written || quantity::contains(told, row.name)) continue;
      const Term& term = *read::find_term(row.name);
      std::string value = spelled(row, term.show(letter.question));
      if (term.values == "0|1" && row.words.empty()) value = value == "1" ? "true" : "";  // one that is off is left out
      const bool is_one = term.group == TermGroup::layout && value == "1";  // a degree that splits nothing
      if (value.empty() || is_one) continue;
      told.push_back(row.name);
      letter.settings.put(row.key, value);
    }
  }
}

std::string torchrun(const spec::Layout& layout, std::string_view program) {
  return fmt::format("torchrun --nnodes {} --nproc-per-node {} {}", layout.nodes, layout.gpus / layout.nodes, program);
}

std::string_view dtype_word(const spec::Question& question) {
  const auto& precision = question.training.precision;
  const bool narrow = precision.weights != formats::Dtype::fp32;
  if (precision.compute == formats::Dtype::bf16) return narrow ? "bf16" : "mixed-bf16";
  if (precision.compute == formats::Dtype::fp16) return narrow ? "fp16" : "mixed-fp16";
  return "fp32";
}

std::string file_text(std::string_view name, std::string_view text) {
  return fmt::format("cat > {} <<END\n{}END\n", name, text);
}

}  // namespace llmcalc::dialects
