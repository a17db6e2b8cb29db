// Inputs changed as a fuzzer changes them, the same on every machine: an input is known by its seed and its number.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace llmcalc::fuzz {

/// An input of the corpus with one to six changes: bits, bytes, integers, pieces and lines that are put in, taken out,
/// repeated or brought from another input.
/// \param corpus  not empty
std::string mutated(const std::vector<std::string>& corpus, std::uint64_t seed, std::uint64_t number);

}  // namespace llmcalc::fuzz
