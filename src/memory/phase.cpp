#include "llmcalc/memory/phase.hpp"

namespace llmcalc::memory {

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::forward: return "forward";
    case Phase::loss: return "loss";
    case Phase::backward: return "backward";
    case Phase::optimizer: return "optimizer step";
  }
  return {};
}

std::string_view name_of(Holding holding) {
  switch (holding) {
    case Holding::weights: return "weights";
    case Holding::master_weights: return "master weights";
    case Holding::gradients: return "gradients";
    case Holding::optimizer_states: return "optimizer states";
    case Holding::adapters: return "adapters";
    case Holding::activations: return "activations";
    case Holding::logits: return "logits and loss";
    case Holding::temporaries: return "temporaries";
    case Holding::workspace: return "workspaces";
    case Holding::context: return "CUDA context";
    case Holding::allocator: return "allocator slack";
  }
  return {};
}

}  // namespace llmcalc::memory
