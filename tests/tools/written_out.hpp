// The arithmetic that a figure shows of itself: "2 micro-batches x (53.5 ms forward + 160 ms backward)".
#pragma once

#include <nlohmann/json.hpp>

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::test {

/// Value of sums, products and powers of numbers with units, in bytes, seconds, FLOP, kWh and W; words between them say
/// nothing.
/// Nothing where a bracket or a number is missing.
std::optional<double> worked_out(std::string_view written);

/// Figures whose written numbers come to something else than the figure, and sentences whose brackets or quotes do not
/// close.
std::vector<std::string> wrongly_written(const nlohmann::json& answer);

}  // namespace llmcalc::test
