// The time of one step of a run of given words.
#pragma once

#include "memory/asked.hpp"
#include "timing/step_time.hpp"

#include <string>

namespace llmcalc::test {

inline timing::StepTime step_of(const Asked& asked) {
  const timing::KernelPrices kernels(*asked.question.gpu, asked.question.training, asked.profile);
  const timing::Network network(*asked.question.gpu, asked.question.layout);
  const timing::Prices prices{kernels, network, asked.question.training.precision.compute};
  return timing::time_step(asked.program, timing::time_blocks(asked.program, prices), asked.question, asked.profile,
                           prices);
}

inline timing::StepTime step_of(const std::string& line) { return step_of(Asked(line)); }

}  // namespace llmcalc::test
