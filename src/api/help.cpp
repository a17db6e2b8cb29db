#include "api/help.hpp"

#include "quantity/lists.hpp"
#include "quantity/text.hpp"

#include <algorithm>

namespace llmcalc::api {
namespace {

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
  std::vector<std::string_view> groups;
  for (const Flag& flag : flags) {
    if (!quantity::contains(groups, flag.group)) groups.push_back(flag.group);
  }
  for (const auto group : groups) {
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
