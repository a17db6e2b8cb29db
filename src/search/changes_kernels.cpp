// Changes to kernels: the same result from operations that hold less at once.
#include "frameworks/table.hpp"
#include "search/inner/change_kinds.hpp"
#include "search/inner/changed_words.hpp"

namespace llmcalc::search {

namespace {

/// Chunks of the head and its loss, where the framework has no kernel that is both.
bool chunked_loss(Changed& run) {
  run.question.training.loss = spec::Loss::chunked;
  say(run, {{"loss", "chunked"}}, "head and loss a chunk of positions at a time",
      "little: the same loss in several kernels (torchtune CEWithChunkedOutputLoss)");
  return true;
}

}  // namespace

bool flash_attention(Changed& run, Larger, std::size_t step) {
  auto& kernel = run.question.training.attention;
  if (step > 0 || kernel != spec::AttentionKernel::eager) return false;
  kernel = spec::AttentionKernel::flash;
  say(run, {{"attention", "flash"}}, "attention in one kernel that keeps no scores",
      "nothing: the same result, faster (Dao et al. 2022, arXiv:2205.14135)");
  return true;
}

bool fused_optimizer(Changed& run, Larger, std::size_t step) {
  auto& training = run.question.training;
  if (step > 0 || training.optimizer_impl != spec::OptimizerImpl::foreach) return false;
  training.optimizer_impl = spec::OptimizerImpl::fused;
  say(run, {{"optimizer_impl", "fused"}}, "an optimizer step without a temporary for each parameter",
      "nothing: the same update in one kernel (torch.optim, fused=True)");
  return true;
}

bool smaller_loss(Changed& run, Larger, std::size_t step) {
  auto& loss = run.question.training.loss;
  const auto& can = frameworks::row_of(run.question.training.framework).abilities.losses;
  if (step > 0 || run.question.layout.tp > 1 || loss == spec::Loss::fused_linear) return false;
  if (!can.has(spec::Loss::fused_linear)) {
    return can.has(spec::Loss::chunked) && loss != spec::Loss::chunked && chunked_loss(run);
  }
  loss = spec::Loss::fused_linear;
  say(run, {{"loss", "fused-linear"}}, "head and loss in one kernel that never holds all logits",
      "little: the same loss, made chunk by chunk (Liger-Kernel, arXiv:2410.10989)");
  return true;
}

bool recompute(Changed& run, Larger, std::size_t step) {
  using spec::RecomputePolicy;
  auto& recompute = run.question.training.recompute;
  const bool covers_all = recompute.layers == spec::RecomputeLayers::all;
  if (step > 1 || (recompute.policy == RecomputePolicy::full && covers_all)) return false;
  const bool selective = step == 0;
  const bool can_be_full = recompute.modules.empty() && run.question.training.method != spec::Method::prefix;
  if (!selective && !can_be_full) return false;
  if (selective && recompute.policy != RecomputePolicy::none) return false;
  recompute = {};
  recompute.policy = selective ? RecomputePolicy::selective : RecomputePolicy::full;
  if (selective) {
    say(run, {{"recompute", "selective"}}, "attention computed again in the backward pass",
        "time: 2 to 3 % more compute (Korthikanti et al. 2022, arXiv:2205.05198 section 5)");
  } else {
    say(run, {{"recompute", "full"}}, "every layer computed again in the backward pass",
        "time: a second forward pass, a third more compute (Chen et al. 2016, arXiv:1604.06174)");
  }
  return true;
}

}  // namespace llmcalc::search
