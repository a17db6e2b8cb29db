// The parts of an estimate, one function each; estimate() is their table of contents.
#pragma once

#include "answer/figures.hpp"
#include "answer/levels.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "memory/step_walk.hpp"
#include "program/build.hpp"
#include "program/count.hpp"
#include "timing/step_time.hpp"

#include <vector>

namespace llmcalc::answer {

/// The walks over one program, done once and read by every part.
struct Walks {
  frameworks::Profile profile;
  program::Program program;
  program::Size size;
  program::Work work;
  quantity::Bytes saved;      ///< a checkpoint to go on from, the same however the model is cut
  memory::StepMemory memory;  ///< of the stage that the question is about
  std::vector<memory::BlockPeak> timeline;
  std::vector<timing::BlockTime> times;   ///< of each block; empty without an accelerator or by a given utilization
  timing::StepTime step;                  ///< likewise
  std::vector<memory::StagePeak> stages;  ///< the peak of each pipeline stage
  quantity::Bytes host;                   ///< what the ranks of one machine have in its memory together
};

Walks walk(const spec::Question& question);

/// The highest moment of an evaluation between two steps, beside what rests there.
void add_evaluation(const spec::Question& question, memory::StepMemory& memory);

/// Memory while a checkpoint is written between two steps, where somebody asks.
void add_checkpoint(const program::Program& program, const spec::Question& question, memory::StepMemory& memory);

TimeAnswer time_answer(const spec::Question& question, const Walks& walks);

/// The model's weights in 16 bits, which the engine of an online algorithm holds.
quantity::Bytes engine_weights(std::int64_t parameters);

/// Tokens of one optimizer step over all data-parallel ranks.
double step_tokens(const spec::Question& question);

/// The time of a step and what follows from it: by the given MFU, or by the program.
/// \pre an accelerator is named; flops and peak are filled
void clock_step(const spec::Question& question, const Walks& walks, TimeAnswer& answer);

/// Checkpoints are made between steps, of which all together take `useful`.
Goodput goodput(const spec::Question& question, quantity::Bytes checkpoint, quantity::Seconds step,
                quantity::Seconds useful);

Verdict verdict(const spec::Question& question, const trust::Need& need);

/// Lines of what is alive at the peak, which sum to the device total.
std::vector<LedgerLine> ledger(const spec::Question& question, const Walks& walks, const MemoryAnswer& memory);

/// Sentences about what the model of this run leaves out.
std::vector<std::string> notes(const spec::Question& question, const Walks& walks);

/// Sentences about what the person should look at.
std::vector<std::string> warnings(const spec::Question& question, const Estimate& estimate);

}  // namespace llmcalc::answer
