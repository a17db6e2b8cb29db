// What figures of one answer say of each other: sums, products and orders that hold whatever was asked.
#pragma once

#include <nlohmann/json.hpp>

#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::test {

/// Every rule of the verb that the answer breaks, with both of its sides; empty where all agree. A rule with a figure
/// that is null there says nothing.
std::vector<std::string> disagreements(std::string_view verb, const nlohmann::json& answer);

}  // namespace llmcalc::test
