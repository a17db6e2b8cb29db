// Cuts that llama.cpp and Ollama make of their own accord where the cards have no room.

#include "llmcalc/spec/question.hpp"
#include "serving/inner/candidates.hpp"
#include "serving/inner/engines.hpp"
#include "spec/node.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::serving {

namespace {

using quantity::Bytes;

/// Whether so much of each card stays free beside one sequence.
bool leaves_free(const Deployment& deployment, std::int64_t positions, Bytes free) {
  const RankMemory memory = tightest_rank(deployment, {positions, 1});
  return memory.pool - memory.needed >= free;
}

/// A context that nobody asked for is cut to what leaves the margin of each card, in whole 256ths and to 4,096
/// positions at the least (--fit-ctx).
void shorten_context(Deployment& deployment) {
  constexpr std::int64_t least = 4096;
  std::int64_t& context = deployment.setup.context;
  const auto leaves_margin = [&](std::int64_t positions) {
    return leaves_free(deployment, positions, deployment.setup.margin);
  };
  if (context <= least || leaves_margin(context)) return;
  const auto pieces = largest(context / cell_padding, [&](std::int64_t n) { return leaves_margin(n * cell_padding); });
  context = std::max(pieces * cell_padding, least);
  deployment.setup.assumptions.push_back("--context " + std::to_string(context) +
                                         ", to which --fit shortens it beside 1 GiB that stays free");
}

/// Puts as few of the leading layers, or of their experts, into host memory as leave the margin.
/// \return  whether all of them do
bool leave_fewest(Deployment& deployment, std::int64_t Setup::*left, std::int64_t layers) {
  const auto with_on_cards = [&](std::int64_t on_cards) {
    deployment.setup.*left = layers - on_cards;
    return leaves_free(deployment, deployment.setup.context, deployment.setup.margin);
  };
  const std::int64_t on_cards = largest(layers, with_on_cards);
  return with_on_cards(on_cards);
}

}  // namespace

bool host_has_room(const Deployment& deployment, Bytes needed) {
  const auto capacity = spec::host_capacity_of(deployment.question).value_or(quantity::bytes(0));
  const bool leaves = deployment.setup.host_layers > 0 || deployment.setup.host_experts > 0;
  return !leaves || capacity == quantity::bytes(0) || needed * deployment.question.layout.dp <= capacity;
}

void leave_layers(Deployment& deployment) {
  Setup& setup = deployment.setup;
  const bool has_host = spec::host_capacity_of(deployment.question) > quantity::bytes(0);  // beside the cards' memory
  if (!has_host || leaves_free(deployment, setup.context, setup.margin)) return;
  const auto layers = deployment.question.model.layer_count();
  const bool by_experts = setup.moves == Moves::experts && deployment.question.model.shape.moe.experts > 0;
  const bool enough = by_experts && leave_fewest(deployment, &Setup::host_experts, layers);
  const bool is_enough = enough || leave_fewest(deployment, &Setup::host_layers, layers + 1);
  if (is_enough && tightest_rank(deployment, {setup.context, 1}).hosted) {
    const std::string_view program = row_of(deployment.question.serving.engine).program;
    const auto say = [&](std::string_view option, std::int64_t count, std::string_view what) {
      setup.assumptions.push_back(fmt::format("--{} {}, {} {} by itself", option, count, what, program));
    };
    if (setup.host_experts > 0) say("cpu-experts", setup.host_experts, "which are left to the host's memory by");
    if (setup.host_layers > 0) say("gpu-layers", layers + 1 - setup.host_layers, "as many as are put on the cards by");
  } else {
    setup.host_experts = setup.host_layers = 0;
  }
}

bool leaves_by_itself(const Deployment& deployment) {
  const Setup& setup = deployment.setup;
  return setup.moves != Moves::nothing && setup.host_layers + setup.host_experts > 0;
}

void say_placement(const Deployment& deployment, spec::EngineOptions& options) {
  const Setup& setup = deployment.setup;
  if (setup.moves == Moves::nothing) return;
  options.cpu_experts = setup.host_experts;
  if (setup.host_layers > 0) options.gpu_layers = deployment.question.model.layer_count() + 1 - setup.host_layers;
}

void fit_to_cards(Deployment& deployment) {
  if (!deployment.question.gpu) return;
  if (deployment.setup.shortens) shorten_context(deployment);
  if (deployment.setup.moves != Moves::nothing) leave_layers(deployment);
}

}  // namespace llmcalc::serving
