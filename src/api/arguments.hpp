// The words of a question under any verb, told apart into options and names, and the options as data: parsing, help and
// suggestions follow from them.
#pragma once

#include "llmcalc/llmcalc.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::api {

struct Flag {
  std::string name;    ///< without the dashes
  std::string values;  ///< what it takes; empty for a switch
  std::string_view help;
  std::string_view group;  ///< heading in the help
  bool repeats = false;    ///< may be given more than once

  bool is_switch() const { return values.empty(); }
};

/// Every term of the vocabulary with its shorthands.
std::vector<Flag> terms_of_run();
/// Every term of a server's question.
std::vector<Flag> terms_of_server();

/// The headings of options, each once.
std::vector<std::string_view> groups_of(const std::vector<Flag>& flags);

/// A command line as options and names. Options are also known by the names that trainers give them: "--seq 4k" of
/// "--max-seq-len 4k", and "--recompute full" of "--gradient-checkpointing", which trainers also take as a switch.
/// \throws quantity::BadInput for an unknown option
std::vector<Word> words_of_line(const std::vector<Flag>& flags, std::span<const std::string> line);

class Arguments {
 public:
  /// \param words  options with their values, "true" of a switch, and names under no term
  /// \throws quantity::BadInput for an unknown option, one without its value, and one that is given twice
  Arguments(std::vector<Flag> flags, std::span<const Word> words);

  /// The value of an option, or nullptr when it was not given.
  const std::string* find(std::string_view flag) const;
  bool has(std::string_view flag) const { return find(flag) != nullptr; }

  /// An option as it was typed, "--max-model-len" of context, or else by its own name.
  std::string place(std::string_view flag) const;

  /// Every value of an option that may be repeated, in order.
  std::vector<std::string> all(std::string_view flag) const;

  /// The words that belong to no option, in order.
  /// \throws quantity::BadInput when there are more than `most`
  const std::vector<std::string>& names(std::size_t most) const;

  /// The value of an option with a closed list of words, as its flag has them, the first being the default.
  /// \throws quantity::BadInput with the list
  std::string_view choice(std::string_view flag) const;
  std::string_view choice(std::string_view flag, std::span<const std::string_view> words) const;

 private:
  void take(const Flag& flag, const std::vector<std::string>& given);

  std::vector<Flag> flags_;
  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::map<std::string, std::string, std::less<>> typed_;
  std::vector<std::string> names_;
  std::vector<std::string> before_;  ///< option and value right before each of them
};

}  // namespace llmcalc::api
