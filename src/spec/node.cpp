#include "spec/node.hpp"

#include "llmcalc/quantity/checked.hpp"
#include "llmcalc/spec/question.hpp"
#include "spec/traits.hpp"

namespace llmcalc::spec {

using quantity::Bytes;

namespace {

std::int64_t ranks_of_machine(const Layout& layout) { return quantity::ceil_divide(layout.gpus, layout.nodes); }

/// An assumption: a desktop with one card, or as much for each card of a larger machine whose data sheet is not known.
constexpr Bytes desktop = quantity::gib(64);

}  // namespace

std::int64_t usual_nodes(std::int64_t gpus, std::int64_t per_node) {
  const std::int64_t fewest = quantity::ceil_divide(gpus, per_node);
  for (std::int64_t nodes = fewest; nodes <= 2 * fewest; ++nodes) {
    if (gpus % nodes == 0) return nodes;
  }
  return fewest;
}

std::optional<Bytes> host_capacity_of(const Question& question) {
  if (question.pricing.host_memory) return question.pricing.host_memory;
  if (!question.gpu) return std::nullopt;
  return ranks_of_machine(question.layout) * question.gpu->host_memory.value_or(desktop);
}

Bytes host_need_of(const Question& question, Bytes of_rank) { return ranks_of_machine(question.layout) * of_rank; }

bool uses_host(const Question& question) {
  const Training& training = question.training;
  return training.offload != Offload::none || is_paged(training.optimizer) ||
         training.save_checkpoint != SaveCheckpoint::none;
}

}  // namespace llmcalc::spec
