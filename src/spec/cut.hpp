// The parts of a model's layers that are spread over tensor-parallel ranks and have to go into as many pieces.
#pragma once

#include "llmcalc/spec/model.hpp"

#include <cstdint>
#include <optional>
#include <string_view>

namespace llmcalc::spec {

/// A term that does not go into as many parts as there are ranks, and why it must.
struct Uneven {
  std::string_view term;
  std::string_view why;
};

/// Heads are cut whole; of keys and values each rank keeps a copy where there are fewer of them than ranks.
std::optional<Uneven> uneven_cut(const Model& model, std::int64_t tp);

}  // namespace llmcalc::spec
