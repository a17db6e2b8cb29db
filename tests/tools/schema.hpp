// A small JSON Schema validator: just the keywords our schema uses, and an error for every other.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace llmcalc::test {

/// What is wrong with `document` under `schema`, one line each with its JSON pointer; empty when it is valid.
/// Knows type, const, enum, minimum, required, properties, additionalProperties, items, oneOf, anyOf and $ref into
/// this same schema.
/// \throws std::runtime_error when the schema uses a keyword that is not known, so that no rule passes unchecked
std::vector<std::string> schema_errors(const nlohmann::json& schema, const nlohmann::json& document);

}  // namespace llmcalc::test
