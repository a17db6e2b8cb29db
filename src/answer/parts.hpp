// The parts of an estimate, one function each; estimate() is their table of contents.
#pragma once

#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/memory/step_walk.hpp"
#include "llmcalc/program/build.hpp"
#include "llmcalc/program/count.hpp"

namespace llmcalc::answer {

/// The walks over one program, done once and read by every part.
struct Walks {
  program::Profile profile;
  program::Program program;
  program::Size size;
  program::Work work;
  memory::StepMemory memory;  ///< of the stage that peaks highest
};

Walks walk(const spec::Question& question);

MemoryAnswer memory_answer(const spec::Question& question, const Walks& walks);
Verdict verdict(const spec::Question& question, const MemoryAnswer& memory);
TimeAnswer time_answer(const spec::Question& question, const Walks& walks);

/// What is alive at the peak as labelled lines that sum to the device total.
std::vector<LedgerLine> ledger(const spec::Question& question, const Walks& walks, const MemoryAnswer& memory);

/// Room left or missing, and what the model of this run leaves out.
std::vector<std::string> notes(const spec::Question& question, const Verdict& verdict);
std::vector<std::string> warnings(const spec::Question& question, const Estimate& estimate);

}  // namespace llmcalc::answer
