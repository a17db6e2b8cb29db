// What a run needs while it writes a checkpoint, and what it has in the memory of its host.
#include "answer/inner/parts.hpp"
#include "frameworks/abilities.hpp"
#include "llmcalc/spec/question.hpp"
#include "quantity/format.hpp"

namespace llmcalc::answer {

using memory::Holding;
using memory::Phase;
using quantity::Bytes;

/// Between two steps gradients and activations are gone.
void add_checkpoint(const program::Program& program, const spec::Question& question, memory::StepMemory& memory) {
  if (frameworks::saving_of(question) == nullptr) return;
  memory.saving = memory::checkpoint_needs(program, program::blocks_of_stage(program, memory.stage), question);
  memory::Moment alive = memory.persistent;
  alive.temporaries += memory.saving.accelerator;
  memory.steady[static_cast<std::size_t>(Phase::checkpoint)] = {Phase::checkpoint, 0, alive};
}

std::vector<LedgerLine> host_ledger(const spec::Question& question, const Walks& walks) {
  std::vector<LedgerLine> lines;
  const auto add = [&](Holding holding, std::string label, Bytes size, std::string formula, std::string_view source) {
    if (size == Bytes{}) return;
    auto numbers = quantity::format_count(in_bytes(size)) + " B";
    lines.push_back({holding, std::move(label), size, {std::move(formula), std::move(numbers), std::string(source)}});
  };
  add(Holding::offloaded, "of this rank, for what is offloaded", walks.memory.host,
      "states or activations that rest there", "Ren et al. 2021, arXiv:2101.06840");
  const auto* saving = frameworks::saving_of(question);
  if (saving == nullptr) return lines;
  const bool stays = saving->way == spec::SaveCheckpoint::async;
  add(Holding::checkpoint, stays ? "of this rank, beside the next steps of training" : "of this rank, for a checkpoint",
      walks.memory.saving.host_of_each, "what of its part is there at once", saving->source);
  add(Holding::checkpoint, "of the first rank, for a checkpoint", walks.memory.saving.host_of_first,
      "whole weights, or after them the whole states of the optimizer", saving->source);
  return lines;
}

}  // namespace llmcalc::answer
