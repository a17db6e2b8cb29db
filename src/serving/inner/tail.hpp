// What most requests of a load wait for, beside the mean: its requests one by one through the engine's scheduler.
#pragma once

#include "serving/inner/scheduler.hpp"
#include "serving/speed.hpp"

#include <optional>
#include <vector>

namespace llmcalc::serving {

/// Prices that many steps ask for, between those that were worked out once, at powers of the square root of two.
class PriceTable {
 public:
  explicit PriceTable(std::function<double(double x, double y)> price);

  /// \pre both are at least 1
  double at(double x, double y);

 private:
  double node(std::size_t i, std::size_t j);

  std::function<double(double x, double y)> price_;
  std::vector<double> nodes_;
};

/// The load as it comes: the requests of its trace, in turn on each of so many copies, or drawn ones of one copy,
/// lengths evenly and arrivals by chance.
Tail tail_of_arrivals(const SteppedEngine& engine, const spec::Load& load, std::int64_t copies);

/// Of a closed loop, in seconds.
struct LoopTimes {
  double first = 0;             ///< to the first token
  std::optional<double> later;  ///< to each that follows; empty where none does
  double waited = 0;            ///< of the first, behind the scheduler
};

/// So many clients of one copy, each of which sends its next request when it has its answer: means of their requests.
LoopTimes loop_times(const SteppedEngine& engine, const spec::Load& load, std::int64_t clients);

/// And what most of them wait for, once all have had an answer.
/// \param mean  whose first token and later ones those of the requests are in the mean
Tail tail_of_clients(const SteppedEngine& engine, const spec::Load& load, std::int64_t clients, const Speed& mean);

/// So many copies of a server.
struct Servers {
  SteppedEngine engine;
  std::int64_t copies = 1;
};

/// A load whose prompts are read elsewhere, and how long a token's cache is on its way.
struct Sent {
  const spec::Load& load;
  double token_s = 0;
};

/// Of a load whose prompts some servers read and whose answers others write. Where it does not come by itself requests
/// are drawn at the mean's rate, and their means are those of `mean`.
Tail tail_of_both(const Servers& readers, const Servers& writers, const Sent& sent, const Speed& mean,
                  bool as_it_comes);

}  // namespace llmcalc::serving
