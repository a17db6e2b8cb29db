// What a search leaves out rests on laws of the prices that it composes.
#include "catch.hpp"
#include "frameworks/layout_rules.hpp"
#include "program/build.hpp"
#include "read/presets.hpp"
#include "timing/step_time.hpp"

#include <numeric>

using namespace llmcalc;
using quantity::in_seconds;

namespace {

spec::Question spread_over_two_nodes(const read::ModelPreset& preset, const spec::Accelerator& gpu) {
  spec::Question q;
  q.model = spec::build_model(preset.shape);
  q.gpu = gpu;
  q.layout.gpus = q.layout.dp = 16;
  q.layout.nodes = 2;
  q.layout.ep = preset.shape.moe.experts > 0 ? std::gcd(preset.shape.moe.experts, q.layout.gpus) : 1;
  q.training.seq = 1024;
  return q;
}

timing::Passes passes_of(std::int64_t sequences, spec::Question& q, const timing::KernelPrices& kernels) {
  q.training.micro_batch = sequences;
  const auto program = program::build_program(q, frameworks::make_profile(q.training, q.gpu));
  const timing::Network network(*q.gpu, q.layout);
  return timing::sum_of(program.sequence,
                        timing::time_blocks(program, {kernels, network, q.training.precision.compute}));
}

}  // namespace

// A search takes what one micro-batch takes for the least that longer ones do: larger tensors are not moved faster, nor
// larger products made.
TEST_CASE("more sequences at once take no less time of any model") {
  const read::Catalogue catalogue;
  for (const auto& preset : catalogue.models()) {
    for (const auto* gpu : {"h100-sxm", "rtx-4090"}) {
      spec::Question q = spread_over_two_nodes(preset, catalogue.accelerator(gpu, "test").accelerator);
      const timing::KernelPrices kernels(*q.gpu, q.training, frameworks::make_profile(q.training, q.gpu));
      timing::Passes before;
      for (const std::int64_t sequences : {1, 2, 3, 4, 5, 7, 8, 12, 16, 64, 120}) {
        CAPTURE(preset.id, gpu, sequences);
        const auto now = passes_of(sequences, q, kernels);
        CHECK(in_seconds(timing::least_time(now, {})) >= in_seconds(timing::least_time(before, {})) * (1 - 1e-12));
        CHECK(in_seconds(now.forward.expert) >= in_seconds(before.forward.expert));
        const timing::Hides all{true, true, false};
        CHECK(in_seconds(timing::least_time(now, all)) >= in_seconds(timing::least_time(before, all)) * (1 - 1e-12));
        before = now;
      }
    }
  }
}

// A search takes what a sequence takes in the longest micro-batch for the least that it does in any: units are filled,
// and starts are shared. Whole tiles of experts and chunks of scans are uneven by a thousandth.
TEST_CASE("a sequence takes no less time in a shorter micro-batch of any model") {
  constexpr std::int64_t longest = 15'360;
  const read::Catalogue catalogue;
  for (const auto& preset : catalogue.models()) {
    for (const auto* gpu : {"h100-sxm", "b200-sxm", "rtx-4090"}) {
      for (const std::int64_t ranks : {1, 4, 16}) {
        spec::Question q = spread_over_two_nodes(preset, catalogue.accelerator(gpu, "test").accelerator);
        q.layout.tp = q.layout.cp = ranks == 16 ? 4 : ranks == 4 ? 2 : 1;
        q.layout.dp = q.layout.gpus / ranks;
        if (frameworks::broken_rule({q.model.shape, q.training, q.layout}) != nullptr) continue;
        const timing::KernelPrices kernels(*q.gpu, q.training, frameworks::make_profile(q.training, q.gpu));
        const auto least = passes_of(longest, q, kernels.without_edges());
        for (const std::int64_t sequences : {1, 2, 3, 5, 8, 16, 64, 256}) {
          CAPTURE(preset.id, gpu, ranks, sequences);
          const auto now = passes_of(sequences, q, kernels);
          const double share = static_cast<double>(sequences) / static_cast<double>(longest);
          for (const timing::Hides hides : {timing::Hides{}, timing::Hides{true, true, false}}) {
            CHECK(in_seconds(timing::least_time(now, hides)) >=
                  0.99 * share * in_seconds(timing::least_time(least, hides)));
          }
        }
      }
    }
  }
}
