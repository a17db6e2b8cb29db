#include "api/verbs.hpp"
#include "cli/run.hpp"
#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::cli {
namespace {

using api::Flag;
using api::Verb;

enum class Known { models, accelerators };

/// Which words are names of presets: an option's value, and what stands without one under a verb.
struct PresetWord {
  std::string_view word;
  Known known;
};
constexpr PresetWord valued[] = {{"model", Known::models}, {"gpu", Known::accelerators}};
constexpr PresetWord bare[] = {{"fit", Known::models},
                               {"serve", Known::models},
                               {"plan", Known::models},
                               {"model", Known::models},
                               {"gpu", Known::accelerators}};

/// Names with blanks between them. Every entry is read for that, so once.
const std::string& names_of(Known known) {
  static const std::string models = quantity::joined(
      quantity::mapped(read::Catalogue{}.models(), [](const read::ModelPreset& preset) { return preset.id; }), " ");
  static const std::string accelerators =
      quantity::joined(read::Catalogue{}.accelerators(), " ",
                       [](const read::AcceleratorPreset& preset) { return preset.accelerator.id; });
  return known == Known::models ? models : accelerators;
}

/// An option with the verbs that take it so.
struct Row {
  Flag flag;
  std::vector<std::string> verbs;
  std::string words;  ///< its values with blanks between them; empty where they are no list
};

bool is_list(const std::string& values) {
  return values.find('|') != std::string::npos && values.find_first_of(" ,<") == std::string::npos;
}

std::string words_of(const Flag& flag) {
  if (const auto* named = quantity::find_or_null(valued, flag.name, &PresetWord::word)) {
    return names_of(named->known);
  }
  if (!is_list(flag.values)) return {};
  std::string words = flag.values;
  std::ranges::replace(words, '|', ' ');
  return words;
}

std::vector<Row> rows() {
  std::vector<Row> rows;
  for (const Verb& verb : api::verbs()) {
    for (const Flag& flag : all_flags(verb)) {
      const auto same = [&](const Row& row) { return row.flag.name == flag.name && row.flag.values == flag.values; };
      auto row = std::ranges::find_if(rows, same);
      if (row == rows.end()) row = rows.insert(rows.end(), {flag, {}, words_of(flag)});
      row->verbs.emplace_back(verb.name);
    }
  }
  return rows;
}

/// A text in single quotes, as all three shells read them.
std::string in_quotes(std::string_view text) {
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

/// How bash and zsh set the list that is offered.
struct Setting {
  std::string_view open, close;
};

/// Arms of a case over "verb:option before the word".
std::string value_arms(Setting set) {
  std::string arms;
  for (const Row& row : rows()) {
    if (row.words.empty()) continue;
    const auto option = ":--" + row.flag.name;
    arms += fmt::format("    {}{}) {}{}{} ;;\n", quantity::joined(row.verbs, option + " | "), option, set.open,
                        row.words, set.close);
  }
  return arms;
}

std::string name_arms(Setting set) {
  std::string arms;
  for (const PresetWord& each : bare) {
    arms += fmt::format("    {}:*) {}{}{} ;;\n", each.word, set.open, names_of(each.known), set.close);
  }
  return arms;
}

std::string bash() {
  std::string options;
  for (const Verb& verb : api::verbs()) {
    const auto dashed = [](const Flag& flag) { return "--" + flag.name; };
    options += fmt::format("    {}) words='{}' ;;\n", verb.name, quantity::joined(all_flags(verb), " ", dashed));
  }
  constexpr Setting set{"words='", "'"};
  return fmt::format(R"(_llmcalc() {{
  local current=${{COMP_WORDS[COMP_CWORD]}} before=${{COMP_WORDS[COMP_CWORD - 1]}} verb=${{COMP_WORDS[1]}} words=
  if [[ $COMP_CWORD -eq 1 ]]; then
    words='{}'
  elif [[ $current == -* ]]; then
    case $verb in
{}    esac
  else
    case $verb:$before in
{}    *:--*) ;;
{}    esac
  fi
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
}}
complete -o default -F _llmcalc llmcalc
)",
                     quantity::joined(api::verbs(), " ", &Verb::name), options, value_arms(set), name_arms(set));
}

std::string zsh() {
  std::string verbs;
  std::string options;
  for (const Verb& verb : api::verbs()) {
    verbs += " " + in_quotes(fmt::format("{}:{}", verb.name, verb.summary));
    const auto described = [](const Flag& flag) { return in_quotes(fmt::format("--{}:{}", flag.name, flag.help)); };
    options += fmt::format("    {}) found=({}) ;;\n", verb.name, quantity::joined(all_flags(verb), " ", described));
  }
  constexpr Setting set{"found=(", ")"};
  return fmt::format(R"(#compdef llmcalc
_llmcalc() {{
  local before=${{words[CURRENT-1]}} verb=${{words[2]}}
  local -a found
  if (( CURRENT == 2 )); then
    found=({})
    _describe verb found
  elif [[ $PREFIX == -* ]]; then
    case $verb in
{}    esac
    _describe -o option found
  else
    case $verb:$before in
{}    *:--*) ;;
{}    esac
    compadd -a found
    _files
  fi
}}
if [[ $funcstack[1] == _llmcalc ]]; then _llmcalc "$@"; else compdef _llmcalc llmcalc; fi
)",
                     verbs.substr(1), options, value_arms(set), name_arms(set));
}

std::string fish() {
  std::string text;
  for (const Verb& verb : api::verbs()) {
    text +=
        fmt::format("complete -c llmcalc -n __fish_use_subcommand -xa {} -d {}\n", verb.name, in_quotes(verb.summary));
  }
  for (const PresetWord& each : bare) {
    text += fmt::format("complete -c llmcalc -n '__fish_seen_subcommand_from {}' -a {}\n", each.word,
                        in_quotes(names_of(each.known)));
  }
  for (const Row& row : rows()) {
    const std::string takes = row.flag.is_switch() ? "" : row.words.empty() ? " -r" : " -xa " + in_quotes(row.words);
    text += fmt::format("complete -c llmcalc -n '__fish_seen_subcommand_from {}' -l {}{} -d {}\n",
                        quantity::joined(row.verbs, " "), row.flag.name, takes, in_quotes(row.flag.help));
  }
  return text;
}

struct Shell {
  std::string_view name;
  std::string (*script)();
};
constexpr Shell shells[] = {{"bash", bash}, {"zsh", zsh}, {"fish", fish}};

}  // namespace

std::string completion(std::string_view shell) {
  if (const auto* found = quantity::find_or_null(shells, shell, &Shell::name)) return found->script();
  const auto names = quantity::mapped(shells, &Shell::name);
  throw quantity::BadInput("completion", quantity::quoted(shell) + " is no shell that is known here",
                           quantity::one_of(names));
}

// Pages for man (man(7) of groff: a line that begins with a dot is a request).

namespace {

/// Backslashes and dashes have a meaning in roff, a dot or a quote where a line begins. A list breaks after its bars.
std::string roff(std::string_view text) {
  std::string result = text.starts_with('.') || text.starts_with('\'') ? "\\&" : "";
  for (const char c : text) {
    if (c == '\\' || c == '-') result += '\\';
    result += c == '\\' ? 'e' : c;
    if (c == '|') result += "\\:";
  }
  return result;
}

std::string page_name(const Verb& verb) { return fmt::format("llmcalc-{}", verb.name); }

std::string head(std::string_view name, std::string_view summary, std::string_view usage) {
  return fmt::format(".TH {0} 1 \"\" \"llmcalc " LLMCALC_VERSION
                     "\" \"User Commands\"\n.SH NAME\n{0} \\- {1}\n"
                     ".ad l\n.nh\n.SH SYNOPSIS\n.B llmcalc\n{2}\n",
                     roff(name), roff(summary), roff(usage));
}

std::string see_also(std::string_view but) {
  std::string list;
  const auto add = [&](std::string_view name) {
    if (name != but) list += fmt::format("{}\n.BR {} (1)", list.empty() ? "" : ",", roff(name));
  };
  add("llmcalc");
  for (const Verb& verb : api::verbs()) add(page_name(verb));
  return ".SH SEE ALSO" + list + "\n";
}

constexpr std::string_view exit_codes =
    ".SH EXIT STATUS\n.TP\n.B 0\nit fits, or there is an answer without a verdict\n.TP\n.B 1\nit does not fit\n.TP\n"
    ".B 2\nthe question could not be answered\n";

std::string page_of_program() {
  std::string text =
      head("llmcalc", "memory, time and cost of training and serving large language models", "VERB [options]") +
      ".SH DESCRIPTION\nAnswers before a job is launched, on a machine without a GPU, whether it fits, where its "
      "memory peaks, how long it takes, what it costs, and what would make it fit.\n.SH VERBS\n";
  for (const Verb& verb : api::verbs()) text += fmt::format(".TP\n.B {}\n{}\n", verb.name, roff(verb.summary));
  text += ".SH FILES\n.TP\n.I $XDG_CONFIG_HOME/llmcalc/presets\nmodels, accelerators and families of the user\n";
  return text + std::string(exit_codes) + see_also("llmcalc");
}

std::string page_of(const Verb& verb) {
  const auto flags = all_flags(verb);
  std::string text = head(page_name(verb), verb.summary, fmt::format("{} {}", verb.name, verb.usage)) + ".SH OPTIONS\n";
  for (const auto group : api::groups_of(flags)) {
    text += fmt::format(".SS {}\n", group);
    for (const Flag& flag : flags) {
      if (flag.group != group) continue;
      const auto values = flag.is_switch() ? std::string() : fmt::format(" \\fI{}\\fR", roff(flag.values));
      text += fmt::format(".TP\n\\fB\\-\\-{}\\fR{}\n{}\n", roff(flag.name), values, roff(flag.help));
    }
  }
  text += ".SH EXAMPLES\n";
  for (const auto example : quantity::pieces_of(verb.examples, "\n"))
    text += fmt::format(".EX\n{}\n.EE\n", roff(example));
  return text + std::string(exit_codes) + see_also(page_name(verb));
}

}  // namespace

std::string manual(std::string_view page) {
  if (page == "llmcalc") return page_of_program();
  std::vector<std::string> names{"llmcalc"};
  for (const Verb& verb : api::verbs()) {
    names.push_back(page_name(verb));
    if (names.back() == page) return page_of(verb);
  }
  if (page == "list") return quantity::joined(names, "\n") + "\n";
  throw quantity::BadInput("man", "there is no page '" + std::string(page) + "'",
                           quantity::one_of(std::vector<std::string_view>(names.begin(), names.end())));
}

}  // namespace llmcalc::cli
