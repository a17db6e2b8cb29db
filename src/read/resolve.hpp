// From the words that were given to the effective question, with the origin of every value.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "read/config.hpp"
#include "read/given.hpp"
#include "read/presets.hpp"

#include <optional>
#include <string>
#include <vector>

namespace llmcalc::read {

/// What a program has as a value, where a person would name a preset or a file.
struct Values {
  std::optional<spec::Shape> shape;
  std::optional<spec::Accelerator> gpu;
};

/// The words with which a typed question says what it says: one for each member that was not left as constructed, but
/// for the shape and the accelerator, which are values.
std::vector<Given> words_of(const spec::Question& question);

struct Resolved {
  spec::Question question;
  std::vector<Given> echo;                       ///< every term of the vocabulary that applies, in its order
  std::vector<spec::Assumption> assumptions;     ///< what nobody said and the answer depends on
  std::optional<formats::Quant> published = {};  ///< in which the named model's weights are, where not in 16 bits
  std::vector<std::string> unread = {};          ///< keys of the model's file that nobody knows, with their places

  /// What the caller should look at before the answer: a key that nobody knows may be a size.
  std::vector<std::string> warnings() const;
};

/// Order of precedence: given words, config.json, preset, the framework's defaults, assumed shape of --params.
/// Shorthands (params, dtype, zero, gpu with a count) are expanded here.
/// \throws quantity::BadInput naming the place of what is wrong or missing
Resolved resolve(const std::vector<Given>& given, const std::optional<ConfigText>& config, const Catalogue& catalogue,
                 const Values& values = {});

/// The same of a server: model, engine, load, layout and accelerator. Layout::dp are copies of the whole deployment.
Resolved resolve_serving(const std::vector<Given>& given, const std::optional<ConfigText>& config,
                         const Catalogue& catalogue, const Values& values = {});

}  // namespace llmcalc::read
