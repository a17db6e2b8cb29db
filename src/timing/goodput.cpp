#include "timing/goodput.hpp"

#include "program/states.hpp"
#include "quantity/elementary.hpp"

#include <cmath>
#include <vector>

namespace llmcalc::timing {

using quantity::Bytes;
using quantity::in_seconds;
using quantity::Seconds;
using quantity::seconds;

namespace {

Bytes saved_of(layers::Weight weight, const spec::Training& training) {
  if (weight.tied || !weight.trainable) return {};
  weight.elements = weight.whole;
  const program::States states = program::weight_states(weight, training, program::StateSharding());
  return formats::storage_bytes(weight.dtype, weight.elements) + states.master + states.optimizer + states.paged;
}

}  // namespace

Bytes checkpoint_size(const program::Program& program, const spec::Training& training) {
  std::vector<Bytes> sizes(program.blocks.size());
  for (std::size_t i = 0; i < sizes.size(); ++i) {
    for (const auto& weight : program.blocks[i].weights) sizes[i] += saved_of(weight, training);
  }
  Bytes sum;
  for (const auto index : program.sequence) sum += sizes[index];
  return sum;
}

Seconds best_interval(Seconds save, Seconds mtbf) {
  if (save >= 2.0 * mtbf) return mtbf;
  const double share = save / (2.0 * mtbf);
  const double young = std::sqrt(2.0 * in_seconds(save) * in_seconds(mtbf));
  return seconds(young * (1.0 + std::sqrt(share) / 3.0 + share / 9.0)) - save;
}

double goodput(Seconds interval, Seconds save, Seconds mtbf, Seconds restart) {
  if (std::isinf(in_seconds(mtbf))) return interval / (interval + save);
  const double lost_and_done = quantity::exp(restart / mtbf) * quantity::expm1((interval + save) / mtbf);
  return interval / (mtbf * lost_and_done);
}

}  // namespace llmcalc::timing
