// How a number came about, for --explain.
#pragma once

#include <string>

namespace llmcalc::answer {

struct Explanation {
  std::string formula;  ///< "parameters x bytes of bf16"
  std::string numbers;  ///< "8,030,261,248 x 2 B"
  std::string source;   ///< paper and equation, framework file, or "measured: ..."
};

}  // namespace llmcalc::answer
