// From a question back to words: the one inverse of resolve(), for whoever asks a changed question or prints a command.
#pragma once

#include "read/resolve.hpp"

#include <optional>
#include <span>
#include <string_view>
#include <vector>

namespace llmcalc::read {

/// What tells one question from another: each term whose value differs, with the value of the first. A model's name
/// tells nothing, its shape does.
std::vector<Given> differences(const spec::Question& question, const spec::Question& other);

/// The words with others in the place of those of the same terms, behind the rest where there were none.
std::vector<Given> with_said(std::vector<Given> words, const std::vector<Given>& others);

/// Where words are looked up.
struct Sources {
  const std::optional<ConfigText>& config;
  const Catalogue& catalogue;
};

/// The shortest words that resolve() takes to the question: those of `base`, which are kept, and of the others each
/// without which something else would be asked.
/// \param base   the words of the model, and what else is to be said as it was said; of the question's own terms only
///               where they have its values
/// \param first  terms to say rather than others from which they follow
/// \throws quantity::BadInput where the base contradicts the question
std::vector<Given> say(const spec::Question& question, const std::vector<Given>& base,
                       std::span<const std::string_view> first, const Sources& sources);

}  // namespace llmcalc::read
