// How fast a server is under a load: time to first token, time of each later one, throughput, and what tokens cost.
#pragma once

#include "llmcalc/quantity/energy.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/trust/verdict_kind.hpp"
#include "serving/engine.hpp"
#include "spec/measurement.hpp"

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::serving {

/// A part of a decoding step.
struct SpeedPart {
  std::string_view id;
  std::string_view label;
  quantity::Seconds time;
};

/// Cost of a million tokens; input and output share an hour by the time that each takes of a step.
struct TokenCost {
  std::optional<quantity::Money> input;
  std::optional<quantity::Money> output;
  std::optional<quantity::Money> all;      ///< of a million tokens of output with their prompts
  std::optional<quantity::Money> hour;     ///< of all accelerators, whatever they answer
  std::optional<quantity::Energy> energy;  ///< of a million tokens of output with their prompts
  std::optional<quantity::Mass> carbon;    ///< of that energy, as CO2e
  std::string source;                      ///< of the price
};

/// The mean, and what so many of a hundred requests do not exceed.
struct Percentiles {
  quantity::Seconds mean;
  quantity::Seconds p50;
  quantity::Seconds p95;
  quantity::Seconds p99;
};

/// Tail of requests that went one by one through the engine's scheduler.
struct Tail {
  Percentiles ttft;
  Percentiles tpot;
  std::int64_t requests = 0;   ///< that were counted
  std::int64_t preempted = 0;  ///< times that one lost its room in the cache and was read again
};

struct Speed {
  double concurrency = 0.0;  ///< requests in flight over the deployment: asked for, or what the rate leads to
  double running = 0.0;
  double queued = 0.0;     ///< that wait for room in the cache
  bool saturated = false;  ///< requests come faster than they are answered: what waits, and for how long, is infinite
  quantity::Seconds prefill;   ///< of one prompt alone
  quantity::Seconds handover;  ///< of ttft, a cache on its way from the server that read the prompt
  quantity::Seconds decode_step;
  quantity::Seconds ttft;
  quantity::Seconds tpot;
  quantity::Seconds admission;  ///< of ttft, waiting for room in the cache
  quantity::Seconds request;    ///< from its arrival to its last token
  double tokens_per_s = 0.0;    ///< of output, over the deployment
  double prompt_tokens_per_s = 0.0;
  double tokens_per_s_per_gpu = 0.0;
  double tokens_per_s_per_user = 0.0;
  double requests_per_s = 0.0;
  std::vector<SpeedPart> parts;  ///< of the decoding step
  TokenCost cost;
  std::optional<Tail> tail;  ///< where requests come at a rate or of a trace, or a share of them has a limit
  trust::Spread ttft_bar;
  trust::Spread tpot_bar;
  std::string measured_on;   ///< the part whose kernels were measured
  bool is_relative = false;  ///< it stands for another, of its generation
};

/// Tokens a second by which servers are compared: of answers, or of what is read where nothing is written.
double compared(const spec::Load& load, const Speed& speed);

/// Nine of ten measured values lie inside. That of a speed is wider where the part stands for one of another
/// generation, and under llama.cpp where something lies in host memory.
trust::Spread error_bar(const Deployment& deployment, spec::Measure measure);

/// The price of one accelerator for an hour: what the person said, else what is known of it.
std::optional<quantity::Money> price_of(const spec::Question& question);

/// Whether the load asks how soon tokens come, or what they may cost.
bool is_limited(const spec::Load& load);

/// Whether requests are answered as fast as they come, the first token and each later one as soon as the load asks, and
/// for no more money.
bool keeps_limits(const spec::Load& load, const Speed& speed);

/// Under the load of the question. Empty without an accelerator, or where not one request runs.
std::optional<Speed> speed_of(const Deployment& deployment);

/// Under so many requests at once, one after another: what a search asks of one layout. Empty likewise.
std::vector<Speed> speeds_at(const Deployment& deployment, std::span<const std::int64_t> concurrencies);

}  // namespace llmcalc::serving
