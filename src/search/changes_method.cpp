// Changes to what is trained: adapters, beside weights in 16 or in 4 bits.
#include "frameworks/optimizer.hpp"
#include "quantity/lists.hpp"
#include "search/inner/change_kinds.hpp"
#include "search/inner/changed_words.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <string>
#include <string_view>
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

/// Of projections that experts have.
bool reaches_experts(std::string_view target) {
  constexpr std::string_view of_experts[] = {"gate", "up", "down", "fc1", "fc2", "all-linear"};
  return quantity::contains(of_experts, target);
}

}  // namespace

bool narrow_base(Changed& run, Larger, std::size_t step) {
  auto& precision = run.question.training.precision;
  const bool wide = spec::has_low_rank(run.question.training.method) && precision.weights == formats::Dtype::fp32;
  if (step > 0 || !wide || precision.compute != formats::Dtype::bf16) return false;
  precision.weights = formats::Dtype::bf16;
  precision.autocast = false;
  say(run, {{"weights", "bf16"}}, "frozen weights as checkpoints are published, in 16 bits",
      "nothing: they are multiplied in 16 bits either way (peft autocast_adapter_dtype keeps adapters in 32)");
  return true;
}

bool attention_adapters(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  const bool has_some = spec::has_low_rank(training.method) && run.question.model.shape.moe.experts > 0;
  auto& targets = training.adapter.targets;
  if (step > 0 || !has_some || std::ranges::none_of(targets, reaches_experts)) return false;
  targets = {"q", "k", "v", "o"};
  say(run, {{"lora_targets", "q,k,v,o"}}, "adapters beside attention, none in the experts",
      "another result: what experts know stays as it is (peft, target_modules)");
  return true;
}

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
