// The words behind a verb, told apart into options and names.
#pragma once

#include "cli/flags.hpp"

#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::cli {

class Arguments {
 public:
  /// \throws quantity::BadInput for an unknown option, one without its value, and one that is given twice
  Arguments(const std::vector<Flag>& flags, std::span<const std::string> words);

  /// The value of an option, or nullptr when it was not given.
  const std::string* find(std::string_view flag) const;
  bool has(std::string_view flag) const { return find(flag) != nullptr; }

  /// Every value of an option that may be repeated, in order.
  std::vector<std::string> all(std::string_view flag) const;

  /// The words that belong to no option, in order.
  /// \throws quantity::BadInput when there are more than `most`
  const std::vector<std::string>& names(std::size_t most) const;

  /// The value of an option with a closed list of words, the first being the default.
  /// \throws quantity::BadInput with the list
  std::string_view choice(std::string_view flag, std::span<const std::string_view> words) const;

 private:
  void take(const Flag& flag, const std::vector<std::string>& given);

  std::map<std::string, std::vector<std::string>, std::less<>> values_;
  std::vector<std::string> names_;
};

}  // namespace llmcalc::cli
