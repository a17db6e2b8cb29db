// How far estimates of a class of runs were off.
#pragma once

#include "llmcalc/trust/verdict_kind.hpp"

#include <string_view>

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::trust {

/// Of runs of one kind: of a framework and what is trained, of a family of frameworks where it was not measured.
struct ErrorBar {
  std::string_view name;  ///< "hf", "other PyTorch programs"
  Spread allocated;       ///< at the level that must fit
  int allocated_runs = 0;
  Spread device;  ///< of what nvidia-smi or max_memory_reserved showed
  std::string_view source;
  double cached = 0.0;  ///< what the allocator holds over what is allocated, with room to spare; 0: as under pressure
  std::string_view kind{};  ///< "adapters"; empty: of all
};

ErrorBar error_bar(const spec::Question& question);

}  // namespace llmcalc::trust
