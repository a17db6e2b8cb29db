// Numbers that a person types: what they may not exceed, and how they are written.
#pragma once

#include <cstdint>
#include <limits>
#include <optional>
#include <string>
#include <string_view>

namespace llmcalc::read {

/// Dimensions and counts are 32-bit integers in every framework that runs them.
inline constexpr std::int64_t max_dimension = std::numeric_limits<std::int32_t>::max();
/// Models are expanded layer by layer; a hundred times the deepest published stack (DeepNet's 1,000 layers,
/// arXiv:2203.00555) is a slip of the keyboard.
inline constexpr std::int64_t max_layers = 100'000;

/// Far above any run: the largest published one saw 4e13 tokens.
inline constexpr double max_amount = 1e18;

/// The value where it is within its limits.
/// \throws quantity::BadInput at `place`, with the limits
std::int64_t check_range(std::int64_t value, std::int64_t min, std::int64_t max, std::string_view text,
                         std::string_view place);
double check_limits(double value, double min, double max, std::string_view text, std::string_view place);

/// The tokens of a batch that is said in them, as "4M tokens"; empty where it is said in sequences.
std::optional<std::int64_t> tokens_of_batch(std::string_view text, std::string_view place);

/// The shortest text that reads back as the same number.
std::string write_double(double value);

}  // namespace llmcalc::read
