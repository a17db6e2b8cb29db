// Changes to what is trained, to what a micro-batch is, to its kernels and to the states beside it.

#include "search/inner/changes.hpp"

#include "frameworks/table.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "spec/names.hpp"
#include "spec/traits.hpp"

#include <algorithm>
#include <utility>

namespace llmcalc::search {

void say(Changed& run, const std::vector<spec::Word>& terms, std::string_view change, std::string_view cost) {
  for (const spec::Word& said : terms) {
    auto* before = quantity::find_or_null(run.terms, said.term, &spec::Word::term);
    (before == nullptr ? run.terms.emplace_back() : *before) = said;
  }
  const auto append = [](std::string& text, std::string_view separator, std::string_view more) {
    if (!text.empty()) text.append(separator);
    text.append(more);
  };
  append(run.change, ", and ", change);
  append(run.cost, "; ", cost);
}

namespace {

/// The n-th divisor of `value` above 1, or 0: the small ones, and at last the value itself.
std::int64_t divisor(std::int64_t value, std::size_t n) {
  constexpr std::int64_t small = 256;
  for (std::int64_t d = 2; d <= std::min(value, small); ++d) {
    if (value % d == 0 && n-- == 0) return d;
  }
  return n == 0 && value > small ? value : 0;
}

/// Nothing accumulates where each weight is updated behind its gradient: then the batch itself is smaller.
bool smaller_micro_batch(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  const std::int64_t parts = divisor(training.micro_batch, step);
  if (parts == 0) return false;
  training.micro_batch /= parts;
  std::vector<spec::Word> terms{{"micro_batch", std::to_string(training.micro_batch)}};
  if (training.optimizer_in_backward || spec::updates_in_backward(training.optimizer)) {
    say(run, terms, "fewer sequences in each update", "more updates, each of a noisier gradient");
    return true;
  }
  training.grad_accum = quantity::product(training.grad_accum, parts);
  terms.push_back({"grad_accum", std::to_string(training.grad_accum)});
  say(run, terms, "the same global batch in more micro-batches",
      "time: smaller matrix products use the accelerator less well");
  return true;
}

/// Halves of the tokens, whole and not below what short answers need.
std::size_t shorter_sequences(const spec::Question& question, Larger) {
  constexpr std::int64_t shortest = 512;
  constexpr std::size_t most = 8;
  std::size_t count = 0;
  for (auto seq = question.training.seq; seq % 2 == 0 && seq / 2 >= shortest && count < most; seq /= 2) ++count;
  return count;
}

bool shorter_sequence(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  training.seq >>= step + 1;
  say(run, {{"seq", std::to_string(training.seq)}}, "shorter sequences", "context: longer samples are cut or split");
  return true;
}

/// As many as a micro-batch has divisors.
std::size_t smaller_micro_batches(const spec::Question& question, Larger) {
  std::size_t count = 0;
  while (divisor(question.training.micro_batch, count) != 0) ++count;
  return count;
}

bool smaller_moments(Changed& run, Larger, std::size_t) {
  auto& training = run.question.training;
  if (training.optimizer != spec::Optimizer::adamw) return false;
  training.optimizer = spec::Optimizer::adamw_8bit;
  training.precision.moments = formats::Dtype::int8;
  say(run, {{"optimizer", "adamw-8bit"}}, "optimizer states in 8 bits",
      "numerics: states quantized block by block (Dettmers et al. 2022, arXiv:2110.02861)");
  return true;
}

bool precomputed_reference(Changed& run, Larger, std::size_t) {
  auto& training = run.question.training;
  if (training.reference != spec::Reference::model || training.makes_samples()) return false;
  training.reference = spec::Reference::precomputed;
  say(run, {{"reference", "precomputed"}}, "log-probabilities of the reference are stored before training",
      "time: the reference runs over all data first (trl dpo_config.py, precompute_ref_log_probs)");
  return true;
}

/// Chunks of the head and its loss, where the framework has no kernel that is both.
bool chunked_loss(Changed& run) {
  run.question.training.loss = spec::Loss::chunked;
  say(run, {{"loss", "chunked"}}, "head and loss a chunk of positions at a time",
      "little: the same loss in several kernels (torchtune CEWithChunkedOutputLoss)");
  return true;
}

bool flash_attention(Changed& run, Larger, std::size_t) {
  run.question.training.attention = spec::AttentionKernel::flash;
  say(run, {{"attention", "flash"}}, "attention in one kernel that keeps no scores",
      "nothing: the same result, faster (Dao et al. 2022, arXiv:2205.14135)");
  return true;
}

bool fused_optimizer(Changed& run, Larger, std::size_t) {
  run.question.training.optimizer_impl = spec::OptimizerImpl::fused;
  say(run, {{"optimizer_impl", "fused"}}, "an optimizer step without a temporary for each parameter",
      "nothing: the same update in one kernel (torch.optim, fused=True)");
  return true;
}

bool smaller_loss(Changed& run, Larger, std::size_t) {
  auto& loss = run.question.training.loss;
  const auto& can = frameworks::row_of(run.question.training.framework).losses;
  if (run.question.layout.tp > 1 || loss == spec::Loss::fused_linear) return false;
  if (!can.has(spec::Loss::fused_linear)) {
    return can.has(spec::Loss::chunked) && loss != spec::Loss::chunked && chunked_loss(run);
  }
  loss = spec::Loss::fused_linear;
  say(run, {{"loss", "fused-linear"}}, "head and loss in one kernel that never holds all logits",
      "little: the same loss, made chunk by chunk (Liger-Kernel, arXiv:2410.10989)");
  return true;
}

/// Whether a way to recompute covers all that another one does, and more.
bool covers_more(const spec::Recompute& way, const spec::Recompute& than) {
  using enum spec::RecomputePolicy;
  if (way.policy == full) return than.policy != full || than.layers != spec::RecomputeLayers::all;
  const auto covers = [&](spec::RecomputeModule module) { return quantity::contains(way.modules, module); };
  const bool holds_more = !than.modules.empty() && way.modules.size() > than.modules.size();
  return than.policy == none || (holds_more && std::ranges::all_of(than.modules, covers));
}

/// Parts that somebody named belong to one way.
bool recompute(Changed& run, Larger, std::size_t step) {
  auto& recompute = run.question.training.recompute;
  const auto way = frameworks::ways_to_recompute(run.question).at(step + 1);
  const bool is_full = way.policy == spec::RecomputePolicy::full;
  const bool can_be_full =
      recompute.modules.empty() && recompute.kept.empty() && run.question.training.method != spec::Method::prefix;
  if (!covers_more(way, recompute) || (is_full && !can_be_full)) return false;
  recompute = way;
  if (is_full) {
    say(run, {{"recompute", "full"}}, "every layer computed again in the backward pass",
        "time: a second forward pass, a third more compute (Chen et al. 2016, arXiv:1604.06174)");
  } else if (way.modules.empty()) {
    say(run, {{"recompute", "selective"}}, "attention computed again in the backward pass",
        "time: 2 to 3 % more compute (Korthikanti et al. 2022, arXiv:2205.05198 section 5)");
  } else {
    const auto names = quantity::mapped(way.modules, spec::name_of<spec::RecomputeModule>);
    say(run, {{"recompute", "selective"}, {"recompute_modules", quantity::joined(names, ",")}},
        quantity::joined(names, " and ") + " computed again in the backward pass",
        "time: these parts run twice (Megatron-LM core/transformer/transformer_config.py, recompute_modules)");
  }
  return true;
}

/// As many as there are behind none, which is every trainer's first.
std::size_t recomputes(const spec::Question& question, Larger) {
  return frameworks::ways_to_recompute(question).size() - 1;
}

constexpr std::int64_t advised_rank = 16;

/// The base needs no master copy, and without adapters it is the reference. Their dropout is as the trainer starts
/// them, unless somebody said another.
void train_adapters(spec::Question& question, spec::Method method) {
  spec::Training& training = question.training;
  training.method = method;
  const auto* usual = frameworks::default_of(question, "lora_dropout");
  if (usual != nullptr && training.adapter.dropout == spec::Adapter().dropout) {
    std::string_view value = usual->value;
    training.adapter.dropout = quantity::take_number<double>(value).value_or(training.adapter.dropout);
  }
  if (training.reference == spec::Reference::model) training.reference = spec::Reference::base;
  training.adapter.rank = advised_rank;
  training.adapter.targets = {"all-linear"};
  auto& precision = training.precision;
  precision.grads = frameworks::adapters_rest_in(training);
  if (!formats::is_quantized(precision.moments)) precision.moments = precision.grads;
  precision.master = precision.grad_copy = false;
}

void name_adapter(std::vector<spec::Word>& terms) {
  terms.push_back({"lora_rank", std::to_string(advised_rank)});
  terms.push_back({"lora_targets", "all-linear"});
}

void name_reference(std::vector<spec::Word>& terms, const spec::Training& training) {
  if (training.reference == spec::Reference::base) terms.push_back({"reference", "base"});
}

/// Whether experts have such a projection.
bool reaches_experts(std::string_view target) {
  constexpr std::string_view of_experts[] = {"gate", "up", "down", "fc1", "fc2", "all-linear"};
  return quantity::contains(of_experts, target);
}

/// Norms, tables and head in the type of the products, and so all that flows between them.
bool narrow_beside(Changed& run) {
  auto& precision = run.question.training.precision;
  precision.unquantized.reset();
  precision.autocast = false;
  say(run, {{"dtype", "bf16"}}, "what is not quantized in 16 bits, and so what flows between the products",
      "norms and sums in bf16 (without peft's prepare_model_for_kbit_training, or loaded in bf16)");
  return true;
}

/// A frozen base in 16 bits, of trainers that load it in 32.
bool narrow_base(Changed& run, Larger, std::size_t) {
  auto& precision = run.question.training.precision;
  const bool adapts = spec::has_low_rank(run.question.training.method);
  if (!adapts || precision.compute != formats::Dtype::bf16) return false;
  if (precision.unquantized == formats::Dtype::fp32) return narrow_beside(run);
  if (precision.weights != formats::Dtype::fp32) return false;
  precision.weights = formats::Dtype::bf16;
  precision.autocast = false;
  say(run, {{"weights", "bf16"}}, "frozen weights as checkpoints are published, in 16 bits",
      "nothing: they are multiplied in 16 bits either way (peft autocast_adapter_dtype keeps adapters in 32)");
  return true;
}

/// Adapters beside attention alone, of a mixture whose every expert would have some.
bool attention_adapters(Changed& run, Larger, std::size_t) {
  auto& training = run.question.training;
  auto& targets = training.adapter.targets;
  if (!spec::has_low_rank(training.method) || std::ranges::none_of(targets, reaches_experts)) return false;
  targets = {"q", "k", "v", "o"};
  say(run, {{"lora_targets", "q,k,v,o"}}, "adapters beside attention, none in the experts",
      "another result: what experts know stays as it is (peft, target_modules)");
  return true;
}

bool adapters(Changed& run, Larger, std::size_t) {
  auto& training = run.question.training;
  if (training.method != spec::Method::full) return false;
  train_adapters(run.question, spec::Method::lora);
  std::vector<spec::Word> terms{{"method", "lora"}};
  name_adapter(terms);
  name_reference(terms, training);
  say(run, terms, "adapters are trained instead of the weights",
      "another result: low-rank updates learn less (Biderman et al. 2024, arXiv:2405.09673)");
  return true;
}

bool quantization(Changed& run, Larger, std::size_t) {
  auto& training = run.question.training;
  const bool can = training.method == spec::Method::full || training.method == spec::Method::lora;
  if (!can || formats::is_quantized(training.precision.weights)) return false;
  const bool had_adapters = training.method == spec::Method::lora;
  const spec::Adapter present = training.adapter;
  train_adapters(run.question, spec::Method::qlora);
  if (had_adapters) training.adapter = present;
  training.precision.weights = formats::Dtype::nf4_dq;
  std::vector<spec::Word> terms{{"method", "qlora"}, {"weights", "nf4-dq"}};
  if (std::exchange(training.precision.autocast, false)) terms.push_back({"dtype", "bf16"});
  if (!had_adapters) name_adapter(terms);
  name_reference(terms, training);
  say(run, terms, "adapters are trained beside weights in 4 bits",
      "another result, and 4-bit weights are off by their rounding (Dettmers et al. 2023, arXiv:2305.14314)");
  return true;
}

bool always(const spec::Question&) { return true; }

bool is_eager(const spec::Question& question) { return question.training.attention == spec::AttentionKernel::eager; }

bool updates_by_list(const spec::Question& question) {
  return question.training.optimizer_impl == spec::OptimizerImpl::foreach;
}

bool writes_checkpoints(const spec::Question& question) {
  return question.training.save_checkpoint != spec::SaveCheckpoint::none;
}

bool has_reference(const spec::Question& question) { return question.training.reference != spec::Reference::none; }

bool has_experts(const spec::Question& question) { return question.model.shape.moe.experts > 0; }

bool splits(const spec::Question& question, frameworks::Parallelism way) {
  return frameworks::row_of(question.training.framework).splits.has(way);
}

bool splits_models(const spec::Question& question) {
  return frameworks::row_of(question.training.framework).space.splits_models;
}

bool splits_experts(const spec::Question& question) {
  return splits_models(question) && has_experts(question) && splits(question, frameworks::Parallelism::experts);
}

/// The change to tensor parallelism does so by itself.
bool leaves_sequences_whole(const spec::Question& question) {
  const spec::Layout& layout = question.layout;
  return layout.tp > 1 && !layout.sp && splits(question, frameworks::Parallelism::sequence);
}

bool is_recurrent(const spec::LayerKind& kind) {
  return std::holds_alternative<spec::GatedDeltaNet>(kind.mixer) ||
         std::holds_alternative<spec::StateSpace>(kind.mixer);
}

/// "Long sequences (8K+ tokens)": Megatron Core's Parallelism Strategies Guide. Ranks that share one exchange what
/// attention reads, and few trainers pass the states of a recurrence on.
bool splits_contexts(const spec::Question& question) {
  constexpr std::int64_t shortest = 8192;
  return question.training.seq >= shortest && splits(question, frameworks::Parallelism::context) &&
         std::ranges::none_of(question.model.kinds, is_recurrent);
}

/// So many forms, where no change to a run makes or takes away what they ask for.
template <std::size_t n, bool (*has_some)(const spec::Question&) = always>
std::size_t steps(const spec::Question& question, Larger) {
  return has_some(question) ? n : 0;
}

constexpr Change rows[] = {
    {ChangeKind::kernel, steps<1, is_eager>, flash_attention},  // the same result and no slower
    {ChangeKind::optimizer_kernel, steps<1, updates_by_list>, fused_optimizer},
    {ChangeKind::loss, steps<1>, smaller_loss},
    {ChangeKind::checkpoint, steps<2, writes_checkpoints>, spread_checkpoint},
    {ChangeKind::base, steps<1>, narrow_base},  // as its checkpoint is published
    {ChangeKind::sequence_parallel, steps<1, leaves_sequences_whole>, sequence_parallel},
    {ChangeKind::sharding, steps<2>, shard_states},   // the same result and as much communication
    {ChangeKind::sharding, steps<3>, shard_weights},  // the same result, later
    {ChangeKind::recompute, recomputes, recompute},
    {ChangeKind::micro_batch, smaller_micro_batches, smaller_micro_batch},
    {ChangeKind::reference, steps<1, has_reference>, precomputed_reference},
    {ChangeKind::sequence, shorter_sequences, shorter_sequence},
    {ChangeKind::offload, offloads, offload},
    {ChangeKind::optimizer, steps<1>, smaller_moments},                  // nearly the same result
    {ChangeKind::context, steps<6, splits_contexts>, context_parallel},  // the same result, spread another way
    {ChangeKind::tensor, steps<4, splits_models>, tensor_parallel},
    {ChangeKind::pipeline, steps<4, splits_models>, pipeline},
    {ChangeKind::experts, steps<4, splits_experts>, expert_parallel},
    {ChangeKind::targets, steps<1, has_experts>, attention_adapters},
    {ChangeKind::method, steps<1>, adapters},  // another result
    {ChangeKind::method, steps<1>, quantization},
    {ChangeKind::sharding, doublings, more_accelerators, true},        // the same result for more money
    {ChangeKind::accelerator, larger_accelerators, next_accelerator},  // another machine, if it can be had
};

}  // namespace

std::span<const Change> all_changes() { return rows; }

bool leaves_states(ChangeKind kind) {
  constexpr ChangeKind kinds[] = {ChangeKind::kernel,     ChangeKind::optimizer_kernel, ChangeKind::loss,
                                  ChangeKind::checkpoint, ChangeKind::recompute,        ChangeKind::micro_batch,
                                  ChangeKind::sequence,   ChangeKind::accelerator};
  return quantity::contains(kinds, kind);
}

bool leaves_passes(ChangeKind kind) {
  constexpr ChangeKind kinds[] = {ChangeKind::optimizer_kernel, ChangeKind::checkpoint, ChangeKind::optimizer};
  return quantity::contains(kinds, kind);
}

}  // namespace llmcalc::search
