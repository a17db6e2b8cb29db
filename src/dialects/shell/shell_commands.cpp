#include "dialects/core/names.hpp"
#include "dialects/shell/shell_reader.hpp"
#include "dialects/shell/shell_variables.hpp"
#include "read/node.hpp"

#include <algorithm>
#include <span>

namespace llmcalc::dialects {

Reach Shell::reach() const { return std::max(branches_.reach(), circuit_); }

void Shell::take_test(char joined) {
  std::span<const ShellWord> test = words_;
  if (!test.empty() && test.front().text == "if") test = test.subspan(1);
  const bool condition = branches_.in_condition();
  const auto truth = truth_of_test(test);
  if (condition && !test.empty()) branches_.take_test(truth, joined_);
  if (!condition && is_test(test)) {
    const auto goes_on = joined == '|' && truth ? std::optional(!*truth) : truth;
    circuit_ = !goes_on ? Reach::maybe : *goes_on ? Reach::runs : Reach::never;
  }
  if (joined == '\0') circuit_ = Reach::runs;
  joined_ = joined;
}

void Shell::hand_on_variables() {
  for (std::size_t at = 2; at < words_.size(); ++at) {
    const std::string& option = words_[at - 1].text;
    const bool starts = words_[at - 2].text.ends_with("sh") && option.starts_with('-') && option.ends_with('c');
    if (!starts) continue;
    std::string text;
    for (const auto& [name, value] : variables()) {
      const bool asked = words_[at].text.find("$" + name) != std::string::npos ||
                         words_[at].text.find("${" + name) != std::string::npos;
      const bool plain = value.unknown.empty() && value.text.find_first_of("'\n") == std::string::npos;
      if (asked && plain) text.append(name).append("='").append(value.text).append("';");
    }
    count(text.size());
    words_[at].text.insert(0, text);
  }
}

void Shell::finish_command(char joined) {
  if (reach() == Reach::never) {
    words_.clear();
    pending_.clear();
    written_.clear();
    document_.reset();
  }
  run_command();
  take_test(joined);
  words_.clear();
}

void Shell::run_command() {
  hand_on_variables();
  keep_file();
  auto pending = std::exchange(pending_, {});
  if (words_.empty() || declares()) {
    for (auto& [name, value] : pending) {
      set(name, std::move(value));
      if (is_read_by_launchers(name)) environment_[name] = variables().at(name);
    }
  } else {
    ShellCommand command{words_, environment_};
    for (auto& [name, value] : pending) {
      if (is_read_by_launchers(name)) command.environment[name] = value.front();
    }
    for (const auto& [name, value] : command.environment) count(name.size() + value.text.size() + sizeof(ShellWord));
    script_.commands.push_back(std::move(command));
    if (script_.commands.size() > most_nodes) fail("holds too many commands");
  }
}

}  // namespace llmcalc::dialects
