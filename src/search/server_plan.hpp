// The search for how to serve a model on given accelerators: every layout, engine and format of the weights.
#pragma once

#include "llmcalc/spec/question.hpp"
#include "serving/speed.hpp"

#include <cstdint>
#include <string>
#include <vector>

namespace llmcalc::search {

/// Terms that may differ from the question; of each that is closed its own value is kept.
struct ServerSpace {
  bool engines = true;
  bool quants = true;
  bool tp = true;
  bool pp = true;
  bool attention_dp = true;
  bool ep = true;
  bool copies = true;  ///< of servers without ranks
  bool concurrency = true;
};

/// One way to serve, at the concurrency that answers most tokens a second within the limits, or at the rate that was
/// asked for.
struct ServerPlan {
  spec::Question question;
  serving::Speed speed;
  double most_tokens_per_s = 0;  ///< of output within the limits, whatever the rate
};

struct ServerPlans {
  std::vector<ServerPlan> best;  ///< most tokens for a dollar first; accelerators are all the same price
  std::int64_t layouts = 0;      ///< that were priced
  std::int64_t starting = 0;     ///< of which so many start
  std::int64_t estimates = 0;
  bool counted = false;  ///< nobody said how many accelerators: each has the fewest that keep the limits
};

/// Words that make the plan's question of the one that was asked: "--engine vllm --quant fp8 --tp 4".
std::string change_of(const ServerPlan& plan);

/// Goes through all of tp x pp x attention-dp x ep x engine x quantization that use the question's accelerators, copies
/// of what is smaller included, with some of them reading prompts for the others where the question has such, and of
/// each through concurrencies in powers of two; of the best the largest one that keeps the limits is looked for. Under
/// a rate those are left out that do not carry it.
ServerPlans plan_server(const spec::Question& question, const ServerSpace& space, std::size_t most);

}  // namespace llmcalc::search
