// Which figure of an estimate a measurement is held against.
#include "answer/figures.hpp"
#include "catch.hpp"

using namespace llmcalc;
using answer::error_bar;
using answer::predicted;
using quantity::bytes;
using spec::Measure;
using spec::Step;
using trust::Spread;

TEST_CASE("a prediction is compared at the level and in the step that were measured") {
  answer::Estimate estimate;
  estimate.memory.persistent = bytes(1);
  estimate.memory.peak_first_step = bytes(2);
  estimate.memory.peak_allocated = bytes(3);
  estimate.memory.peak_reserved = bytes(4);
  estimate.memory.peak_device = bytes(5);
  CHECK(predicted(estimate, Measure::persistent, Step::steady) == 1.0);
  CHECK(predicted(estimate, Measure::peak_allocated, Step::first) == 2.0);
  CHECK(predicted(estimate, Measure::peak_allocated, Step::steady) == 3.0);
  CHECK(predicted(estimate, Measure::peak_reserved, Step::steady) == 4.0);
  CHECK(predicted(estimate, Measure::nvidia_smi, Step::steady) == 5.0);
  for (const auto measure : {Measure::fits, Measure::oom, Measure::step_time, Measure::tokens_per_gpu}) {
    CHECK_FALSE(predicted(estimate, measure, Step::steady));
  }
}

TEST_CASE("a time is compared where an accelerator is known") {
  answer::Estimate estimate;
  estimate.timed = true;
  estimate.compute.step = quantity::seconds(6);
  estimate.compute.tokens_per_gpu = 7;
  CHECK(predicted(estimate, Measure::step_time, Step::steady) == 6.0);
  CHECK(predicted(estimate, Measure::tokens_per_gpu, Step::steady) == 7.0);
}

TEST_CASE("what the driver and the allocator show has an error bar of its own") {
  answer::Estimate estimate;
  estimate.verdict.error = {0.01, 0.02};
  estimate.verdict.reserved = {0.3, 0.4};
  estimate.verdict.shown = {0.2, 0.3};
  estimate.compute.error = {0.1, 0.32};
  CHECK(error_bar(estimate, Measure::peak_allocated) == Spread{0.01, 0.02});
  CHECK(error_bar(estimate, Measure::persistent) == Spread{0.01, 0.02});
  CHECK(error_bar(estimate, Measure::peak_reserved) == Spread{0.3, 0.4});
  CHECK(error_bar(estimate, Measure::nvidia_smi) == Spread{0.2, 0.3});
  CHECK(error_bar(estimate, Measure::step_time) == Spread{0.1, 0.32});
  const Spread tokens = error_bar(estimate, Measure::tokens_per_gpu);
  CHECK(tokens.below == Approx(1.0 - 0.9 / 1.2));
  CHECK(tokens.above == 0.1);
}
