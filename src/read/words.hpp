// What a person gave, word by word, with its place: the common form of flags, measured rows and files.
#pragma once

#include "llmcalc/spec/word.hpp"

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::spec {
class FileTensors;
}

namespace llmcalc::read {

using Given = spec::Word;
using spec::Origin;
using spec::Source;

/// A configuration file that was named, already read.
struct ConfigText {
  std::string path;
  std::string json;
  std::shared_ptr<const spec::FileTensors> tensors = {};  ///< where a GGUF file says it
  std::string quantization = {};                          ///< text of a hf_quant_config.json beside it
};

/// The first word of a term in a list that may say it twice, or nullptr.
const Given* find_word(const std::vector<Given>& words, std::string_view term);
inline bool has_word(const std::vector<Given>& words, std::string_view term) {
  return find_word(words, term) != nullptr;
}

/// The program around an engine that a word of --engine names, "lmstudio" of "LM Studio"; empty where it names an
/// engine.
std::string_view program_around(std::string_view word);

/// Whether --framework-version takes a release of it: "transformers".
bool is_library(std::string_view name);

/// Each under the vocabulary's name, "micro_batch" of "micro-batch", and in its order: who says the same in another
/// order asks the same. Names that nobody knows stay as they are, behind the others.
std::vector<Given> in_order(std::vector<Given> words);

}  // namespace llmcalc::read
