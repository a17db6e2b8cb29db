// Which layers differ from the others: windowed, mixture of experts, linear attention.
#pragma once

#include "llmcalc/spec/shape.hpp"

#include <cstdint>
#include <optional>
#include <vector>

namespace llmcalc::read {

class ConfigReader;

/// After `leading` layers, every n-th layer.
struct Period {
  std::int64_t leading = 0;
  std::int64_t every = 1;
};

/// The period of the marked layers; empty when they have none, or none is marked.
std::optional<Period> period_of(const std::vector<bool>& marked);

/// Sets the window pattern from the layers that see everything; without any, all are windowed.
/// \throws quantity::BadInput when they do not come at equal distances
void set_window_layers(ConfigReader& reader, spec::Shape& shape, const std::vector<bool>& sees_all);

void read_windows(ConfigReader& reader, spec::Shape& shape);
void read_expert_layers(ConfigReader& reader, spec::Shape& shape);
void read_linear_layers(ConfigReader& reader, spec::Shape& shape);

}  // namespace llmcalc::read
