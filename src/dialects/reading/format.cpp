
#include "dialects/servers/server_rules.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/vocabulary.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::dialects {
namespace {

/// One of a row's names, which may be all that begin so.
std::optional<std::string_view> name_for(const FormatRow& row, std::string_view key) {
  std::string_view rest = row.key;
  while (!rest.empty()) {
    const auto name = quantity::take_until(rest, " ");
    if (name.ends_with('*') ? key.starts_with(name.substr(0, name.size() - 1)) : name == key) return name;
  }
  return std::nullopt;
}

#include "dialects/tables.inc"

template <const auto&... rows>
constexpr std::span<const FormatRow> tables[] = {rows...};

constexpr Format all_formats[] = {
#include "dialects/formats.inc"
};

/// Value of a term that neither keys nor rules say.
struct Usual {
  Dialect dialect;
  std::string_view term, value, whose;
};

constexpr Usual usuals[] = {
#include "dialects/usual.inc"
};

struct WordList {
  std::string_view name;
  std::string_view words;
};
constexpr WordList word_lists[] = {
#include "dialects/words.inc"
};

/// A switch that is off, a count of nothing: it asks for nothing that we could miss.
bool is_off(const Setting& setting) {
  const std::string word = quantity::to_lower(setting.text);
  return says_nothing(setting) || word == "false" || word == "0" || word == "0.0" || word == "no";
}

/// A word that a trainer knows and we do not: what would have to be guessed.
[[noreturn]] void refuse_word(std::string_view term, std::span<const Spelling> spellings, const Setting& setting) {
  throw quantity::BadInput(
      setting.where,
      fmt::format("{} {} is none that is modelled: {}", setting.key, quantity::quoted(setting.text),
                  quantity::joined(spellings, ", ", &Spelling::theirs)),
      fmt::format("leave it out and say --{}, if another stands for it", read::option_name(term)));
}

bool is_switch(std::string_view name) {
  const Term* term = find_term(name);
  return term != nullptr && term->values == "0|1";
}

/// "EXTRA_ARGS": what stands behind a key that may as well have a value, as "--save $FOLDER".
bool holds_options(std::string_view variable) {
  const std::string name = quantity::to_lower(variable.substr(0, variable.find(',')));
  return name.find("arg") != name.npos || name.find("opt") != name.npos || name.find("flag") != name.npos;
}

/// A switch in front of a variable that nobody set is on; whatever the variable holds is not read.
void take_switch(std::string_view term, std::span<const Spelling> spellings, const Setting& setting, Sheet& sheet) {
  if (sheet.is_bare(setting.key)) sheet.assume_unread_options(setting);
  const auto truth = sheet.truth(setting.key);
  if (!truth) return;
  if (spellings.empty()) return sheet.say(term, *truth ? "1" : "0", setting);
  const auto* ours = quantity::find_or_null(spellings, *truth ? std::string_view("yes") : "no", &Spelling::theirs);
  if (ours != nullptr && !ours->ours.empty()) sheet.say(term, ours->ours, setting);
}

void take_term(std::string_view term, std::span<const Spelling> spellings, const Setting& setting, Sheet& sheet) {
  const std::string word = quantity::to_lower(setting.text);
  const auto is_it = [&](const Spelling& each) { return quantity::to_lower(each.theirs) == word; };
  const auto spelling = std::ranges::find_if(spellings, is_it);
  const bool is_word = spelling != spellings.end();
  const bool switches = !is_word && quantity::contains(quantity::mapped(spellings, &Spelling::theirs), "yes");
  if (is_switch(term) || switches) return take_switch(term, spellings, setting, sheet);
  if (!setting.unknown.empty()) return sheet.take(term, setting);
  if (says_nothing(setting) && !is_word) return;
  if (spellings.empty()) return sheet.say(term, setting.text, setting);
  if (!is_word) refuse_word(term, spellings, setting);
  if (!spelling->ours.empty()) sheet.say(term, spelling->ours, setting);
}

const serving::EngineOption* option_of(const Format& format, std::string_view key) {
  const auto* engine = spec::find_name<spec::Engine>(format.frameworks);
  if (!format.serves || engine == nullptr) return nullptr;
  const auto is_it = [&](const serving::EngineOption& option) { return option.is_called(key); };
  return quantity::find_if_or_null(serving::row_of(engine->value).options, is_it);
}

void take_option(const serving::EngineOption& option, const Setting& setting, Sheet& sheet) {
  using serving::Says;
  switch (option.says) {
    case Says::value: return take_term(option.term, spellings_of(option.words), setting, sheet);
    case Says::number: return take_human_number(sheet, {setting.key}, option.term);
    case Says::yes:
    case Says::no:
      if (sheet.is_on(setting.key)) sheet.say(option.term, option.says == Says::yes ? "1" : "0", setting);
      return;
    case Says::rule:
    case Says::part: return;
  }
}

}  // namespace

std::string_view term_of(const Format& format, std::string_view key) {
  if (const auto* option = option_of(format, key)) {
    const bool by_itself = option->says == serving::Says::value || option->says == serving::Says::number ||
                           option->says == serving::Says::rule;
    return by_itself ? option->term : std::string_view();
  }
  const FormatRow* row = find_row(format, key);
  const bool says = row != nullptr && (row->use == Use::term || row->use == Use::written || row->use == Use::rule);
  return says ? row->name : std::string_view();
}

std::vector<Spelling> spellings_of(std::string_view words) {
  if (words.starts_with('@')) words = quantity::find_or_null(word_lists, words.substr(1), &WordList::name)->words;
  const auto split = [](std::string_view pair) {
    const auto theirs = quantity::take_until(pair, "=");
    return Spelling{theirs, pair};
  };
  return words.empty() ? std::vector<Spelling>() : quantity::mapped(quantity::pieces_of(words, " "), split);
}

std::string_view theirs_for(std::string_view ours, std::string_view words) {
  const auto spellings = spellings_of(words);
  const auto* found = quantity::find_or_null(spellings, ours, &Spelling::ours);
  return found == nullptr ? std::string_view() : found->theirs;
}

bool recognizes(const Format& format, const Settings& settings) {
  const auto has = [&](std::string_view key) { return settings.has(key); };
  const auto has_all = [&](std::string_view keys) { return std::ranges::all_of(quantity::pieces_of(keys, "+"), has); };
  const auto is_foreign = [&](std::string_view key) { return key.starts_with('!') && has(key.substr(1)); };
  const auto keys = quantity::pieces_of(format.keys, " ");
  return std::ranges::none_of(keys, is_foreign) && std::ranges::any_of(keys, has_all);
}

void rename(const Format& format, Settings& settings) {
  Settings all;
  for (Setting setting : settings.all()) {
    const FormatRow* row = find_row(format, setting.key);
    while (row != nullptr && row->use == Use::block) {
      setting.key.erase(0, name_for(*row, setting.key)->size() - 1);
      row = find_row(format, setting.key);
    }
    if (setting.text == "???") setting.text.clear();  // OmegaConf: to be said on the command line
    if (row != nullptr && row->use == Use::alias) {
      if (settings.has(row->name)) continue;
      setting.key = row->name;
    }
    all.put(std::move(setting));
  }
  settings = std::move(all);
  if (format.rename != nullptr) format.rename(settings);
}

std::vector<std::string> options_of_key(std::string_view key) {
  std::string name(key);
  std::ranges::replace(name, '-', '_');
  std::vector<std::string> options;
  for (const Format& format : all_formats) {
    const FormatRow* row = find_row(format, name);
    const std::string_view term = term_of(format, name);
    constexpr std::size_t shortest = 3;  // "-c" of one server is another's configuration
    const bool of_server = option_of(format, name) != nullptr;
    const bool means_it = of_server ? name.size() >= shortest : row != nullptr && row->key == name;
    if (term.empty() || !means_it) continue;
    std::string option = option_name(term);
    if (!quantity::contains(options, option)) options.push_back(std::move(option));
  }
  return options;
}

/// A name in full counts before those that are all that begin so, whichever table has it.
const FormatRow* find_row(const Format& format, std::string_view key) {
  for (const bool by_beginning : {false, true}) {
    for (const auto table : format.tables) {
      const auto is_it = [&](const FormatRow& each) {
        const auto name = name_for(each, key);
        return name && name->ends_with('*') == by_beginning;
      };
      if (const auto* row = quantity::find_if_or_null(table, is_it)) return row;
    }
  }
  return nullptr;
}

bool knows_key(const Format& format, std::string_view key) {
  return option_of(format, key) != nullptr || find_row(format, key) != nullptr;
}

std::string key_beginning(const Format& format, std::string_view beginning) {
  std::vector<std::string> found;
  const auto take = [&](std::string_view names) {
    for (auto name : quantity::pieces_of(names, " ")) {
      const std::string key = read::with_underscores(name.substr(std::min(name.find_first_not_of('-'), name.size())));
      if (key.starts_with(beginning) && !quantity::contains(found, key)) found.push_back(key);
    }
  };
  if (const auto* engine = spec::find_name<spec::Engine>(format.frameworks)) {
    for (const serving::EngineOption& option : serving::row_of(engine->value).options) take(option.names);
  }
  for (const auto table : format.tables) {
    for (const FormatRow& row : table) take(row.key);
  }
  return found.size() == 1 ? found.front() : std::string();
}

std::vector<Given> take_open(const Format& format, Settings& settings) {
  std::vector<Given> open;
  if (!format.serves) return open;
  for (const Setting& setting : std::vector<Setting>(settings.all().begin(), settings.all().end())) {
    const std::string_view name = setting.unknown.empty() ? std::string_view() : term_of(format, setting.key);
    const Term* term = find_term(name);
    if (term == nullptr || is_switch(name) || term->group == TermGroup::model) continue;
    open.push_back({std::string(name), what_it_hangs_on(setting), {Source::file, setting.where}});
    settings.remove(setting.key);
  }
  return open;
}

void apply(const Format& format, Sheet& sheet) {
  for (const Setting& setting : sheet.settings().all()) {
    const FormatRow* row = find_row(format, setting.key);
    if (const auto* option = option_of(format, setting.key)) {
      take_option(*option, setting, sheet);
    } else if (row == nullptr && setting.text != read::empty_section) {
      sheet.reading().unread.push_back(setting.key + " (" + setting.where + ")");
    } else if (row == nullptr) {
      continue;
    } else if (row->use == Use::term || row->use == Use::written) {
      take_term(row->name, spellings_of(row->words), setting, sheet);
    } else if (row->use == Use::unmapped ? !is_off(setting) : row->use == Use::size && !says_nothing(setting)) {
      sheet.assume(setting, row->name, row->words);
    } else if (row->use == Use::harmless && sheet.is_bare(setting.key) && holds_options(setting.unknown)) {
      sheet.assume_unread_options(setting);
    }
  }
  if (format.rules != nullptr) format.rules(sheet);
  for (const auto& [dialect, term, value, whose] : usuals) {
    if (dialect == format.dialect) sheet.by_default(term, value, whose);
  }
}

bool Format::starts(std::string_view word) const {
  return quantity::contains(quantity::pieces_of(frameworks, " "), word);
}

std::span<const Format> formats() { return all_formats; }

const Format& row_of(Dialect dialect) { return *quantity::find_or_null(all_formats, dialect, &Format::dialect); }

}  // namespace llmcalc::dialects
