
#include "api/verbs.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "quantity/suggest.hpp"
#include "quantity/text.hpp"
#include "read/vocabulary.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::api {
namespace {

using quantity::BadInput;

std::string dashed(std::string_view name) { return "--" + std::string(name); }

const Flag* find_flag(const std::vector<Flag>& flags, std::string_view name) {
  return quantity::find_or_null(flags, name, &Flag::name);
}

/// "an option of fit and plan"; empty where no verb has it.
std::string owners_of(std::string_view name) {
  const auto owners = quantity::mapped_if(
      verbs(), &Verb::name, [&](const Verb& verb) { return find_flag(own_flags(verb), name) != nullptr; });
  return owners.empty() ? std::string() : "it is an option of " + quantity::joined(owners, ", ");
}

[[noreturn]] void throw_unknown(std::string_view option, const std::vector<Flag>& flags) {
  const auto name = option.substr(std::min(option.find_first_not_of('-'), option.size()));
  const auto saying = read::saying_of(name);
  if (!saying.empty())
    throw BadInput(std::string(option), "there is no such option",
                   (saying.starts_with("--") ? "say " : "") + std::string(saying));
  const auto lower = quantity::to_lower(name);
  const auto owners = find_flag(flags, lower) == nullptr ? owners_of(lower) : std::string();
  if (!owners.empty()) throw BadInput(std::string(option), "there is no such option here", owners);
  std::vector<std::string_view> names;
  for (const Flag& flag : flags) names.push_back(flag.name);
  const std::size_t most_near = name.size() > 1 ? 3 : 0;  // one letter is like anything
  std::vector<std::string> near;
  for (const auto known : quantity::nearest_names(name, names, most_near)) {
    near.push_back(dashed(known));
  }
  throw BadInput(std::string(option), "there is no such option",
                 quantity::one_of(std::vector<std::string_view>(near.begin(), near.end())));
}

/// The one of our options that a name of another program stands for under this verb.
std::string_view synonym_of(std::string_view name, const std::vector<Flag>& flags) {
  const auto flag_of = [&](const auto& options) -> std::string_view {
    const auto found =
        std::ranges::find_if(options, [&](const auto& each) { return find_flag(flags, each) != nullptr; });
    return found == options.end() ? std::string_view() : std::string_view(find_flag(flags, *found)->name);
  };
  const auto ours = flag_of(read::synonyms_of(name));
  return ours.empty() ? flag_of(dialects::options_of_key(name)) : ours;
}

/// The value of an option that is typed without one: yes or no is yes, and trainers take recomputation so
/// (--gradient-checkpointing).
std::string_view said_alone(const Flag& flag, std::string_view synonym) {
  if (flag.values == "0|1") return "1";
  return synonym == "recompute" ? "full" : "";
}

constexpr std::string_view en_dash = "\u2013", em_dash = "\u2014";  // as pages and editors turn two hyphens into

bool is_option(std::string_view word) {
  return word.size() > 1 && word[0] == '-' && !quantity::is_digit(word[1]) && word[1] != '.';
}

/// A command line, word by word.
class Line {
 public:
  Line(const std::vector<Flag>& flags, std::span<const std::string> line) : flags_(flags), line_(line) {}

  std::vector<Word> words() {
    while (at_ < line_.size()) take(line_[at_++]);
    return std::move(words_);
  }

 private:
  void take(std::string_view word) {
    if (word == "--") {
      for (; at_ < line_.size(); ++at_) words_.push_back({{}, line_[at_]});
    } else if (is_option(word)) {
      take_option(word);
    } else if (word.starts_with(en_dash) || word.starts_with(em_dash)) {
      const auto name = word.substr(en_dash.size(), word.find('=') - en_dash.size());
      throw BadInput(quantity::quoted(word), "begins with a dash that is no hyphen", dashed(name));
    } else {
      words_.push_back({{}, std::string(word), {.where = said_before()}});
    }
  }

  /// "--memory 24" before the "GB" that a blank cut off.
  std::string said_before() const {
    if (words_.empty() || words_.back().term.empty() || words_.back().text == "true") return {};
    return dashed(words_.back().term) + " " + words_.back().text;
  }

  void take_option(std::string_view word) {
    const auto equals = word.find('=');
    const auto option = word.substr(0, equals);
    auto name = option.starts_with("--") ? option.substr(2) : std::string_view();
    const Flag* flag = find_flag(flags_, name);
    const auto synonym = flag == nullptr && !name.empty() ? synonym_of(name, flags_) : std::string_view();
    if (!synonym.empty()) flag = find_flag(flags_, synonym);
    if (flag == nullptr && std::ranges::count(words_, std::string_view(), &Word::term) > 1)
      throw BadInput(std::string(option), "there is no such option", "another program's command goes in quotes");
    if (flag == nullptr) throw_unknown(option, flags_);
    Word said{flag->name, "true", {.where = std::string(option)}};
    if (equals != std::string_view::npos) {
      said.text = word.substr(equals + 1);
    } else if (!flag->is_switch()) {
      said.text = value_of(said_alone(*flag, synonym));
    }
    words_.push_back(std::move(said));
  }

  std::string value_of(std::string_view alone) {
    const bool is_alone = at_ == line_.size() || is_option(line_[at_]);
    return is_alone ? std::string(alone) : line_[at_++];
  }

  const std::vector<Flag>& flags_;
  std::span<const std::string> line_;
  std::size_t at_ = 0;
  std::vector<Word> words_;
};

std::string_view heading_of(read::TermGroup group) {
  switch (group) {
    case read::TermGroup::model: return "Model";
    case read::TermGroup::run: return "Run";
    case read::TermGroup::engine: return "Engine";
    case read::TermGroup::load: return "Load";
    case read::TermGroup::layout: return "Layout";
    case read::TermGroup::hardware: return "Hardware";
    case read::TermGroup::answer: return "Answer";
  }
  return {};
}

Flag flag_of(const read::Shorthand& word) {
  return {read::option_name(word.name), std::string(word.values), word.help, heading_of(word.group)};
}

Flag flag_of(const read::Term& term) {
  return {read::option_name(term.name), read::values_of(term), term.help, heading_of(term.group)};
}

}  // namespace

std::vector<Flag> terms_of_run() {
  static const auto all = [] {
    auto flags = quantity::mapped(read::shorthands(), [](const auto& word) { return flag_of(word); });
    for (const auto& term : read::vocabulary()) flags.push_back(flag_of(term));
    return flags;
  }();
  return all;
}

std::vector<Flag> terms_of_server() {
  std::vector<Flag> flags;
  for (const auto& word : read::shorthands()) {
    if (read::describes_model(word)) flags.push_back(flag_of(word));
  }
  for (const auto& term : read::serving_vocabulary()) flags.push_back(flag_of(term));
  return flags;
}

std::vector<std::string_view> groups_of(const std::vector<Flag>& flags) {
  std::vector<std::string_view> groups;
  for (const Flag& flag : flags) {
    if (!quantity::contains(groups, flag.group)) groups.push_back(flag.group);
  }
  return groups;
}

std::vector<Word> words_of_line(const std::vector<Flag>& flags, std::span<const std::string> line) {
  return Line(flags, line).words();
}

Arguments::Arguments(std::vector<Flag> flags, std::span<const Word> words) : flags_(std::move(flags)) {
  std::map<std::string_view, std::vector<std::string>> given;
  for (const auto& [term, text, origin] : words) {
    if (term.empty()) {
      names_.push_back(text);
      before_.push_back(origin.where);
      continue;
    }
    const Flag* flag = find_flag(flags_, read::option_name(term));
    if (flag == nullptr) throw_unknown(dashed(term), flags_);
    given[flag->name].push_back(text);
    if (!origin.where.empty()) typed_[flag->name] = origin.where;
  }
  for (const Flag& flag : flags_) {
    if (const auto found = given.find(flag.name); found != given.end()) take(flag, found->second);
  }
}

void Arguments::take(const Flag& flag, const std::vector<std::string>& given) {
  const auto place = this->place(flag.name);
  if (given.size() > 1 && !flag.repeats) throw BadInput(place, "is given more than once");
  const auto stands_for = place == dashed(flag.name) ? std::string() : "is " + dashed(flag.name) + ", which ";
  if (quantity::contains(given, "")) throw BadInput(place, stands_for + "needs a value: " + flag.values);
  if (!flag.is_switch() || quantity::parse_bool(given.front(), place)) values_[flag.name] = given;
}

const std::string* Arguments::find(std::string_view flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? nullptr : &found->second.front();
}

std::string Arguments::place(std::string_view flag) const {
  const auto typed = typed_.find(flag);
  return typed == typed_.end() ? dashed(flag) : typed->second;
}

std::vector<std::string> Arguments::all(std::string_view flag) const {
  const auto found = values_.find(flag);
  return found == values_.end() ? std::vector<std::string>() : found->second;
}

const std::vector<std::string>& Arguments::names(std::size_t most) const {
  if (names_.size() <= most) return names_;
  const auto& word = names_[most];
  const auto& before = before_[most];
  const bool is_name = word.find('-') != std::string::npos;
  const auto value = before.find(' ') + 1;
  if (!before.empty() && !is_name)
    throw BadInput(quantity::quoted(word), "is one word too many",
                   "a value is one word: " + before.substr(0, value) + "\"" + before.substr(value) + " " + word + "\"");
  const auto joined = most == 0 || is_name ? std::string() : ", as '" + names_[most - 1] + "-" + word + "'";
  throw BadInput(quantity::quoted(word), "is one word too many",
                 most == 0 ? "" : "a name is one word" + joined + "; all else is said by options");
}

std::string_view Arguments::choice(std::string_view flag) const {
  return choice(flag, quantity::pieces_of(find_flag(flags_, flag)->values, "|"));
}

std::string_view Arguments::choice(std::string_view flag, std::span<const std::string_view> words) const {
  const std::string* value = find(flag);
  if (value == nullptr) return words.front();
  const auto found = std::ranges::find(words, *value);
  if (found != words.end()) return *found;
  read::throw_unknown_word(*value, place(flag), {words.begin(), words.end()});
}

}  // namespace llmcalc::api
