// What an answer says of those to other questions: of a better card, of more memory, of another price.
#pragma once

#include "llmcalc/spec/word.hpp"

#include <nlohmann/json_fwd.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::test {

/// Relations to a question's neighbours that do not hold, of a question of `fit` or `serve` that is answered.
std::vector<std::string> broken_relations(std::string_view verb, std::span<const spec::Word> words);

/// Figures of a plan's best that the command it prints, asked as it is typed, does not have.
std::vector<std::string> broken_command(const nlohmann::json& plan);

}  // namespace llmcalc::test
