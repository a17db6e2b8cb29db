#include "answer/inner/parts.hpp"
#include "quantity/format.hpp"

#include <fmt/format.h>

namespace llmcalc::answer {

using memory::Phase;
using quantity::Bytes;

namespace {

std::string_view reason(Phase phase) {
  switch (phase) {
    case Phase::forward: return "states + what the layers so far have saved + the widest moment of the one that runs";
    case Phase::loss: return "states + what all layers have saved + the logits in every copy that the loss makes";
    case Phase::backward:
      return "states and gradients so far + what the layers still to come have saved + the one that runs";
    case Phase::optimizer: return "states + all gradients + the temporaries of the step; activations are gone";
    case Phase::evaluation: return "what rests between steps + what a forward pass of --eval-batch has at once";
    case Phase::checkpoint: return "what rests between steps + the weights that are gathered for a checkpoint";
  }
  return {};
}

}  // namespace

Explanation explain_peak(const Walks& walks) {
  const auto& peak = walks.memory.peak();
  const auto& alive = peak.alive;
  const auto gib = [](Bytes size) { return quantity::format_gib(size); };
  const Bytes running = alive.logits + alive.temporaries + alive.workspace;
  return {
      std::string(reason(peak.phase)),
      fmt::format("{} + {} + {} = {}", gib(alive.states()), gib(alive.activations), gib(running), gib(alive.total())),
      fmt::format("the highest of {} moments of the walk over the step program", walks.timeline.size())};
}

}  // namespace llmcalc::answer
