#include "answer/inner/parts.hpp"
#include "llmcalc/spec/question.hpp"

#include <fmt/format.h>

namespace llmcalc::answer {

using memory::Phase;
using quantity::Bytes;

namespace {

/// "the backward pass of layer 31 of 32", "the forward pass of the head"; positions count blocks, of which the first is
/// the embedding.
std::string place_of(const Walks& walks, const memory::PeakMoment& peak) {
  if (peak.phase == Phase::optimizer) return "optimizer step";
  if (peak.phase > Phase::optimizer) return std::string(memory::name_of(peak.phase));
  const auto position = static_cast<std::size_t>(peak.position);
  const std::string_view pass = peak.phase == Phase::backward ? "backward" : "forward";
  const auto& block = walks.program.blocks[walks.program.sequence[position]];
  if (block.name != "layer") return fmt::format("the {} pass of the {}", pass, block.name);
  return fmt::format("the {} pass of layer {} of {}", pass, peak.position, walks.program.sequence.size() - 2);
}

std::string place_of(const Walks& walks, const memory::BlockPeak& point) {
  if (point.phase == Phase::optimizer) return "all weights";
  const auto& block = walks.program.blocks[walks.program.sequence[static_cast<std::size_t>(point.position)]];
  return block.name == "layer" ? fmt::format("layer {}", point.position) : std::string(block.name);
}

/// What the step's own operations take at a point of its timeline.
std::optional<quantity::Seconds> time_of(const Walks& walks, const memory::BlockPeak& point) {
  if (walks.times.empty() || point.beside) return std::nullopt;
  if (point.phase == Phase::optimizer) return walks.step.optimizer;
  const auto& block = walks.times[walks.program.sequence[static_cast<std::size_t>(point.position)]];
  if (point.phase == Phase::backward) return block.recompute.total() + block.backward.total();
  return block.forward.total();
}

std::vector<HeldBytes> held_at(const memory::Moment& alive) {
  std::vector<HeldBytes> held;
  for (const auto& [holding, size] : memory::parts_of_moment) {
    if (alive.*size != Bytes{}) held.push_back({holding, alive.*size});
  }
  return held;
}

/// Every step has the phases of one, a run that says so evaluations and checkpoints between them.
bool is_asked(const memory::PeakMoment& peak) { return peak.phase <= Phase::optimizer || peak.alive.total() > Bytes{}; }

void add_phases(const Walks& walks, MemoryAnswer& answer) {
  const auto& peak = walks.memory.peak();
  for (const auto& phase : walks.memory.steady) {
    if (is_asked(phase)) answer.phases.push_back({phase.phase, phase.alive.total()});
  }
  for (const auto& point : walks.timeline) {
    answer.timeline.push_back(
        {point.phase, place_of(walks, point), point.allocated(), held_at(point.alive), time_of(walks, point)});
  }
  for (const auto& [stage, allocated] : walks.stages) answer.stages.push_back({stage, allocated});
  answer.peak_phase = peak.phase;
  answer.peak_place = place_of(walks, peak);
  answer.peak_why = explain_peak(walks);
  answer.persistent = walks.memory.persistent.total();
  answer.peak_first_step = walks.memory.first_peak().alive.total();
}

/// The textbook totals are the same at every moment.
void add_textbook(const Walks& walks, MemoryAnswer& answer) {
  const Bytes total = walks.levels.allocated;
  for (const auto& phase : walks.memory.steady) {
    if (is_asked(phase)) answer.phases.push_back({phase.phase, total});
  }
  answer.peak_phase = Phase::backward;
  answer.peak_place = "no phases: textbook totals";
  answer.persistent = answer.peak_first_step = total;
}

}  // namespace

MemoryAnswer memory_answer(const spec::Question& question, const Walks& walks) {
  MemoryAnswer answer;
  const bool walked = question.training.activations == spec::ActivationModel::program;
  (walked ? add_phases : add_textbook)(walks, answer);
  for (TimelinePoint& point : answer.timeline) {
    if (point.time) *point.time = question.calibration.time.factor * *point.time;
  }
  answer.peak_allocated = walks.levels.allocated;
  answer.peak_reserved = walks.levels.reserved;
  answer.peak_device = walks.levels.device;
  answer.peak_needed = walks.levels.needed;
  answer.stage = walks.memory.stage;
  answer.host = walks.memory.host;
  answer.nvme = walks.memory.nvme;
  answer.paged = walks.memory.paged;
  answer.ledger = ledger(question, walks, answer);
  answer.host_ledger = host_ledger(question, walks);
  return answer;
}

}  // namespace llmcalc::answer
