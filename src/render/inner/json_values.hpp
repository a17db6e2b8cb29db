// What every JSON answer is made of: the envelope and the rules for values (docs/json.md).
#pragma once

#include "llmcalc/answer/explanation.hpp"

#include <nlohmann/json_fwd.hpp>

#include <optional>
#include <string>
#include <string_view>

namespace llmcalc::render {

/// Keys keep the order in which they were set, so that goldens and diffs can be read.
using Json = nlohmann::ordered_json;

/// The keys that every answer begins with: schema_version, kind, tool.
Json json_answer(std::string_view kind, std::string_view version);

/// The text, or null when it is empty.
Json text_or_null(std::string_view text);

/// The number.
/// \throws std::domain_error when it is not finite: JSON has no such number, and null would mean "does not apply"
Json finite(double value);
Json finite_or_null(std::optional<double> value);

/// Sets the keys formula, numbers and source.
void add_explanation(Json& object, const answer::Explanation& why);

/// "optimizer step" -> "optimizer_step"
std::string identifier(std::string_view words);

/// The answer as text, indented, with a newline at its end. Bytes that are not UTF-8 (a file's name may hold any)
/// become U+FFFD.
std::string dump(const Json& answer);

}  // namespace llmcalc::render
