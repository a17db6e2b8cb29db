#include "llmcalc/memory/phase.hpp"

#include <algorithm>

namespace llmcalc::memory {

std::string_view name_of(Phase phase) {
  switch (phase) {
    case Phase::forward: return "forward";
    case Phase::loss: return "loss";
    case Phase::backward: return "backward";
    case Phase::optimizer: return "optimizer step";
    case Phase::evaluation: return "evaluation";
    case Phase::checkpoint: return "checkpoint";
  }
  return {};
}

namespace {

struct HoldingWords {
  Holding holding;
  std::string_view id;
  std::string_view name;
};

constexpr HoldingWords holdings[] = {
    {Holding::weights, "weights", "weights"},
    {Holding::master_weights, "master_weights", "master weights"},
    {Holding::gradients, "gradients", "gradients"},
    {Holding::optimizer_states, "optimizer_states", "optimizer states"},
    {Holding::adapters, "adapters", "adapters"},
    {Holding::reference_model, "reference_model", "reference model"},
    {Holding::reward_model, "reward_model", "reward model"},
    {Holding::value_model, "value_model", "value model"},
    {Holding::activations, "activations", "activations"},
    {Holding::logits, "logits", "logits and loss"},
    {Holding::temporaries, "temporaries", "temporaries"},
    {Holding::workspace, "workspace", "workspaces"},
    {Holding::communicators, "communicators", "communicators"},
    {Holding::engine, "engine", "colocated engine"},
    {Holding::context, "context", "CUDA context"},
    {Holding::checkpoint, "checkpoint", "checkpoint"},
    {Holding::offloaded, "offloaded", "offloaded"},
    {Holding::allocator, "allocator", "allocator slack"},
    {Holding::calibration, "calibration", "calibration"},
};

const HoldingWords& words_of(Holding holding) { return *std::ranges::find(holdings, holding, &HoldingWords::holding); }

}  // namespace

std::string_view name_of(Holding holding) { return words_of(holding).name; }
std::string_view id_of(Holding holding) { return words_of(holding).id; }

}  // namespace llmcalc::memory
