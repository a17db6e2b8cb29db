// What leaves for the host crosses in both passes, each of which hides as much as it takes itself.
#include "catch.hpp"
#include "timing/inner/pipeline.hpp"
#include "timing/kernel_prices.hpp"
#include "timing/steps.hpp"

#include <algorithm>
#include <string>

using namespace llmcalc;
using quantity::in_seconds;
using quantity::seconds;

namespace {

timing::StageTime stage(double forward, double backward, double recompute = 0) {
  timing::StageTime time;
  time.forward.products = seconds(forward);
  time.backward.products = seconds(backward);
  time.recompute.products = seconds(recompute);
  return time;
}

}  // namespace

TEST_CASE("streaming waits in each pass for what the pass does not hide") {
  const test::Prices run("h100-sxm");
  timing::WeightTraffic weights;
  weights.weights = quantity::gib(3);
  const auto saved = quantity::gib(1);
  for (const bool of_weights : {false, true}) {
    for (const bool of_activations : {false, true}) {
      program::Offloaded offload;
      offload.weights = of_weights;
      offload.activations = of_activations;
      const auto waits = [&](const timing::StageTime& time) {
        return in_seconds(timing::streaming(offload, run.question, weights, saved, time));
      };
      const double once = waits(stage(0, 0)) / 2;
      CHECK((once > 0) == (of_weights || of_activations));
      for (const double forward : {0.0, 0.25, 0.9, 1.5}) {
        for (const double backward : {0.0, 0.5, 1.2}) {
          const double hidden = std::max(0.0, 1 - forward) + std::max(0.0, 1 - backward);
          CHECK(waits(stage(forward * once, backward * once)) == Approx(once * hidden).margin(1e-12));
          CHECK(waits(stage(forward * once, backward * once / 2, backward * once / 2)) ==
                Approx(once * hidden).margin(1e-12));
        }
      }
    }
  }
}

TEST_CASE("weights that rest on drives come no faster than the drives are") {
  const auto waits = [](const char* rate) {
    return in_seconds(
        test::step_of(
            std::string("--model llama-3-8b --framework deepspeed --zero 3 --gpu h100-sxm:8 --seq 512 --offload params "
                        "--offload-to nvme --nvme-bandwidth ") +
            rate)
            .offload);
  };
  constexpr double weights = 2 * 8.03e9;  // of the node, read in either pass
  CHECK(waits("0.1GB/s") == Approx(2 * weights / 0.1e9).epsilon(0.05));
  CHECK(waits("0.2GB/s") == Approx(2 * weights / 0.2e9).epsilon(0.05));
}
