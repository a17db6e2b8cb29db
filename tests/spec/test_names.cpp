#include "catch.hpp"
#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/spec/layout.hpp"
#include "llmcalc/spec/shape.hpp"
#include "llmcalc/spec/training.hpp"
#include "spec/measurement.hpp"
#include "spec/names.hpp"

#include <set>
#include <string>

using namespace llmcalc::spec;
using llmcalc::formats::all_dtypes;
using llmcalc::formats::Dtype;

namespace {

/// Checks that every value up to `last` has a name, that the name leads back to it, and that no word is there twice.
template <class E>
void check_vocabulary(E last) {
  std::set<std::string_view> seen;
  for (const auto& word : vocabulary<E>()) {
    CAPTURE(word.name);
    CHECK(seen.insert(word.name).second);
    CHECK(find_name<E>(word.name)->value == word.value);
  }
  for (int i = 0; i <= static_cast<int>(last); ++i) {
    const auto value = static_cast<E>(i);
    const auto named = [&](const auto& word) { return word.value == value; };
    CAPTURE(i);
    REQUIRE(std::ranges::any_of(vocabulary<E>(), named));
    CHECK(find_name<E>(name_of(value))->value == value);
  }
}

/// Checks that the words are known and that each is the first of its value.
template <class E>
void check_canonical(std::initializer_list<const char*> words) {
  for (const auto* word : words) {
    CAPTURE(word);
    const auto* found = find_name<E>(word);
    REQUIRE(found != nullptr);
    CHECK(name_of(found->value) == word);
  }
}

}  // namespace

TEST_CASE("Every value of every vocabulary has a word that leads back to it", "[names]") {
  check_vocabulary(Dtype::nvfp4);
  check_vocabulary(Stack::encoder_decoder);
  check_vocabulary(Mlp::geglu);
  check_vocabulary(Norm::nonparametric);
  check_vocabulary(Position::none);
  check_vocabulary(QkNorm::full_width);
  check_vocabulary(Framework::liger);
  check_vocabulary(Method::forward_only);
  check_vocabulary(Algorithm::grpo);
  check_vocabulary(Reference::precomputed);
  check_vocabulary(Optimizer::none);
  check_vocabulary(OptimizerImpl::loop);
  check_vocabulary(RecomputePolicy::full);
  check_vocabulary(RecomputeLayers::block);
  check_vocabulary(RecomputeModule::mla_up_proj);
  check_vocabulary(KeptResult::down);
  check_vocabulary(AttentionKernel::eager);
  check_vocabulary(Loss::te_fused);
  check_vocabulary(Offload::activations);
  check_vocabulary(ActivationModel::rule_of_thumb);
  check_vocabulary(Sharding::hsdp);
  check_vocabulary(Measure::tokens_per_gpu);
  check_vocabulary(Step::first);
}

TEST_CASE("The words of the measured-run schema are the canonical ones", "[names]") {
  check_canonical<Dtype>(
      {"fp32", "bf16", "fp16", "nf4", "nf4-dq", "int4-gptq", "int8-gptq", "int8", "mxfp8", "nvfp4", "int4"});
  check_canonical<Mlp>({"gelu", "relu", "squared-relu", "swiglu", "geglu"});
  check_canonical<Norm>({"layernorm", "rmsnorm"});
  check_canonical<Position>({"learned", "rope", "alibi", "relative", "none"});
  check_canonical<Framework>({"hf",         "litgpt",   "torchtune",
                              "torchtitan", "torch",    "fsdp-qlora",
                              "composer",   "megatron", "megatron-deepspeed",
                              "deepspeed",  "nemo",     "internevo",
                              "colossalai", "ms-swift", "axolotl",
                              "unsloth",    "pax",      "maxtext",
                              "llm.c",      "fms-fsdp", "liger"});
  check_canonical<Method>({"full", "lora", "qlora", "dora", "adalora", "ia3", "prompt", "prefix", "adapter", "galore",
                           "inference", "forward-only"});
  check_canonical<Optimizer>({"adamw", "adamw-8bit", "adamw-4bit", "paged-adamw", "paged-adamw-8bit", "sgd", "muon",
                              "adafactor", "lion", "galore-adamw-8bit", "none"});
  check_canonical<OptimizerImpl>({"foreach", "fused", "loop"});
  check_canonical<AttentionKernel>({"flash", "sdpa", "eager"});
  check_canonical<Loss>({"standard", "fused", "fused-linear", "chunked", "compiled", "vocab-parallel",
                         "vocab-parallel-fused", "te-fused"});
  check_canonical<Offload>({"none", "optimizer", "params", "params+optimizer", "activations"});
  check_canonical<Sharding>({"none", "ddp", "zero1", "zero2", "zero3", "fsdp1", "fsdp2", "hsdp"});
}

TEST_CASE("Other spellings lead to the same value, ambiguous ones nowhere", "[names]") {
  CHECK(find_name<Dtype>("half")->value == Dtype::fp16);
  CHECK(find_name<Dtype>("fp8")->value == Dtype::fp8_e4m3);
  CHECK(find_name<Optimizer>("paged_adamw_8bit")->value == Optimizer::paged_adamw_8bit);
  CHECK(find_name<Sharding>("zero-3")->value == Sharding::zero3);
  CHECK(find_name<Sharding>("fsdp") == nullptr);
  CHECK(find_name<Dtype>("") == nullptr);
}

TEST_CASE("The names of number formats are those of their facts", "[names]") {
  for (const auto& facts : all_dtypes()) CHECK(name_of(facts.dtype) == facts.name);
}
