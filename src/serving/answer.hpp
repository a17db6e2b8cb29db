// The whole answer about a server: does it start, what does it hold, how much can it take.
#pragma once

#include "llmcalc/trust/verdict_kind.hpp"
#include "serving/capacity.hpp"
#include "serving/speed.hpp"
#include "spec/measurement.hpp"

#include <optional>
#include <string>
#include <vector>

namespace llmcalc::serving {

struct ServingAnswer {
  trust::VerdictKind verdict = trust::VerdictKind::no_accelerator;  ///< never tight: no bar is known of a server
  std::string reason;                                               ///< why it does not start
  Deployment deployment;
  RankMemory memory;  ///< of the tightest rank with one request of the context; without an accelerator, with all
  std::optional<RankMemory> prefill;  ///< of the tightest rank of servers that read prompts for these
  std::vector<RankMemory> ranks;      ///< of all pipeline stages or cards, in order; empty where there is one
  Capacity capacity;
  std::int64_t parameters = 0;
  quantity::Bytes model;                   ///< all tensors of the model, wherever they are
  quantity::Bytes file;                    ///< of a GGUF file; zero for other checkpoints
  quantity::Bytes bytes_per_token;         ///< on the tightest rank, of layers that see everything, or else of windows
  std::int64_t reach = 0;                  ///< tokens for which these layers keep so many; 0: all
  quantity::Bytes state;                   ///< on it, of recurrent layers, of all sequences side by side
  std::optional<Speed> speed;              ///< empty where the server does not start
  std::vector<std::string> broken_limits;  ///< of the load: what it does not keep of them, in words
  std::vector<std::string> notes;
};

/// Whether the engine starts where its tightest rank holds so much.
bool starts(const RankMemory& memory);

/// Memory that a rank takes of its accelerator beyond the load's limits, in words.
std::vector<std::string> beyond_memory(const Deployment& deployment, const RankMemory& memory);

/// Whether operations run on the host, whose speed is not modelled: llama.cpp runs an operation where its weights are
/// (ggml/src/ggml-backend.cpp).
bool uses_processor(const Deployment& deployment);

/// \throws quantity::BadInput when the engine cannot run what was asked for
ServingAnswer serve(const spec::Question& question);

/// Total that a tool would show for the card: holdings and cache, and what the engine adds behind the limit.
quantity::Bytes device_total(const ServingAnswer& answer);

/// Over all cards of one copy.
quantity::Bytes device_total_of_all(const ServingAnswer& answer);

// What the answer about a server says to each thing that can be measured of one.

/// Which accelerators a measured number is of.
enum class Scope { one_card, all_cards };

/// Figure in the unit of read::MeasuredRun::value; empty where the answer has none such.
std::optional<double> predicted(const ServingAnswer& answer, spec::Measure measure, Scope scope);

}  // namespace llmcalc::serving
