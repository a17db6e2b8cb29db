// What an engine adds to its kernels: host work, scheduling, and kernels too small to be worth a curve of their own.
#pragma once

#include "llmcalc/spec/accelerator.hpp"
#include "llmcalc/spec/serving.hpp"

#include <string_view>

namespace llmcalc::serving {

/// Fitted, all of them, to the measured rows of tests/measured/serving that name a GPU of the operation tables; the
/// figures of fits that leave a model out are in docs/accuracy.md.
struct Pace {
  double layer = 0;          ///< microseconds a layer: norms, rotary embedding, writing the cache
  double mixture = 0;        ///< a layer with routed experts: choosing them, and the hidden states' way there
  double step = 0;           ///< a step: scheduling and sampling that nothing hides
  double request = 0;        ///< a sequence of a step
  double draft_step = 0;     ///< a step whose proposals are judged on the host
  double draft_request = 0;  ///< and a sequence of it
  double first = 0;          ///< milliseconds a request before its prompt and after its first token: server
  double token = 0;          ///< microseconds a token of its prompt: tokenizer, and the way to the scheduler
  double seat = 0;           ///< milliseconds for each request in flight, whose tokens the server hands on meanwhile
  double prompt = 0;         ///< passes of its own prompt
  double wave = 0;           ///< of the prompts in front of it, had all requests come at once: requests of equal length
  double drawn_wave = 0;     ///< the same of requests whose lengths are drawn, which soon part
  double steps = 0;          ///< decoding steps that it waits for
};

const Pace& pace_of(spec::Engine engine);

/// How much longer prompts take one after another than their kernels do one by one. A closed loop of c requests takes
/// output steps and c prompts a cycle, TTFT + output TPOT; where prompts are more than a third of it they take 1.2 to
/// 1.3 times their kernels on H100 and H200, of dense models, at 1 to 8 ranks and under each of three engines, and 1.0
/// to 1.1 on B200 (tests/measured/serving): Hopper's clocks fall under products without a pause.
double sustained(const spec::Accelerator& gpu);

/// Kernels that every engine runs beside the ones with a curve, microseconds. Fitted with the engines' own.
inline constexpr double head_norms_us = 9.0;  ///< norms of queries and keys, two more kernels
inline constexpr double latents_us = 8.0;     ///< norms and rotation of latents, and putting the parts together
inline constexpr double recurrence_us = 9.0;  ///< gates and norms around a recurrence
/// Ranks that wait for each other before an all-reduce can begin, which a loop of nothing else does not show.
inline constexpr double meeting_us = 2.9;

}  // namespace llmcalc::serving
