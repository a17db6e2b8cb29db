// One question, answered: what it needs, whether that fits, and what is said about both.

#include "answer/inner/parts.hpp"
#include "frameworks/abilities.hpp"
#include "frameworks/layout_rules.hpp"
#include "quantity/format.hpp"
#include "spec/node.hpp"
#include "timing/goodput.hpp"
#include "trust/error_bar.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::answer {

using memory::Holding;
using memory::Phase;
using quantity::Bytes;
using quantity::in_bytes;
using quantity::parameters;

namespace {

/// This rank's part of its machine's memory, as labelled lines.
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

/// A forward pass with its loss over the batch of an evaluation (transformers trainer.py, prediction_step).
spec::Question evaluating(const spec::Question& question) {
  spec::Question evaluated = question;
  spec::Training& training = evaluated.training;
  training.method = spec::Method::forward_only;
  training.algorithm = spec::Algorithm::sft;
  training.reference = spec::Reference::none;
  training.recompute = {};
  training.offload = spec::Offload::none;
  training.micro_batch = training.eval_batch;
  training.grad_accum = 1;
  return evaluated;
}

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

/// Whether it stands before the trained model's own pass, where samples are made.
bool is_among_samples(const Walks& walks, const memory::PeakMoment& peak) {
  const bool is_first = peak.phase == Phase::forward && peak.position == 0;
  return is_first && !walks.timeline.empty() && walks.timeline.front().beside;
}

/// Why the peak is where it is.
Explanation explain_peak(const Walks& walks) {
  const auto& peak = walks.memory.peak();
  const auto& alive = peak.alive;
  const auto gib = [](Bytes size) { return quantity::format_gib(size); };
  const Bytes running = alive.logits + alive.temporaries + alive.workspace;
  return {
      std::string(
          is_among_samples(walks, peak)
              ? "states + what making the samples of a step takes: keys and values, weights that are gathered for it"
              : reason(peak.phase)),
      fmt::format("{} + {} + {} = {}", gib(alive.states()), gib(alive.activations), gib(running), gib(alive.total())),
      fmt::format("the highest of {} moments of the walk over the step program", walks.timeline.size())};
}

SizeAnswer size_answer(const program::Size& size) {
  return {parameters(size.total), parameters(size.active), parameters(size.trainable), parameters(size.tables)};
}

/// "the backward pass of layer 31 of 32", "the forward pass of the head"; positions count blocks, of which the first is
/// the embedding.
std::string place_of(const Walks& walks, const memory::PeakMoment& peak) {
  if (peak.phase == Phase::optimizer) return "optimizer step";
  if (peak.phase > Phase::optimizer) return std::string(memory::name_of(peak.phase));
  if (is_among_samples(walks, peak)) return "the making of samples";
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

/// The memory that the step's own operations take at a point of its timeline.
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
  const Bytes total = answer.peak_allocated;
  for (const auto& phase : walks.memory.steady) {
    if (is_asked(phase)) answer.phases.push_back({phase.phase, total});
  }
  answer.peak_phase = Phase::backward;
  answer.peak_place = "every phase alike: a textbook's totals";
  answer.persistent = answer.peak_first_step = total;
}

void add_levels(const spec::Question& question, const Walks& walks, MemoryAnswer& answer) {
  const Levels found = levels(question, walks.profile, walks.program, walks.memory, walks.size.total);
  answer.peak_allocated = found.allocated;
  answer.peak_reserved = found.reserved;
  answer.peak_device = found.device;
  answer.peak_needed = found.needed;
}

MemoryAnswer memory_answer(const spec::Question& question, const Walks& walks) {
  MemoryAnswer answer;
  add_levels(question, walks, answer);
  const bool walked = question.training.activations == spec::ActivationModel::program;
  (walked ? add_phases : add_textbook)(walks, answer);
  for (TimelinePoint& point : answer.timeline) {
    if (point.time) *point.time = question.calibration.time.factor * *point.time;
  }
  answer.stage = walks.memory.stage;
  answer.host = walks.memory.host;
  answer.nvme = walks.memory.nvme;
  answer.paged = walks.memory.paged;
  answer.ledger = ledger(question, walks, answer);
  answer.host_ledger = host_ledger(question, walks);
  return answer;
}

/// A figure times a factor near one; a high end that no integer can hold is as high as they go.
Bytes around(Bytes needed, double factor) {
  constexpr double highest = 9.2e18;
  const double value = std::clamp(static_cast<double>(in_bytes(needed)) * factor, 0.0, highest);
  return quantity::bytes(static_cast<std::int64_t>(value));
}

std::string source_of(const trust::ErrorBar& bar) {
  if (bar.allocated_runs == 0) return fmt::format("{}: {}", bar.name, bar.source);
  return fmt::format("{}: {}, n = {}", bar.name, bar.source, bar.allocated_runs);
}

/// The FLOPs of a micro-batch and what is saved belong to the model, however it is cut: those of a rank that holds it
/// all.
void count_model(const spec::Question& question, Walks& walks) {
  const auto count = [&](const program::Program& whole) {
    walks.work = program::count_work(whole);
    walks.saved = timing::checkpoint_size(whole, question.training);
  };
  const spec::Layout& layout = question.layout;
  if (layout.tp * layout.cp * layout.ep * layout.etp == 1) return count(walks.program);
  spec::Question whole = question;
  whole.layout = {};
  count(program::build_program(whole, walks.profile));
}

std::vector<memory::StagePeak> peaks_of_stages(const memory::StepWalk& step, std::int64_t stages) {
  std::vector<memory::StagePeak> peaks;
  for (std::int64_t i = 0; i < stages; ++i) peaks.push_back({i, step.walk(i).peak().alive.total()});
  return peaks;
}

/// Where the step is timed by its program.
void clock(const spec::Question& question, Walks& walks) {
  if (!question.gpu || question.pricing.mfu) return;
  const timing::KernelPrices kernels(*question.gpu, question.training, walks.profile);
  const timing::Network network(*question.gpu, question.layout);
  const timing::Prices prices{kernels, network, question.training.precision.compute};
  walks.times = timing::time_blocks(walks.program, prices);
  walks.step = timing::time_step(walks.program, walks.times, question, walks.profile, prices);
  for (timing::BlockTime& block : walks.times) block = timing::paced(block, question, walks.profile);
}

using spec::Measure;

}  // namespace

/// Between two steps gradients and activations are gone.
void add_checkpoint(const program::Program& program, const spec::Question& question, memory::StepMemory& memory) {
  if (frameworks::saving_of(question) == nullptr) return;
  memory.saving = memory::checkpoint_needs(program, program::blocks_of_stage(program, memory.stage), question);
  memory::Moment alive = memory.persistent;
  alive.temporaries += memory.saving.accelerator;
  memory.steady[static_cast<std::size_t>(Phase::checkpoint)] = {Phase::checkpoint, 0, alive};
}

void add_evaluation(const spec::Question& question, memory::StepMemory& memory) {
  const spec::Question evaluated = evaluating(question);
  const frameworks::Profile profile = profile_of(evaluated);
  const program::Program program = program::build_program(evaluated, profile);
  const auto pass = memory::StepWalk(program, evaluated, profile).walk(memory.stage);
  const memory::Moment& highest = pass.peak().alive;
  memory::Moment alive = memory.persistent;
  alive.activations += highest.activations;
  alive.logits += highest.logits;
  alive.temporaries += highest.temporaries;
  alive.workspace = std::max(alive.workspace, highest.workspace);
  memory.steady[static_cast<std::size_t>(memory::Phase::evaluation)] = {memory::Phase::evaluation, 0, alive};
}

SizeAnswer model_size(const spec::Shape& shape) {
  spec::Question question;
  question.model = spec::build_model(shape);
  question.training.seq = 1;
  const auto profile = frameworks::make_profile(question.training, question.gpu);
  return size_answer(program::count_parameters(program::build_program(question, profile)));
}

Verdict verdict(const spec::Question& question, const trust::Need& need) {
  const trust::ErrorBar bar = trust::error_bar(question);
  Verdict v;
  v.kind = trust::judge(question, need);
  v.doubt = trust::doubt_of(question, need);
  v.capacity = trust::capacity_of(question).value_or(Bytes{});
  v.needed = need.accelerator;
  v.error = bar.allocated;
  v.error_source = source_of(bar);
  v.reserved = bar.reserved;
  v.shown = bar.device;
  v.low = around(v.needed, 1.0 - bar.allocated.below);
  v.high = around(v.needed, 1.0 + bar.allocated.above);
  v.host_capacity = spec::host_capacity_of(question).value_or(Bytes{});
  v.host_needed = need.host;
  return v;
}

Walks walk(const spec::Question& question) {
  Walks walks;
  walks.profile = profile_of(question);
  walks.program = program::build_program(question, walks.profile);
  walks.size = program::count_parameters(walks.program);
  count_model(question, walks);
  const memory::StepWalk step(walks.program, question, walks.profile);
  walks.memory = walk_stage(step, question);
  walks.timeline = step.timeline(walks.memory.stage);
  walks.stages = peaks_of_stages(step, walks.program.stages);
  walks.host = host_need(step, question);
  clock(question, walks);
  return walks;
}

Estimate estimate(const spec::Question& question) {
  frameworks::check_question(question);
  const Walks walks = walk(question);
  Estimate answer;
  answer.size = size_answer(walks.size);
  answer.memory = memory_answer(question, walks);
  answer.verdict = verdict(question, {answer.memory.peak_needed, walks.host});
  answer.compute = time_answer(question, walks);
  answer.timed = question.gpu.has_value();
  answer.notes = notes(question, walks);
  answer.warnings = warnings(question, answer);
  return answer;
}

double tokens_per_gpu(const spec::Question& question) {
  return question.gpu ? time_answer(question, walk(question)).tokens_per_gpu : 0.0;
}

std::optional<double> predicted(const Estimate& estimate, Measure measure, spec::Step step) {
  const MemoryAnswer& memory = estimate.memory;
  const auto count = [](quantity::Bytes size) { return static_cast<double>(in_bytes(size)); };
  switch (measure) {
    case Measure::peak_allocated:
      return count(step == spec::Step::first ? memory.peak_first_step : memory.peak_allocated);
    case Measure::peak_reserved: return count(memory.peak_reserved);
    case Measure::nvidia_smi: return count(memory.peak_device);
    case Measure::persistent: return count(memory.persistent);
    case Measure::step_time: return estimate.timed ? std::optional(in_seconds(estimate.compute.step)) : std::nullopt;
    case Measure::tokens_per_gpu: return estimate.timed ? std::optional(estimate.compute.tokens_per_gpu) : std::nullopt;
    default:  // whether it fits is no figure, and the others are of servers (serving/answer.hpp)
      return std::nullopt;
  }
}

trust::Spread error_bar(const Estimate& estimate, Measure measure) {
  if (measure == Measure::tokens_per_gpu) return trust::inverse(estimate.compute.error);
  if (!is_memory(measure)) return estimate.compute.error;
  if (measure == Measure::nvidia_smi) return estimate.verdict.shown;
  return measure == Measure::peak_reserved ? estimate.verdict.reserved : estimate.verdict.error;
}

}  // namespace llmcalc::answer
