// Options under the names that trainers give them.
#pragma once

#include "cli/flags.hpp"

#include <span>
#include <string>
#include <vector>

namespace llmcalc::cli {

/// The words with our name for every option that is known by another: "--seq 4k" for "--max-seq-len 4k", and
/// "--recompute full" for "--gradient-checkpointing", which trainers also take as a switch.
std::vector<std::string> in_our_words(const std::vector<Flag>& flags, std::span<const std::string> words);

}  // namespace llmcalc::cli
