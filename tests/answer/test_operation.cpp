// From steps to days, GPU-hours, money, energy and carbon.
#include "answer/figures.hpp"
#include "asking.hpp"
#include "catch.hpp"

#include <algorithm>
#include <cmath>

using namespace llmcalc;
using quantity::in_hours;
using quantity::in_seconds;
using test::question;

namespace {

answer::TimeAnswer asked(const std::string& line) { return answer::estimate(question(line)).compute; }

const std::string one_gpu = "--model gpt2 --dtype bf16 --gpu a100-80";
const std::string llama =
    "--model llama-3.1-405b --framework megatron --gpu h100-sxm:16384 --tp 8 --pp 16 --zero 1 --tokens 15.6T";

}  // namespace

TEST_CASE("a run of hours on one accelerator is not stretched") {
  const auto time = asked(one_gpu);
  REQUIRE(time.goodput.has_value());
  CHECK(time.goodput->share > 0.999);
  CHECK_FALSE(time.goodput->stated);
  CHECK(time.total / time.useful == Approx(1.0 / time.goodput->share));
}

TEST_CASE("Llama 3 405B is interrupted every three hours and useful for more than nine tenths of the time") {
  const auto time = asked(llama + " --checkpoint-bandwidth 2TB/s");  // Grattafiori et al. 2024, section 3.3.1
  CHECK(in_hours(time.goodput->mtbf) == Approx(3.09).margin(0.01));
  CHECK(quantity::in_gigabytes(time.goodput->checkpoint) == Approx(14 * 405.85).epsilon(1e-3));
  CHECK(time.goodput->share > 0.90);
  CHECK(time.goodput->failures == Approx(time.total / time.goodput->mtbf));
  CHECK(time.gpu_hours == Approx(16'384 * in_hours(time.total)));
}

TEST_CASE("everything about failures and checkpoints can be said") {
  const auto time =
      asked(llama + " --mtbf 16384 --checkpoint-interval 30min --checkpoint-bandwidth 100GB/s --restart-time 5min");
  CHECK(in_hours(time.goodput->mtbf) == Approx(1.0));
  CHECK(in_seconds(time.goodput->interval) == Approx(1800));
  CHECK(in_seconds(time.goodput->save) == Approx(14 * 4.0585));
  CHECK(in_seconds(time.goodput->restart) == Approx(300));
  CHECK(time.goodput->stated);
  CHECK(asked(llama + " --mtbf none").goodput->share == 1.0);
}

TEST_CASE("nobody saves more often than once a step, or after the run") {
  const auto fast = asked(llama + " --checkpoint-bandwidth 1e9GB/s");
  CHECK(fast.goodput->interval == fast.step);
  const auto sparse = asked(one_gpu + " --checkpoint-interval 1000 days");
  CHECK(sparse.goodput->interval == sparse.useful);
}

TEST_CASE("a run that cannot outrun its failures has no length, no cost and a warning") {
  const auto estimate = answer::estimate(question(llama + " --mtbf 1"));
  CHECK(std::isinf(in_seconds(estimate.compute.total)));
  CHECK_FALSE(estimate.compute.cost.has_value());
  CHECK_FALSE(estimate.compute.footprint.has_value());
  CHECK(std::ranges::any_of(estimate.warnings,
                            [](const std::string& w) { return w.find("never finishes") != std::string::npos; }));
}

TEST_CASE("where a run grows with its steps, as many longer steps never end sooner") {
  answer::WallClock clock;
  clock.restart = quantity::seconds(300.0);
  clock.save = quantity::seconds(40.0);
  clock.interval = quantity::seconds(1200.0);
  int ending = 0;
  for (const double hours : {0.01, 0.1, 0.2, 0.5, 1.0, 10.0, 1e4}) {
    clock.mtbf = quantity::seconds(3600.0 * hours);
    clock.long_run_ends = clock.share(clock.interval, quantity::seconds(1e12)) > 0.0;
    ending += clock.long_run_ends ? 1 : 0;
    for (const double steps : {1.0, 100.0, 1e5, 1e8}) {
      double before = 0.0;
      for (double step = 0.5; clock.grows_with_steps() && step < 5000.0; step *= 1.7) {
        const auto useful = quantity::seconds(step * steps);
        const double wall = in_seconds(useful) / clock.share(quantity::seconds(step), useful);  // infinite: no end
        CHECK(wall >= before);
        before = wall;
      }
    }
  }
  CHECK(ending == 6);  // all but a failure every 36 seconds
}

TEST_CASE("what trains nothing saves nothing") {
  const auto time = asked(one_gpu + " --method inference");
  CHECK_FALSE(time.goodput.has_value());
  CHECK(time.total == time.useful);
}

TEST_CASE("money and energy follow the GPU-hours of wall time") {
  const auto time = asked(llama + " --price 2 --power 700W --pue 1 --carbon-intensity 413.6");
  CHECK(quantity::in_dollars(time.cost.value()) == Approx(2.0 * time.gpu_hours));
  // Llama 3.1 model card: 30.84M hours at 700 W are 8,930 t
  const double hours_over_published = time.gpu_hours / 30.84e6;
  REQUIRE(time.footprint.has_value());
  CHECK(quantity::in_kilowatt_hours(time.footprint->energy) == Approx(0.7 * time.gpu_hours));
  CHECK(quantity::in_kilograms(time.footprint->carbon) / 8'930e3 == Approx(hours_over_published).epsilon(1e-3));
}

TEST_CASE("every default of a footprint can be replaced by itself") {
  const auto base = asked(one_gpu).footprint.value();
  CHECK(base.pue == 1.1);
  CHECK(asked(one_gpu + " --carbon-intensity world").footprint->carbon == base.carbon);
  CHECK(asked(one_gpu + " --pue 1.1").footprint->energy == base.energy);
  CHECK(quantity::in_watts(base.power) > 400.0);  // the accelerator's rating; its server draws more
  CHECK(asked("--model gpt2 --dtype bf16 --gpu trainium1").footprint.has_value() == false);
}
