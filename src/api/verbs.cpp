#include "api/verbs.hpp"

#include "api/inner/limits.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"

#include <algorithm>

namespace llmcalc::api {
namespace {

constexpr Verb rows[] = {
#include "vocabulary/program.inc"
};

/// Kinds of rows: options that stand once or repeat, that whose values are the forms of the answer, all terms of a
/// question.
enum class FlagKind { once, repeated, formats, question };

struct FlagRow {
  std::string_view name;
  std::string_view verbs;  ///< apart by blanks; empty: all of them
  std::string_view values;
  std::string_view help;
  std::string_view group;
  FlagKind kind = FlagKind::once;
};

constexpr FlagRow flag_rows[] = {
#include "vocabulary/flags.inc"
};

void add(const FlagRow& row, const Verb& verb, std::vector<Flag>& flags) {
  if (row.kind == FlagKind::question) return quantity::append(flags, verb.terms());
  const FlagRow& told = row.help.empty() ? *quantity::find_or_null(flag_rows, row.name, &FlagRow::name) : row;
  flags.push_back({std::string(row.name), std::string(row.kind == FlagKind::formats ? verb.formats : told.values),
                   told.help, row.group, row.kind == FlagKind::repeated});
}

/// Names that people have for what a verb does.
struct Called {
  std::string_view theirs;
  std::string_view hint;
};
constexpr Called calls[] = {
#include "vocabulary/verbs.inc"
};

/// An option as many programs have it.
struct Customary {
  std::string_view theirs;
  std::string_view option;
  std::string_view value;  ///< empty: of a switch
};

constexpr Customary customary[] = {{"-V", "--version", {}},
                                   {"-q", "--quiet", {}},
                                   {"--json", "--format", "json"},
                                   {"--no-color", "--color", "never"},
                                   {"--no-colour", "--color", "never"}};

constexpr std::size_t text_column = 28;
constexpr std::size_t line_width = 80;

/// Text in lines of at most `line_width`, broken at spaces and after '|', from `text_column` on.
std::string wrapped(std::string_view text) {
  const auto width = line_width - text_column;
  std::string result;
  while (text.size() > width) {
    auto end = text.find_last_of(" |", width - 1);
    end = end == std::string_view::npos ? width : end + 1;
    result.append(text.substr(0, text[end - 1] == ' ' ? end - 1 : end)).append("\n").append(text_column, ' ');
    text.remove_prefix(end);
  }
  return result.append(text).append("\n");
}

/// "  --kv-heads                what it is" with the text on its own line where the head is too long.
std::string entry(std::string_view head, std::string_view text) {
  std::string line = "  " + std::string(head);
  if (line.size() + 2 > text_column) line.append("\n");
  const auto indent = line.ends_with('\n') ? text_column : text_column - line.size();
  return line.append(indent, ' ').append(wrapped(text));
}

std::string flag_entry(const Flag& flag) {
  std::string text(flag.help);
  if (!flag.is_switch()) text.append(" <").append(flag.values).append(">");
  return entry("--" + flag.name, text);
}

std::string lead_of(const Verb& verb) {
  return "usage: llmcalc " + std::string(verb.name) + " " + std::string(verb.usage) + "\n\n" +
         std::string(verb.summary) + "\n";
}

std::string examples_of(const Verb& verb) {
  std::string text = "\n";
  for (const auto example : quantity::pieces_of(verb.examples, "\n")) text.append("  ").append(example).append("\n");
  return text;
}

/// An option in one line, its values where there is room for them.
std::string short_entry(const Flag& flag) {
  std::string text(flag.help);
  const auto values = " <" + flag.values + ">";
  if (!flag.is_switch() && text_column + text.size() + values.size() <= line_width) text += values;
  return entry("--" + flag.name, text);
}

/// `llmcalc VERB -h`: what most questions need, on one screen.
std::string short_help(const Verb& verb, const std::vector<Flag>& flags) {
  auto text = lead_of(verb) + "\n";
  for (const auto name : quantity::pieces_of(verb.usual, " "))
    text += short_entry(*std::ranges::find(flags, name, &Flag::name));
  for (const Flag& flag : flags) {
    if (verb.usual.empty()) text += short_entry(flag);
  }
  return text + examples_of(verb) + "\nllmcalc " + std::string(verb.name) + " --help has all " +
         std::to_string(flags.size()) + " options\n";
}

bool is_long_help(const std::string& word) { return word == "--help"; }
bool is_short_help(const std::string& word) { return word == "-h"; }
bool is_version(const std::string& word) { return word == "--version"; }

/// "help", "help fit"
std::string help(std::span<const std::string> names) {
  if (names.empty() || names.front().starts_with('-')) return program_help();
  const Verb& verb = find_verb(names.front());
  return verb_help(verb, all_flags(verb));
}

}  // namespace

std::span<const Verb> verbs() { return rows; }

std::vector<Flag> own_flags(const Verb& verb) {
  std::vector<Flag> flags;
  for (const FlagRow& row : flag_rows) {
    if (quantity::contains(quantity::pieces_of(row.verbs, " "), verb.name)) add(row, verb, flags);
  }
  return flags;
}

std::vector<Flag> all_flags(const Verb& verb) {
  auto flags = own_flags(verb);
  for (const FlagRow& row : flag_rows) {
    if (row.verbs.empty()) add(row, verb, flags);
  }
  return flags;
}

Reply answer(const Verb& verb, const Arguments& arguments, const Surroundings& around) {
  Reply reply = verb.ask(arguments, around);
  compare_with_baseline(reply, arguments, around);
  return reply;
}

/// Planning a server is the search of another verb, whose words it takes.
Reply ask(std::string_view verb, std::span<const Word> words, const Surroundings& around) {
  std::vector<Word> own(words.begin(), words.end());
  const auto plans_server = [](const Word& word) {
    return word.term == "serve" && quantity::parse_bool(word.text, "--serve");
  };
  const bool is_server = verb == "plan" && std::erase_if(own, plans_server) > 0;
  if (is_server) own.push_back({"find", "layout"});
  if (is_server) std::erase_if(own, [](const Word& word) { return word.term == "objective" && word.text == "cost"; });
  const Verb& asked = find_verb(is_server ? "serve" : verb);
  return answer(asked, Arguments(all_flags(asked), own), around);
}

void refuse_no_verdict() {
  throw quantity::BadInput("--gpu", "is missing, and without an accelerator there is no verdict",
                           "name one, as --gpu a100-80, or leave out --strict and --quiet");
}

std::string hint_for_verb(std::string_view name) {
  if (const auto* found = quantity::find_or_null(calls, name, &Called::theirs)) return std::string(found->hint);
  if (name.starts_with('-')) return "one comes before the options, as llmcalc fit " + std::string(name);
  return quantity::did_you_mean(name, quantity::mapped(rows, &Verb::name), "see llmcalc --help");
}

const Verb& find_verb(std::string_view name) {
  if (const auto* found = quantity::find_or_null(rows, name, &Verb::name)) return *found;
  throw quantity::BadInput({}, "there is no verb '" + std::string(name) + "'", hint_for_verb(name));
}

namespace {

/// A value that cannot be read is left for the verb to refuse.
bool plans_server(std::string_view word) try {
  constexpr std::string_view option = "--serve";
  const auto rest = quantity::without_start(word, option);
  return rest != word && (rest.empty() || (rest[0] == '=' && quantity::parse_bool(rest.substr(1), option)));
} catch (const quantity::BadInput&) {
  return false;
}

/// A plan of a server looks for the most tokens for the money: to say so changes nothing.
void leave_out_cost(std::vector<std::string>& line) {
  std::erase(line, "--objective=cost");
  const auto said = std::ranges::find(line, "--objective");
  if (line.end() - said > 1 && *(said + 1) == "cost") line.erase(said, said + 2);
}

}  // namespace

std::vector<std::string> spelled_out(std::span<const std::string> line) {
  std::vector<std::string> full;
  for (const auto& word : line) {
    const auto* found = quantity::find_or_null(customary, word, &Customary::theirs);
    full.emplace_back(found == nullptr ? word : found->option);
    if (found != nullptr && !found->value.empty()) full.emplace_back(found->value);
  }
  if (!full.empty() && full.front() == "plan" && std::erase_if(full, plans_server) > 0) {
    full.front() = "serve";
    full.insert(full.begin() + 1, {"--find", "layout"});
    leave_out_cost(full);
  }
  return full;
}

std::string program_help() {
  std::string text =
      "usage: llmcalc VERB [options]\n\n"
      "Memory, time and cost of training large language models, before the launch and\nwithout a GPU.\n\n";
  for (const Verb& verb : verbs()) text += entry(verb.name, verb.summary);
  text += "\n" + entry("VERB -h", "its usual options; --help: all of them") +
          entry("-V, --version", "version of the program; also: completion, man, mcp");
  return text +
         "\n  llmcalc fit --params 1e9 --dtype bf16 --gpu a100-80\n"
         "\nexit: 0 fits, 1 does not fit, 2 the question could not be answered\n";
}

std::string verb_help(const Verb& verb, const std::vector<Flag>& flags) {
  auto text = lead_of(verb);
  for (const auto group : groups_of(flags)) {
    text += "\n" + std::string(group) + "\n";
    for (const Flag& flag : flags) {
      if (flag.group == group) text += flag_entry(flag);
    }
  }
  return text + examples_of(verb);
}

std::optional<std::string> told_of_program(std::span<const std::string> words) {
  const auto& first = words.front();
  if (is_long_help(first) || is_short_help(first)) return program_help();
  if (std::ranges::any_of(words, is_version)) return "llmcalc " + std::string(version()) + "\n";
  if (first == "help") return help(words.subspan(1));
  const auto* verb = quantity::find_or_null(verbs(), first, &Verb::name);
  if (verb == nullptr) return std::nullopt;
  if (std::ranges::any_of(words, is_long_help)) return verb_help(*verb, all_flags(*verb));
  if (std::ranges::any_of(words, is_short_help)) return short_help(*verb, all_flags(*verb));
  return std::nullopt;
}

}  // namespace llmcalc::api
