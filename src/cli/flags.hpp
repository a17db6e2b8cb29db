// The options of the command line as data: parsing, help and suggestions follow from them.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::cli {

struct Flag {
  std::string name;    ///< without the dashes
  std::string values;  ///< what it takes; empty for a switch
  std::string_view help;
  std::string_view group;  ///< heading in the help
  bool repeats = false;    ///< may be given more than once

  bool is_switch() const { return values.empty(); }
};

/// --format, --quiet, --color, --presets: the same under every verb, but for the forms of its answer.
std::vector<Flag> common_flags(std::string_view formats);

/// Every term of the vocabulary with its shorthands.
std::vector<Flag> question_flags();

/// Of the verbs that estimate runs.
Flag calibration_flag();

/// The same of a server.
std::vector<Flag> serving_question_flags();

/// What fit adds: those, and how the answer is shown.
std::vector<Flag> fit_flags();

}  // namespace llmcalc::cli
