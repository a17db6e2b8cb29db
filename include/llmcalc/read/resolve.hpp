// From the words that were given to the effective question, with the origin of every value.
#pragma once

#include "llmcalc/read/config.hpp"
#include "llmcalc/read/given.hpp"
#include "llmcalc/read/presets.hpp"
#include "llmcalc/spec/question.hpp"

#include <optional>
#include <string>
#include <vector>

namespace llmcalc::read {

/// A configuration file that was named, already read.
struct ConfigText {
  std::string path;
  std::string json;
};

struct Resolved {
  spec::Question question;
  std::vector<Echo> echo;                ///< every term of the vocabulary that applies, in its order
  std::vector<std::string> assumptions;  ///< what nobody said and the answer depends on
};

/// Order of precedence: given words, config.json, preset, the framework's defaults, assumed shape of --params.
/// Shorthands (params, dtype, zero, gpu with a count) are expanded here.
/// \throws quantity::BadInput naming the place of what is wrong or missing
Resolved resolve(const std::vector<Given>& given, const std::optional<ConfigText>& config, const Catalogue& catalogue);

}  // namespace llmcalc::read
