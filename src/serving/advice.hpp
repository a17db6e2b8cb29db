// Other ways to serve the same model: what would make it fit or fit more, and what a search for one choice found.
#pragma once

#include "serving/answer.hpp"
#include "spec/proposed_accelerator.hpp"

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace llmcalc::serving {

/// A change of the question and what comes of it.
struct Candidate {
  std::string change;  ///< "--kv-dtype fp8", as it is typed
  std::string cost;    ///< what it costs; empty where it costs nothing that is known
  bool starts = false;
  std::int64_t max_context = 0;
  std::int64_t max_concurrency = 0;
  bool carries = false;    ///< the whole load that was asked for, within its limits
  bool uses_host = false;  ///< the engine leaves a part to it of its own accord
};

/// Changes with which the server starts, if need be with shorter requests, or carries the load that it does not carry
/// as asked.
/// \param larger  accelerators to consider in place of the question's, the smallest first
/// \param of_other_engine  the same question of an engine that may be advised, where nobody named one
std::vector<Candidate> advise(const ServingAnswer& answer,
                              const std::function<std::vector<spec::ProposedAccelerator>()>& larger,
                              const std::optional<spec::Question>& of_other_engine = std::nullopt);

/// Whether an accelerator takes the whole load at once.
struct CardAnswer {
  std::string gpu;
  bool takes_it = false;
};

/// \param cards  to ask in the place of the accelerator that nobody named; those that the engine does not run on are
/// left
///     out
std::vector<CardAnswer> ask_cards(const spec::Question& question, const std::vector<spec::Accelerator>& cards);

/// Words for the layout of a changed question, " --tp 4 --ep 4": whoever puts them in the place of those that were
/// asked asks the changed one.
std::string layout_words(const spec::Question& changed, const spec::Question& asked);

/// Answers that --find compares.
enum class Find { concurrency, context, gpus, quant, engine };

/// The largest concurrency or context as a change of the question; for each width of tensor parallelism the fewest
/// accelerators, as copies behind a balancer; the widest weights or every engine with what it takes. What carries the
/// load stands in front, or last where others were tried before it.
/// \param typed  the question with another engine said behind it, which lays it out anew; nothing where it refuses.
///               Of engines alone, which cannot be found without it
std::vector<Candidate> find(const spec::Question& question, Find what,
                            const std::function<std::optional<spec::Question>(const std::string& change)>& typed = {});

/// A cell of the matrix of contexts and concurrencies.
struct CapacityCell {
  std::int64_t context = 0;
  std::int64_t concurrency = 0;
  bool fits = false;
  double cache_share = 0.0;  ///< of what is left for the cache
};

/// Powers of two of both, as far as anything fits.
std::vector<CapacityCell> capacity_cells(const spec::Question& question);

}  // namespace llmcalc::serving
