// What the names and shapes of a checkpoint's tensors say.
#pragma once

#include "read/words.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

struct StoredTensor {
  std::string name;
  std::string type;
  std::vector<std::uint64_t> shape;
  std::uint64_t begin = 0;
  std::uint64_t bytes = 0;
  std::uint64_t elements = 0;
};

/// The weights that a tensor holds: packed ones unpacked, none in scales, zero points and indices. Empty where how it
/// is packed is not known.
std::optional<std::uint64_t> parameters_of(const StoredTensor& tensor);

/// Layers, widths and vocabulary of a model in transformers' names; empty where it has others.
std::vector<Given> shape_words(const std::vector<StoredTensor>& tensors, std::string_view place);

}  // namespace llmcalc::read
