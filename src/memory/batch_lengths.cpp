// Lengths of micro-batches that are filled up to their longest sample.
#include "llmcalc/quantity/quantity.hpp"
#include "llmcalc/spec/question.hpp"
#include "memory/cache_walk.hpp"
#include "quantity/elementary.hpp"

#include <algorithm>
#include <cmath>

namespace llmcalc::memory {
namespace {

/// Lengths between 0 and 1 of which nothing is known but their mean: of all such distributions the one with the most
/// entropy, an exponential that ends at 1 (Jaynes 1957). A mean of 1/2 makes them uniform.
class Spread {
 public:
  explicit Spread(double mean);

  double quantile(double share) const {
    return is_flat(rate_) ? share : -quantity::log1p(share * quantity::expm1(-rate_)) / rate_;
  }

 private:
  static bool is_flat(double rate) { return std::abs(rate) < 1e-6; }
  static double mean_of(double rate) { return is_flat(rate) ? 0.5 : 1.0 / rate - 1.0 / quantity::expm1(rate); }

  double rate_ = 0.0;
};

constexpr double steepest = 500.0;  // a mean of 1/500

Spread::Spread(double mean) {
  double flatter = -steepest;
  double steeper = steepest;
  for (int halvings = 0; halvings < 60; ++halvings) {
    rate_ = 0.5 * (flatter + steeper);
    (mean_of(rate_) > mean ? flatter : steeper) = rate_;
  }
}

/// Shares that lie evenly in any number of them (van der Corput 1935): the bits of a number, turned over.
double evenly(std::size_t number) {
  double share = 0.0;
  for (double place = 0.5; number > 0; number /= 2, place /= 2.0) share += number % 2 == 1 ? place : 0.0;
  return share;
}

// As many in this order leave what the median of five random orders of 480 or 960 batches does where samples are cut at
// 2,048 tokens (Qwen 1.8B, 21.5 GB beside 21.7), and less where at 4,096 and 8,192 (36 beside 45, 55 beside 70); single
// orders leave from half to twice the median.
constexpr std::size_t varied = 16;

}  // namespace

bool has_lengths(const spec::Question& question) {
  const auto& data = question.pricing.data;
  return data.sample_tokens && !data.packing && *data.sample_tokens < static_cast<double>(question.training.seq);
}

/// The longest of n samples is no longer than x where each is.
std::vector<std::int64_t> batch_lengths(const spec::Question& question, std::size_t equal) {
  const std::int64_t longest = question.training.seq;
  if (!has_lengths(question)) return std::vector<std::int64_t>(equal, longest);
  const Spread spread(*question.pricing.data.sample_tokens / static_cast<double>(longest));
  const double samples = static_cast<double>(question.training.sequences());
  const std::int64_t whole = quantity::product(question.layout.cp, question.layout.tp);
  std::vector<std::int64_t> lengths;
  for (std::size_t i = 1; i < varied; ++i) {
    const double share = spread.quantile(quantity::pow(evenly(i), 1.0 / samples));
    const auto length = static_cast<std::int64_t>(std::ceil(share * static_cast<double>(longest)));
    lengths.push_back(std::min(longest, quantity::ceil_to(std::max<std::int64_t>(1, length), whole)));
  }
  lengths.push_back(longest);
  return lengths;
}

spec::Question of_length(const spec::Question& question, std::int64_t length) {
  spec::Question shorter = question;
  const double share = static_cast<double>(length) / static_cast<double>(question.training.seq);
  shorter.training.seq = length;
  if (shorter.pricing.data.sample_tokens) *shorter.pricing.data.sample_tokens *= share;
  return shorter;
}

}  // namespace llmcalc::memory
