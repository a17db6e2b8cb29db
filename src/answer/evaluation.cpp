#include "answer/inner/parts.hpp"
#include "llmcalc/spec/question.hpp"

#include <algorithm>

namespace llmcalc::answer {

namespace {

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

}  // namespace

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

}  // namespace llmcalc::answer
