#include "api/verbs.hpp"
#include "cli/help.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"

#include <fmt/format.h>

#include <vector>

namespace llmcalc::cli {

using api::Flag;
using api::Verb;

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
  std::vector<std::string_view> groups;
  for (const Flag& flag : flags) {
    if (!quantity::contains(groups, flag.group)) groups.push_back(flag.group);
  }
  for (const auto group : groups) {
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
