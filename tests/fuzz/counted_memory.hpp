// How much memory is asked for: the same figure on every machine, and for every input its own.
#pragma once

#include <cstddef>

namespace llmcalc::fuzz {

std::size_t bytes_alive();
std::size_t most_bytes_alive();  ///< since count_anew()
void count_anew();

}  // namespace llmcalc::fuzz
