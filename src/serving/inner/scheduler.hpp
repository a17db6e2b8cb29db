// An engine's scheduler, step by step: which requests a step holds, and when each of them has its tokens.
#pragma once

#include "llmcalc/spec/serving.hpp"

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

namespace llmcalc::serving {

/// One copy of the model as its scheduler sees it; times are in seconds.
struct SteppedEngine {
  std::function<double(double sequences, double positions)> decode;  ///< a step that makes tokens of so many
  std::function<double(double tokens, double length)> prompt;        ///< so many tokens of prompts of such a length
  double launch_s = 0;  ///< the least that a step with prompts takes, of more tokens than the next says
  double replayed = 0;
  double tokens = 1;       ///< that a step makes of each sequence, drafts counted
  double judged = 1;       ///< of each sequence that a step is charged for
  double step_tokens = 1;  ///< the most of one step
  double sequences = 1;    ///< the most of one step
  double shared_prefix = 0;
  double seat_share = 0;       ///< of the cache, by a sequence
  double position_share = 0;   ///< and by each of its positions
  bool prompts_alone = false;  ///< prompts are read before anything is decoded, in steps of their own
  bool ahead = false;          ///< what a step holds is decided when the one before it begins
  bool comes_read = false;  ///< requests come with the cache of their prompt, which is read here only after preemption
  bool whole_prompts = false;  ///< a prompt that fits into a step is not cut, and a step has room beside it
  bool reads_only = false;     ///< requests leave with their first token
  double kept_ahead = 0;       ///< of the tokens still to come, for which room is kept before another is let in
  double wait_steps = 0;       ///< decoding steps for which a new request is let wait
  double request_s = 0;        ///< a request's way to the scheduler
  double seat_s = 0;           ///< and a token's way back for each request in flight
  double token_s = 0;          ///< and that of each token of its prompt
};

/// When a request was sent, had its first token, and its last.
struct Answered {
  double sent = 0;
  double first = 0;
  double last = 0;
};

struct Stepped {
  std::vector<Answered> requests;  ///< in their order
  std::int64_t preempted = 0;      ///< times that one lost its room and was read again
  double waited = 0;               ///< seconds of all requests together behind the scheduler, for steps and room
};

/// Requests at the times of their arrivals, or, with `clients` at work, so many of them so, and the next whenever one
/// has its answer.
Stepped step_through(const SteppedEngine& engine, std::span<const spec::Request> requests, std::int64_t clients);

}  // namespace llmcalc::serving
