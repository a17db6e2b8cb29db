// What a trainer does when its user says nothing, as the words that its user would have said.
#pragma once

#include "llmcalc/spec/question.hpp"

#include <string_view>

namespace llmcalc::frameworks {

struct Default {
  std::string_view term;   ///< of the vocabulary, or "dtype"
  std::string_view value;  ///< "full"
  std::string_view source;
  bool (*holds)(const spec::Question& question) = nullptr;  ///< of what is known when it is asked; empty: always
};

/// The first default of a term that holds, or nullptr.
const Default* default_of(const spec::Question& question, std::string_view term);

/// What `--dtype bf16` means to a trainer whose weights may rest in fp32.
enum class HalfPrecision {
  pure,                 ///< weights, gradients and moments in bf16, or the 16-bit recipe of its states
  autocast,             ///< fp32 weights, cast at each use
  autocast_of_trained,  ///< the same, but a frozen base keeps its 16 bits
};

}  // namespace llmcalc::frameworks
