// How long a run is that is counted in samples, epochs or steps.
#include "answer/figures.hpp"
#include "asking.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"

using namespace llmcalc;

namespace {

const std::string run = "--model llama-3.2-1b --framework hf --method lora --gpu a100-80 --seq 2048 --micro-batch 4 ";

answer::Budget budget(const std::string& words) { return answer::token_budget(test::question(run + words), 0); }

double steps(const std::string& words) { return budget(words).steps(test::question(run + words).training); }

quantity::Seconds useful(const std::string& words) {
  return answer::estimate(test::question(run + words)).compute.useful;
}

}  // namespace

TEST_CASE("samples fill a sequence each, or share them where they are packed") {
  CHECK(steps("--samples 4000") == 1000);
  CHECK(steps("--samples 4000 --epochs 3") == 3000);
  CHECK(steps("--samples 4000 --sample-tokens 512") == 1000);
  CHECK(steps("--samples 4000 --sample-tokens 512 --packing 1") == 250);
  CHECK(in_tokens(budget("--samples 4000 --sample-tokens 512").tokens) == 4000 * 512);
  CHECK(in_tokens(budget("--samples 4000 --sample-tokens 9999").tokens) == 4000 * 2048);
  CHECK(steps("--steps 77") == 77);
}

TEST_CASE("a step of short samples takes less time than one of full sequences, and memory holds the longest") {
  const double share = useful("--samples 4000 --sample-tokens 512") / useful("--samples 4000");
  CHECK(share > 0.2);
  CHECK(share < 0.4);  // a quarter of the tokens, at a lower rate
  const auto as_short = answer::estimate(test::question(run + "--seq 512")).compute.step;
  CHECK(useful("--samples 4000 --sample-tokens 512") / as_short == Approx(1000));
  CHECK(useful("--samples 4000 --sample-tokens 512 --packing 1") / useful("--samples 4000") == Approx(0.25));
}

TEST_CASE("samples that end early take the steps of a run of sequences as long as they are, by whatever clock") {
  for (const std::string clock : {"", " --mfu 0.4", " --gpu a100-80:8 --sharding zero3"}) {
    for (const std::int64_t length : {1, 77, 512, 2047, 2048}) {
      const auto tokens = std::to_string(length);
      const auto samples = " --samples 4000" + clock;
      CAPTURE(clock, length);
      CHECK(useful("--sample-tokens " + tokens + samples) == useful("--seq " + tokens + samples));
    }
  }
}

TEST_CASE("what is said about samples needs their number, and only one says how much there is") {
  for (const std::string words : {"--epochs 3", "--packing 1", "--steps 5 --tokens 1B", "--steps 5 --samples 5"}) {
    CAPTURE(words);
    CHECK_THROWS_AS(test::question(run + words), quantity::BadInput);
  }
}

TEST_CASE("the length of samples without their number is about memory, and the time is of full sequences") {
  CHECK(steps("--sample-tokens 300") == 1000);
  CHECK(in_tokens(budget("--sample-tokens 300").tokens) == 1000 * 4 * 2048);
  CHECK(test::question(run + "--sample-tokens 300").pricing.data.sample_tokens == 300);
}
