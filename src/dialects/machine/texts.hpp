// Texts in which a machine tells of itself: its cards, its packages.
#pragma once

#include "dialects/reading.hpp"
#include "quantity/text.hpp"

#include <optional>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// The cards that `nvidia-smi`, `nvidia-smi -L` or `nvidia-smi --query-gpu=name,... --format=csv` printed; empty for
/// any other text. \throws quantity::BadInput where they differ, are cut into slices without names, or there are none
std::optional<Reading> read_nvidia_smi(std::string_view text, std::string_view place);

/// Releases that `pip freeze` or `pip list` printed, or that a requirements.txt pins; empty for any other text.
/// \throws quantity::BadInput where none is of a library or a server that is known
std::optional<Reading> read_requirements(std::string_view text, std::string_view place);

/// Memory that a snapshot of PyTorch's allocator says was taken; empty for any other bytes.
/// \throws quantity::BadInput where it cannot be read, or holds nothing
std::optional<Reading> read_memory_snapshot(std::string_view bytes, std::string_view place);

/// Lines without what is blank at their ends, from their numbers, the first being 1.
template <class Take>
void each_line(std::string_view text, Take take) {
  for (int line = 1; !text.empty(); ++line) take(quantity::trim(quantity::take_until(text, "\n")), line);
}

/// The words of a line, apart by blanks.
inline std::vector<std::string_view> words_of_line(std::string_view line) {
  auto words = quantity::pieces_of(line, " \t");
  std::erase_if(words, [](std::string_view word) { return word.empty(); });
  return words;
}

}  // namespace llmcalc::dialects
