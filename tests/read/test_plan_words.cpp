// Words with several values: choices of a search, or runs to compare.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/resolve.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

using Pairs = std::vector<std::pair<std::string, std::string>>;

read::PlanWords plan(Pairs words) {
  std::vector<read::Given> given;
  for (const auto& [term, text] : words) given.push_back({term, text, {read::Source::flag, "--" + term}});
  return read::resolve_plan(given, std::nullopt, read::Catalogue());
}

Pairs with(const Pairs& more) {
  Pairs words{{"model", "llama-3-8b"}, {"gpu", "h100-sxm:8"}, {"global_batch", "64"}};
  words.insert(words.end(), more.begin(), more.end());
  return words;
}

}  // namespace

TEST_CASE("terms of a layout become choices, and the run is left without a layout") {
  const auto words = plan(with({{"tp", "1,2,4"}, {"zero", "1,3"}, {"recompute", "none,full"}, {"sp", "0"}}));
  CHECK(words.choices.tp == std::vector<std::int64_t>{1, 2, 4});
  CHECK(words.choices.sharding == std::vector{spec::Sharding::zero1, spec::Sharding::zero3});
  CHECK(words.choices.recompute.at(1).policy == spec::RecomputePolicy::full);
  CHECK(words.choices.sp == std::vector{false});
  CHECK(words.choices.pp.empty());
  REQUIRE(words.bases.size() == 1);
  const auto& question = words.bases[0].resolved.question;
  CHECK(question.layout.tp == 1);
  CHECK(question.layout.gpus == 8);
  CHECK(question.training.global_batch == 64);
  CHECK(words.counts_accelerators);
}

TEST_CASE("lists of other terms make one run each") {
  const auto words = plan(with({{"seq", "4k,8k"}, {"dtype", "bf16,mixed-bf16"}, {"framework", "generic"}}));
  REQUIRE(words.bases.size() == 4);
  CHECK(words.bases[0].resolved.question.training.seq == 4096);
  CHECK(words.bases[3].resolved.question.training.seq == 8192);
  CHECK(words.bases[3].resolved.question.training.precision.master !=
        words.bases[2].resolved.question.training.precision.master);
  REQUIRE(words.bases[3].varied.size() == 2);
  CHECK(words.bases[3].varied[1].text == "mixed-bf16");
}

TEST_CASE("who runs a plan is who can, most common first") {
  const auto framework = [](const std::vector<std::pair<std::string, std::string>>& more) {
    return plan(with(more)).bases.at(0).resolved.question.training.framework;
  };
  using spec::Framework;
  CHECK(framework({}) == Framework::megatron);
  CHECK(framework({{"optimizer", "lomo"}}) != Framework::megatron);
  CHECK(framework({{"method", "qlora"}}) == Framework::trl);
  CHECK(framework({{"framework", "generic"}}) == Framework::generic);
  const auto one = plan({{"model", "llama-3-8b"}, {"gpu", "rtx-4090"}});
  CHECK(one.bases.at(0).resolved.question.training.framework == Framework::accelerate);
  const auto size = plan({{"params", "7e9"}, {"gpu", "h100-sxm:8"}});
  CHECK(size.bases.at(0).resolved.question.training.framework == Framework::generic);
}

TEST_CASE("any accelerator is each that can multiply in 16 bits or fp32") {
  const auto words = plan({{"model", "llama-3-8b"}, {"gpu", "any"}, {"global_batch", "64"}});
  CHECK(words.bases.size() > 30);
  CHECK_FALSE(words.counts_accelerators);
  CHECK(std::ranges::all_of(words.bases, [](const auto& base) {
    const auto& peaks = base.resolved.question.gpu->peaks;
    return peaks.bf16 || peaks.fp16 || peaks.fp32;
  }));
}

TEST_CASE("a plan says what it needs and what it finds itself") {
  const auto batch_of = [](const Pairs& words) {
    return plan(words).bases.front().resolved.question.training.global_batch;
  };
  CHECK(batch_of({{"model", "llama-3-8b"}, {"gpu", "h100-sxm:8"}}) == 1024);  // of 4,096 tokens, as Llama 2's
  CHECK(batch_of({{"model", "llama-3-8b"}, {"gpu", "rtx-4090"}, {"method", "lora"}, {"framework", "trl"}}) == 8);
  CHECK_THROWS_WITH(plan(with({{"grad_accum", "8"}})), Contains("leave it out"));
  CHECK_THROWS_WITH(plan(with({{"rank", "first"}})), Contains("worst rank"));
  CHECK_THROWS_WITH(plan(with({{"tp", "2,two"}})), Contains("--tp"));
  std::string many = "1";
  for (int i = 2; i <= 200; ++i) many += "," + std::to_string(i);
  CHECK_THROWS_WITH(plan({{"model", "llama-3-8b"}, {"gpu", "h100-sxm"}, {"gpus", many}, {"global_batch", many}}),
                    Contains("10,000"));
}

TEST_CASE("a plan of transformers' trainers under ZeRO has DeepSpeed's states, and no others beside them") {
  const auto base = [](const Pairs& words) {
    return plan(with(words)).bases.at(0).resolved.question.training.precision;
  };
  for (const std::string stage : {"1", "2", "3"}) {
    const auto precision = base({{"framework", "hf"}, {"method", "full"}, {"zero", stage}});
    CHECK(precision.master);
    CHECK(precision.moments == formats::Dtype::fp32);
  }
  CHECK_FALSE(base({{"framework", "hf"}, {"method", "full"}, {"sharding", "ddp,fsdp2"}}).master);
  CHECK_FALSE(base({{"framework", "hf"}, {"method", "full"}, {"zero", "2"}, {"master_weights", "0"}}).master);
  CHECK_THROWS_WITH(plan(with({{"framework", "hf"}, {"method", "full"}, {"sharding", "fsdp2,zero3"}})),
                    Contains("--framework deepspeed"));
}
