// What a search leaves out rests on laws of the prices that it composes.
#include "catch.hpp"
#include "program/build.hpp"
#include "read/presets.hpp"
#include "timing/step_time.hpp"

#include <numeric>

using namespace llmcalc;
using quantity::in_seconds;

// A search takes what one micro-batch takes for the least that longer ones do: larger tensors are not moved faster, nor
// larger products made.
TEST_CASE("more sequences at once take no less time of any model") {
  const read::Catalogue catalogue;
  program::Program program;
  for (const auto& preset : catalogue.models()) {
    for (const auto* gpu : {"h100-sxm", "rtx-4090"}) {
      spec::Question q;
      q.model = spec::build_model(preset.shape);
      q.gpu = catalogue.accelerator(gpu, "test").accelerator;
      q.layout.gpus = q.layout.dp = 16;
      q.layout.nodes = 2;
      q.layout.ep = preset.shape.moe.experts > 0 ? std::gcd(preset.shape.moe.experts, q.layout.gpus) : 1;
      q.training.seq = 1024;
      const auto profile = frameworks::make_profile(q.training, q.gpu);
      const timing::KernelPrices kernels(*q.gpu, q.training, profile);
      const timing::Network network(*q.gpu, q.layout);
      timing::Passes before;
      for (const std::int64_t sequences : {1, 2, 3, 4, 5, 7, 8, 12, 16, 64, 120}) {
        CAPTURE(preset.id, gpu, sequences);
        q.training.micro_batch = sequences;
        program::build_program(q, profile, program);
        const auto times = timing::time_blocks(program, {kernels, network, q.training.precision.compute});
        const auto now = timing::sum_of(program.sequence, times);
        CHECK(in_seconds(timing::least_time(now, {})) >= in_seconds(timing::least_time(before, {})) * (1 - 1e-12));
        CHECK(in_seconds(now.forward.expert) >= in_seconds(before.forward.expert));
        const timing::Hides all{true, true, false};
        CHECK(in_seconds(timing::least_time(now, all)) >= in_seconds(timing::least_time(before, all)) * (1 - 1e-12));
        before = now;
      }
    }
  }
}
