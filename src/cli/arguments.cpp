// The only file that knows CLI11.
#include "cli/arguments.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/suggest.hpp"
#include "read/synonyms.hpp"

#include <CLI/CLI.hpp>

#include <algorithm>
#include <utility>

namespace llmcalc::cli {
namespace {

using quantity::BadInput;

std::string dashed(std::string_view name) { return "--" + std::string(name); }

/// CLI11 compares every option with all others when it is declared: with a hundred of them that is most of the time
/// that a short question takes. So it learns only of those that occur.
bool is_mentioned(const Flag& flag, std::span<const std::string> words) {
  return std::ranges::any_of(words, [&](std::string_view word) {
    return word.starts_with("--") && word.substr(2, word.find('=') - 2) == flag.name;
  });
}

/// Whatever follows an option is looked at here and not by CLI11, whose messages do not name places.
CLI::Option* declare(CLI::App& app, const Flag& flag) {
  if (flag.is_switch()) return app.add_flag(dashed(flag.name));
  return app.add_option(dashed(flag.name))->expected(0, 1)->take_all();
}

void parse(CLI::App& app, std::span<const std::string> words) {
  std::vector<std::string> last_first(words.rbegin(), words.rend());  // the order that CLI11 asks for
  try {
    app.parse(last_first);
  } catch (const CLI::ParseError& error) {
    throw BadInput("command line", error.what());
  }
}

[[noreturn]] void throw_unknown(const std::string& word, const std::vector<Flag>& flags) {
  const auto option = word.substr(0, word.find('='));
  const auto name = std::string_view(option).substr(std::min(option.find_first_not_of('-'), option.size()));
  const auto saying = read::saying_of(name);
  if (!saying.empty())
    throw BadInput(option, "there is no such option", (saying.starts_with("--") ? "say " : "") + std::string(saying));
  std::vector<std::string_view> names;
  for (const Flag& flag : flags) names.push_back(flag.name);
  const std::size_t most_near = name.size() > 1 ? 3 : 0;  // one letter is like anything
  std::vector<std::string> near;
  for (const auto known : quantity::nearest_names(name, names, most_near)) near.push_back(dashed(known));
  throw BadInput(option, "there is no such option",
                 quantity::one_of(std::vector<std::string_view>(near.begin(), near.end())));
}

}  // namespace

Arguments::Arguments(const std::vector<Flag>& flags, std::span<const std::string> words) {
  CLI::App app;
  app.set_help_flag();
  app.allow_extras();
  std::vector<std::pair<const Flag*, CLI::Option*>> options;
  for (const Flag& flag : flags) {
    if (is_mentioned(flag, words)) options.emplace_back(&flag, declare(app, flag));
  }
  parse(app, words);

  names_ = app.remaining();
  const auto unknown = std::ranges::find_if(names_, [](const auto& word) { return word.size() > 1 && word[0] == '-'; });
  if (unknown != names_.end()) throw_unknown(*unknown, flags);
  for (const auto& [flag, option] : options) {
    if (option->count() > 0) take(*flag, option->results());
  }
}

void Arguments::take(const Flag& flag, const std::vector<std::string>& given) {
  const auto place = dashed(flag.name);
  if (given.size() > 1 && !flag.repeats) throw BadInput(place, "is given more than once");
  if (quantity::contains(given, "")) throw BadInput(place, "needs a value: " + flag.values);
  if (!flag.is_switch() || quantity::parse_bool(given.front(), place)) values_[flag.name] = given;
}

const std::string* Arguments::find(std::string_view flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? nullptr : &found->second.front();
}

std::vector<std::string> Arguments::all(std::string_view flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

const std::vector<std::string>& Arguments::names(std::size_t most) const {
  if (names_.size() <= most) return names_;
  const std::string joined = most == 0 ? std::string() : names_[most - 1] + "-" + names_[most];
  throw BadInput("'" + names_[most] + "'", "is one word too many",
                 joined.empty() ? "" : "a name is one word, as '" + joined + "'; all else is said by options");
}

std::string_view Arguments::choice(std::string_view flag, std::span<const std::string_view> words) const {
  const std::string* value = find(flag);
  if (value == nullptr) return words.front();
  const auto found = std::ranges::find(words, *value);
  if (found != words.end()) return *found;
  const auto expected = quantity::joined(words, ", ");
  throw BadInput(dashed(flag), "'" + *value + "' is not one of " + expected, quantity::did_you_mean(*value, words));
}

}  // namespace llmcalc::cli
