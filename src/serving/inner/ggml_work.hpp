// What a step of llama.cpp multiplies and reads, summed over the layers of the model.
#pragma once

#include "serving/engine.hpp"

namespace llmcalc::serving {

/// Sums over all layers of the model and its head, for a step of `rows` tokens.
struct GgmlWork {
  double bytes = 0;
  double flops = 0;         ///< of a token, attention and routed experts left out
  double expert_flops = 0;  ///< of a token
  double cache = 0;         ///< bytes that a token reads, and of states reads and writes
  double scores = 0;        ///< bytes of fp32 scores of one query
  double pairs = 0;         ///< FLOPs of one query with the keys that it sees
  double activations = 0;   ///< bytes of fp32 activations of a token
  double layers = 0;
  double mixtures = 0;     ///< layers with routed experts
  double recurrences = 0;  ///< layers with a recurrence
};

/// How many rows of a step there are, and how far behind it its sequences reach.
struct StepShape {
  double rows = 1;
  double positions = 1;
};

GgmlWork ggml_work(const Deployment& deployment, const StepShape& step);

}  // namespace llmcalc::serving
