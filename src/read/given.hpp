// What a person gave, word by word, with its place: the common form of flags, measured rows and files.
#pragma once

#include "llmcalc/spec/word.hpp"

#include <string>

namespace llmcalc::read {

using Given = spec::Word;
using spec::Origin;
using spec::Source;

/// A configuration file that was named, already read.
struct ConfigText {
  std::string path;
  std::string json;
};

}  // namespace llmcalc::read
