// What serving adds to its kernels: host work, scheduling, and kernels too small to be worth a curve of their own.
#pragma once

#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/accelerator.hpp"
#include "serving/engine.hpp"

namespace llmcalc::serving {

inline constexpr double micro = 1e-6;

/// Times that every server on PyTorch runs and waits beside the kernels that have a curve. One row for all engines:
/// fitted to each alone these came out alike (layers 2 to 15 microseconds, steps 80 to 110, sequences 11 to 17), and a
/// model that no engine has shown is predicted better with them in common (docs/serve-speed.md).
struct Overheads {
  double layer_us = 0;       ///< a layer: norms, rotary embedding, writing the cache
  double mixture_us = 0;     ///< a layer with routed experts: choosing them, and the hidden states' way there
  double head_norms_us = 0;  ///< norms of queries and keys, two more kernels
  double latents_us = 0;     ///< norms and rotation of latents, and putting the parts together
  double recurrence_us = 0;  ///< gates and norms around a recurrence
  double meeting_us = 0;     ///< ranks that wait for each other before an all-reduce, which its own loop does not show
  double step_us = 0;        ///< a step: scheduling and sampling that nothing hides
  double request_us = 0;     ///< a sequence of a step
  double draft_step_us = 0;  ///< a step whose proposals are judged on the host
  double draft_request_us = 0;  ///< and a sequence of it
  double first_ms = 0;          ///< a request, before its prompt and after its first token: server
  double token_us = 0;          ///< a token of a prompt: tokenizer, and the way to the scheduler
  double natural_us = 0;        ///< and of one that is a sentence
  double seat_ms = 0;           ///< each request in flight, whose tokens the server hands on while a new one comes
};

const Overheads& overheads();

/// Times of llama.cpp's kernels, on every card alike; what they reach on each generation stands in presets/generations.
/// All but the first, the third and the last measured on one card alone (DGX Spark); the last was chosen on the tokens
/// a second of tests/measured/serving/llama-cpp-host.csv.
struct GgmlKernels {
  double fused_cache = 0;    ///< share of the bandwidth that fused attention reads keys, values and states at
  double fused_prompt = 0;   ///< share of the peak that it reaches in a prompt
  double expert_layer = 0;   ///< launches that routed experts add to a layer's
  double sorting_us = 0;     ///< and where several rows are sorted by their experts, a layer
  double alike = 0;          ///< as many as b to this power choose their experts independently
  double expert_prompt = 0;  ///< of the rate of other products in a prompt, by tiles of routed experts
  double scanned = 0;        ///< share of the vector units' peak that recurrences reach in a prompt
  double recurrent_us = 0;   ///< launches that a recurrence adds to a layer's
  double sampled_ms = 0;     ///< a token that a server draws from the vocabulary on the host, and sends
  double host_share = 0;     ///< of the host memory's bandwidth, at which a processor reads weights and cache
};

const GgmlKernels& ggml_kernels();

// How fast llama.cpp and what runs on it are: closed forms with a few constants for each kind of memory.

struct GgmlTimes {
  quantity::Seconds token;   ///< of one sequence, `positions` into it
  quantity::Seconds prompt;  ///< of one prompt alone
};

/// Bandwidth of the host's memory, as said or as usual.
quantity::Bandwidth host_bandwidth(const spec::Question& question);

/// \param sequences  that decode together
/// \param positions  behind the token
GgmlTimes ggml_times(const Deployment& deployment, double sequences, double positions, double prompt);

}  // namespace llmcalc::serving
