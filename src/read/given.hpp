// What a person gave, word by word, with its place: the common form of flags, measured rows and files.
#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// Where a value of the effective question came from.
enum class Source { flag, row, file, preset, config, user_preset, assumed, default_value };

/// "flag", "file", ...: as an answer has it.
std::string_view word_of(Source source);

struct Origin {
  Source source = Source::default_value;
  std::string where;  ///< "--seq", "runs.csv:12:seq", "axolotl.yaml:27", "llama-3-8b",
                      ///< "config.json:/num_hidden_layers", "hf default"
};

/// One word of the question: the term (a name of vocabulary.hpp), its text and where it stands.
struct Given {
  std::string term;
  std::string text;
  Origin origin;
};

/// One value of the effective question as it is echoed in the answer.
struct Echo {
  std::string term;
  std::string value;
  Origin origin;
};

/// A configuration file that was named, already read.
struct ConfigText {
  std::string path;
  std::string json;
};

}  // namespace llmcalc::read
