#include "quantity/elementary.hpp"
#include "serving/inner/load_clock.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <numbers>
#include <numeric>
#include <utility>

namespace llmcalc::serving {

namespace {

constexpr std::size_t side = 64;
constexpr std::size_t per_octave = 2;

double node_value(std::size_t i) {
  return std::ldexp(i % per_octave == 0 ? 1.0 : std::numbers::sqrt2, static_cast<int>(i / per_octave));
}

/// The node below, and the share of the way to the next.
std::pair<std::size_t, double> place_of(double x) {
  int exponent = 0;
  const double fraction = std::frexp(std::max(x, 1.0), &exponent);
  const auto steps =
      per_octave * static_cast<std::size_t>(exponent - 1) + (2.0 * fraction < std::numbers::sqrt2 ? 0 : 1);
  const auto below = std::min(steps, side - 2);
  const double low = node_value(below);
  return {below, std::min(1.0, (x - low) / (node_value(below + 1) - low))};
}

}  // namespace

PriceTable::PriceTable(std::function<double(double x, double y)> price)
    : price_(std::move(price)), nodes_(side * side, -1.0) {}

double PriceTable::node(std::size_t i, std::size_t j) {
  double& price = nodes_[i * side + j];
  if (price < 0) price = price_(node_value(i), node_value(j));
  return price;
}

double PriceTable::at(double x, double y) {
  const auto [i, right] = place_of(x);
  const auto [j, up] = place_of(y);
  const double low = std::lerp(node(i, j), right > 0 ? node(i + 1, j) : 0.0, right);
  return up > 0 ? std::lerp(low, std::lerp(node(i, j + 1), right > 0 ? node(i + 1, j + 1) : 0.0, right), up) : low;
}

namespace {

using quantity::seconds;

/// Numbers that look drawn, the same for everybody: SplitMix64 (Steele, Lea and Flood 2014,
/// doi:10.1145/2660193.2660195, figure 17).
class Draws {
 public:
  /// Even over [0, 1).
  double even() {
    std::uint64_t bits = state_ += 0x9e3779b97f4a7c15;
    bits = (bits ^ (bits >> 30)) * 0xbf58476d1ce4e5b9;
    bits = (bits ^ (bits >> 27)) * 0x94d049bb133111eb;
    return static_cast<double>((bits ^ (bits >> 31)) >> 11) * 0x1p-53;
  }

 private:
  std::uint64_t state_ = 0;
};

std::int64_t drawn_length(std::int64_t longest, double range_ratio, Draws& draws) {
  const double shortest = range_ratio * static_cast<double>(longest);
  const double length = shortest + draws.even() * (static_cast<double>(longest) - shortest + 1);
  return std::clamp<std::int64_t>(static_cast<std::int64_t>(length), 1, std::max<std::int64_t>(longest, 1));
}

/// Gaps between arrivals of a Poisson process are exponential. Where nobody says that lengths are equal, answers end by
/// themselves and not together: within a tenth of their mean, as benchmark clients draw them (SemiAnalysisAI/InferenceX
/// benchmark-tmpl.yml, random-range-ratio 0.8).
std::vector<spec::Request> drawn(const spec::Load& load, std::int64_t count, double rate) {
  constexpr double apart = 0.1;
  const double ratio = load.range_ratio.value_or((1 - apart) / (1 + apart));
  const double longest = static_cast<double>(load.output) * (load.range_ratio ? 1.0 : 1 + apart);
  const bool at_once = std::isinf(rate);  // no gaps, and no logarithms of them
  Draws draws;
  std::vector<spec::Request> requests(static_cast<std::size_t>(count));
  double now = 0;
  for (spec::Request& each : requests) {
    const double even = draws.even();
    if (!at_once) now -= quantity::log1p(-even) / rate;
    each = {now, drawn_length(load.prompt, load.range_ratio.value_or(1.0), draws),
            drawn_length(std::llround(longest), ratio, draws)};
  }
  return requests;
}

/// Every so many requests of the trace, from one of the first.
std::vector<spec::Request> turn_of(const std::vector<spec::Request>& trace, std::size_t first, std::size_t copies) {
  std::vector<spec::Request> requests;
  for (std::size_t i = first; i < trace.size(); i += copies) requests.push_back(trace[i]);
  return requests;
}

class Waits {
 public:
  explicit Waits(const SteppedEngine& engine) : engine_(engine) {}

  /// \param left_out  of the requests, which find a server that is not at work yet
  void add(const std::vector<spec::Request>& requests, std::int64_t clients, std::int64_t left_out) {
    const Stepped stepped = step_through(engine_, requests, clients);
    preempted_ += stepped.preempted;
    for (auto i = static_cast<std::size_t>(left_out); i < requests.size(); ++i) add(stepped.requests[i], requests[i]);
  }

  void add(const Answered& each, const spec::Request& request) {
    first_.push_back(each.first - each.sent);
    const auto later = static_cast<double>(request.output - 1);
    if (later > 0) later_.push_back((each.last - each.first) / later);
  }

  double mean_first() const { return mean(first_); }
  double mean_later() const { return mean(later_); }

  /// As long as the means say.
  Tail tail_of(const Speed& mean) && {
    const double later = mean_later() > 0 ? quantity::in_seconds(mean.tpot) / mean_later() : 1.0;
    return std::move(*this).tail(quantity::in_seconds(mean.ttft) / mean_first(), later);
  }

  /// Times as long as they were.
  Tail tail(double first, double later) && {
    return {percentiles(first_, first), percentiles(later_, later), static_cast<std::int64_t>(first_.size()),
            preempted_};
  }

 private:
  static double mean(const std::vector<double>& waits) {
    return std::accumulate(waits.begin(), waits.end(), 0.0) /
           static_cast<double>(std::max<std::size_t>(waits.size(), 1));
  }

  /// The nearest rank: no fewer than that share of them are as fast.
  static Percentiles percentiles(std::vector<double>& waits, double times) {
    if (waits.empty()) return {};
    std::ranges::sort(waits);
    const auto at = [&](double share) {
      const auto rank = static_cast<std::size_t>(std::ceil(share * static_cast<double>(waits.size())));
      return times * seconds(waits[std::max<std::size_t>(rank, 1) - 1]);
    };
    return {times * seconds(mean(waits)), at(0.50), at(0.95), at(0.99)};
  }

  const SteppedEngine& engine_;
  std::vector<double> first_;
  std::vector<double> later_;  ///< of each token behind the first
  std::int64_t preempted_ = 0;
};

/// As many as their 95th percentile needs to be told within some percent.
constexpr std::int64_t counted = 500;

}  // namespace

Tail tail_of_arrivals(const SteppedEngine& engine, const spec::Load& load, std::int64_t copies) {
  Waits waits(engine);
  if (load.trace) {
    const auto all = std::min(static_cast<std::size_t>(copies), load.trace->size());
    for (std::size_t copy = 0; copy < all; ++copy) waits.add(turn_of(*load.trace, copy, all), 0, 0);
  } else {
    constexpr std::int64_t first = counted / 5;
    waits.add(drawn(load, first + counted, *load.rate / static_cast<double>(copies)), 0, first);
  }
  return std::move(waits).tail(1.0, 1.0);
}

namespace {

std::int64_t sent_to_one(const spec::Load& load, double copies) {
  return std::max<std::int64_t>(std::llround(static_cast<double>(*load.prompts) / copies), 1);
}

}  // namespace

/// Benchmark clients send all of their first requests at once and, where nobody says how many they send, ten times as
/// many as run at once (SemiAnalysisAI/InferenceX benchmarks/single_node). Those that follow the first of each client
/// are as the fewer that are gone through here.
LoopTimes loop_times(const SteppedEngine& engine, const spec::Load& load, std::int64_t asked, double copies) {
  constexpr std::int64_t rounds = 10;
  constexpr std::int64_t gone_through = 4;
  constexpr std::int64_t fewest = 640;
  LoopTimes times;
  times.requests = load.prompts ? sent_to_one(load, copies) : rounds * asked;
  const std::int64_t clients = std::min(asked, times.requests);
  const std::int64_t count = std::min(times.requests, std::max(gone_through * clients, fewest));
  const auto requests = drawn(load, count, std::numeric_limits<double>::infinity());
  const Stepped stepped = step_through(engine, requests, clients);
  const auto all = static_cast<double>(times.requests);
  const double later =
      (all - static_cast<double>(clients)) / static_cast<double>(std::max(count - clients, std::int64_t{1}));
  double firsts = 0;
  double tokens = 0;
  double answers = 0;
  double held = 0;  // seconds of clients
  for (std::size_t i = 0; i < requests.size(); ++i) {
    const double weight = i < static_cast<std::size_t>(clients) ? 1.0 : later;
    const Answered& each = stepped.requests[i];
    firsts += each.first - each.sent;
    times.first += weight * (each.first - each.sent) / all;
    times.whole = std::max(times.whole, each.last);
    held += weight * (each.last - each.sent);
    const auto written = static_cast<double>(requests[i].output - 1);
    if (written < 1) continue;
    tokens += weight * (each.last - each.first) / written;
    answers += weight;
  }
  if (firsts > 0) times.waited = stepped.waited / firsts * times.first;  // as large a part of those that come later
  if (answers > 0) times.later = tokens / answers;
  times.whole += (all - static_cast<double>(count)) / all * held / static_cast<double>(clients);
  return times;
}

Tail tail_of_clients(const SteppedEngine& engine, const spec::Load& load, std::int64_t clients, double copies,
                     const Speed& mean) {
  Waits waits(engine);
  const std::int64_t count = load.prompts ? sent_to_one(load, copies) : clients + std::max(counted, clients);
  waits.add(drawn(load, count, std::numeric_limits<double>::infinity()), clients, load.prompts ? 0 : clients);
  return std::move(waits).tail_of(mean);
}

namespace {

/// When each of the requests has its tokens, which go to so many copies in turn.
std::vector<Answered> answered_in_turn(const SteppedEngine& engine, const std::vector<spec::Request>& requests,
                                       std::size_t copies) {
  std::vector<Answered> answered(requests.size());
  for (std::size_t copy = 0; copy < std::min(copies, requests.size()); ++copy) {
    const Stepped stepped = step_through(engine, turn_of(requests, copy, copies), 0);
    for (std::size_t i = 0; i < stepped.requests.size(); ++i) answered[copy + i * copies] = stepped.requests[i];
  }
  return answered;
}

/// Requests that one copy of so many is sent, where they come at random to any of them.
std::vector<spec::Request> thinned(std::vector<spec::Request> requests, std::int64_t copies) {
  for (spec::Request& each : requests) each.arrival *= static_cast<double>(copies);
  return requests;
}

}  // namespace

/// Requests that leave servers to which they come at random come to the next as if at random (Burke 1956,
/// doi:10.1287/opre.4.6.699, whose services are drawn): one copy of each stands for all where requests are drawn.
Tail tail_of_both(const Servers& readers, const Servers& writers, const Sent& sent, const Speed& mean,
                  bool as_it_comes) {
  constexpr std::int64_t first = counted / 5;
  const bool traced = as_it_comes && sent.load.trace;
  const auto requests = traced ? *sent.load.trace : drawn(sent.load, first + counted, mean.requests_per_s);
  const auto prompts = traced ? requests : thinned(requests, readers.copies);
  const auto read = answered_in_turn(readers.engine, prompts, traced ? static_cast<std::size_t>(readers.copies) : 1);
  auto answers = traced ? requests : thinned(requests, writers.copies);
  for (std::size_t i = 0; traced && i < answers.size(); ++i)
    answers[i].arrival = read[i].first + sent.token_s * static_cast<double>(answers[i].prompt);
  auto written = answered_in_turn(writers.engine, answers, traced ? static_cast<std::size_t>(writers.copies) : 1);
  Waits waits(writers.engine);
  for (auto i = static_cast<std::size_t>(traced ? 0 : first); i < requests.size(); ++i) {
    written[i].sent -= read[i].first - read[i].sent + sent.token_s * static_cast<double>(requests[i].prompt);
    waits.add(written[i], requests[i]);
  }
  return as_it_comes ? std::move(waits).tail(1.0, 1.0) : std::move(waits).tail_of(mean);
}

}  // namespace llmcalc::serving
