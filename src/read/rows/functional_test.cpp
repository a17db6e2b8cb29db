// What Megatron-LM's own functional tests run where a row of their measurements does not say.

#include "read/words/completion.hpp"

namespace llmcalc::read {

namespace {

bool is_functional_test(Draft& draft) {
  return draft.training().framework == spec::Framework::megatron &&
         draft.training().framework_version.find("golden values") != std::string::npos;
}

/// The deterministic mode refuses fused losses (training/arguments.py: "Cross Entropy Fusion is currently not
/// deterministic"). Of 566 measured values of the tests (tests/functional_tests/test_cases, revision d98e8a64dd) 443 of
/// 498 with dropout ran in it and none of 68 without.
bool repeats_exactly(Draft& draft) {
  const auto loss = draft.training().loss;
  const bool fused = loss == spec::Loss::vocab_parallel_fused || loss == spec::Loss::te_fused;
  return draft.shape().dropout > 0.0 && !fused;
}

}  // namespace

/// Routers with one choice are those of the older tests, 51 of 62 of which have no --moe-grouped-gemm; all tests of GPT
/// in fp16 have Megatron-LM's own layers (--transformer-impl local).
void complete_functional_test(Draft& draft) {
  if (!is_functional_test(draft)) return;
  spec::Training& training = draft.training();
  constexpr std::string_view rule = "Megatron-LM's functional tests";
  if (!draft.given("deterministic")) {
    training.deterministic = repeats_exactly(draft);
    draft.assume("deterministic", rule, *training.deterministic ? "--deterministic 1" : "--deterministic 0");
  }
  const auto& experts = draft.shape().moe;
  if (!draft.given("grouped_experts") && experts.experts > 0 && experts.top_k == 1) {
    training.grouped_experts = false;
    draft.assume("grouped_experts", rule, "--grouped-experts 0");
  }
  const bool bert = draft.shape().token_types > 0;
  if (!draft.given("transformer_impl") && training.precision.weights == formats::Dtype::fp16 && !bert) {
    training.transformer_impl = spec::TransformerImpl::local;
    draft.assume("transformer_impl", rule, "--transformer-impl local");
  }
}

}  // namespace llmcalc::read
