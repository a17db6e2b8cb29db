// Changes to what is trained: adapters, beside weights in 16 or in 4 bits.
#include "frameworks/optimizer.hpp"
#include "search/inner/change_kinds.hpp"
#include "search/inner/changed_words.hpp"

#include <string>
#include <vector>

namespace llmcalc::search {

namespace {

constexpr std::int64_t advised_rank = 16;

/// The base needs no master copy, and without adapters it is the reference.
void train_adapters(spec::Training& training, spec::Method method) {
  training.method = method;
  if (training.reference == spec::Reference::model) training.reference = spec::Reference::base;
  training.adapter.rank = advised_rank;
  training.adapter.targets = {"all-linear"};
  auto& precision = training.precision;
  precision.grads = frameworks::adapters_rest_in(training);
  if (!formats::is_quantized(precision.moments)) precision.moments = precision.grads;
  precision.master = precision.grad_copy = false;
}

void name_adapter(std::vector<ChangedTerm>& terms) {
  terms.push_back({"lora_rank", std::to_string(advised_rank)});
  terms.push_back({"lora_targets", "all-linear"});
}

void name_reference(std::vector<ChangedTerm>& terms, const spec::Training& training) {
  if (training.reference == spec::Reference::base) terms.push_back({"reference", "base"});
}

}  // namespace

bool adapters(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  if (step > 0 || training.method != spec::Method::full) return false;
  train_adapters(training, spec::Method::lora);
  std::vector<ChangedTerm> terms{{"method", "lora"}};
  name_adapter(terms);
  name_reference(terms, training);
  say(run, terms, "adapters are trained instead of the weights",
      "another result: low-rank updates learn less (Biderman et al. 2024, arXiv:2405.09673)");
  return true;
}

bool quantization(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  const bool can = training.method == spec::Method::full || training.method == spec::Method::lora;
  if (step > 0 || !can || formats::is_quantized(training.precision.weights)) return false;
  const bool had_adapters = training.method == spec::Method::lora;
  const spec::Adapter present = training.adapter;
  train_adapters(training, spec::Method::qlora);
  if (had_adapters) training.adapter = present;
  training.precision.weights = formats::Dtype::nf4_dq;
  training.precision.autocast = false;
  std::vector<ChangedTerm> terms{{"method", "qlora"}, {"weights", "nf4-dq"}};
  if (!had_adapters) name_adapter(terms);
  name_reference(terms, training);
  say(run, terms, "adapters are trained beside weights in 4 bits",
      "another result, and 4-bit weights are off by their rounding (Dettmers et al. 2023, arXiv:2305.14314)");
  return true;
}

}  // namespace llmcalc::search
