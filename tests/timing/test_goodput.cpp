// Against the figures that Young, Daly, Llama 3 and BLOOM published, and against a run that is simulated failure by
// failure.
#include "../memory/asked.hpp"
#include "catch.hpp"
#include "timing/goodput.hpp"

#include <cmath>
#include <limits>
#include <random>

using namespace llmcalc;
using quantity::hours;
using quantity::in_hours;
using quantity::in_seconds;
using quantity::Seconds;
using quantity::seconds;

namespace {

constexpr Seconds minutes(double n) { return seconds(60.0 * n); }
const Seconds never = seconds(std::numeric_limits<double>::infinity());

double bytes_per_parameter(const std::string& line) {
  const test::Asked asked(line);
  const auto size = timing::checkpoint_size(asked.program, asked.question.training);
  return static_cast<double>(quantity::in_bytes(size)) / static_cast<double>(asked.parameters());
}

/// Wall time of a run whose failures are drawn one by one: segments of training and saving that must pass whole, and
/// restarts that may fail in turn.
Seconds simulated(Seconds useful, Seconds interval, Seconds save, Seconds mtbf, Seconds restart) {
  std::mt19937_64 random(2006);
  std::exponential_distribution<double> until_failure(1.0 / in_seconds(mtbf));
  double wall = 0.0;
  const auto passes = [&](Seconds part) {
    const double failure = until_failure(random);
    wall += std::min(failure, in_seconds(part));
    return failure >= in_seconds(part);
  };
  for (Seconds done; done < useful; done += interval) {
    while (!passes(interval + save)) {
      while (!passes(restart)) continue;
    }
  }
  return seconds(wall);
}

}  // namespace

TEST_CASE("the best interval is the one that Daly prints") {
  // Daly 2006, figures 3 to 5: dump time 5 min; 117, 57 and 9.1 min
  CHECK(in_seconds(timing::best_interval(minutes(5), hours(24))) / 60.0 == Approx(117).margin(0.5));
  CHECK(in_seconds(timing::best_interval(minutes(5), hours(6))) / 60.0 == Approx(57).margin(0.5));
  CHECK(in_seconds(timing::best_interval(minutes(5), minutes(15))) / 60.0 == Approx(9.1).margin(0.05));
}

TEST_CASE("the best interval tends to Young's for short saves and is the time between failures for long ones") {
  // Young 1974: a save of 60 s and 3 h between failures: sqrt(2 x 60 x 10800) = 1138 s
  CHECK(in_seconds(timing::best_interval(seconds(60), hours(3))) == Approx(1138).epsilon(0.04));
  CHECK(in_seconds(timing::best_interval(seconds(0.001), hours(3))) ==
        Approx(std::sqrt(2 * 0.001 * 10800)).epsilon(1e-3));
  CHECK(timing::best_interval(minutes(30), minutes(15)) == minutes(15));
  CHECK(std::isinf(in_seconds(timing::best_interval(seconds(60), never))));
}

TEST_CASE("no other interval has more goodput than the best one") {
  for (const double mtbf : {0.5, 3.0, 24.0, 1000.0}) {
    const auto best = timing::best_interval(minutes(1), hours(mtbf));
    const double most = timing::goodput(best, minutes(1), hours(mtbf), minutes(10));
    for (const double factor : {0.5, 0.8, 1.25, 2.0}) {
      CHECK(most > timing::goodput(factor * best, minutes(1), hours(mtbf), minutes(10)));
    }
  }
}

TEST_CASE("the waste is that of the first order where failures are rare") {
  // 60/1138 + 1138/(2 x 10800) = 10.5 %
  const double kept = timing::goodput(seconds(1138), seconds(60), hours(3), seconds(0));
  CHECK(1.0 - kept == Approx(0.105).margin(0.005));
}

TEST_CASE("goodput is what a simulated run comes to") {
  // The runs of Daly 2006, figures 4 and 5, longer so that chance averages out
  for (const auto& [mtbf, interval] : {std::pair{hours(6), minutes(57)}, std::pair{minutes(15), minutes(9.1)}}) {
    const Seconds useful = hours(50'000);
    const Seconds wall = simulated(useful, interval, minutes(5), mtbf, minutes(10));
    CHECK(timing::goodput(interval, minutes(5), mtbf, minutes(10)) == Approx(useful / wall).epsilon(0.01));
  }
}

TEST_CASE("without failures only saving costs") {
  CHECK(timing::goodput(hours(1), minutes(6), never, minutes(10)) == Approx(1.0 / 1.1));
  CHECK(timing::goodput(hours(1), seconds(0), never, minutes(10)) == 1.0);
}

TEST_CASE("16,384 H100 fail every three hours and are useful for more than nine tenths of the time") {
  // Grattafiori et al. 2024, section 3.3.4; 405e9 x 14 B at 2 TB/s are 2.8 s
  const Seconds mtbf = timing::default_mtbf / 16384.0;
  CHECK(in_hours(timing::default_mtbf) == Approx(5.1e4).epsilon(0.01));
  CHECK(in_hours(mtbf) == Approx(3.09).margin(0.01));
  const Seconds save = quantity::bytes(405'853'388'800 * 14) / quantity::gigabytes_per_second(2000);
  const double share = timing::goodput(timing::best_interval(save, mtbf), save, mtbf, timing::default_restart);
  CHECK(share > 0.90);
  // 26.3M GPU-hours at the reported 400 TFLOP/s against 30.84M in all: failures are only part of the difference
  CHECK(share > 26.3 / 30.84);
  CHECK(share < 0.97);
}

TEST_CASE("a checkpoint holds the trained weights, their masters and the optimizer's states") {
  CHECK(bytes_per_parameter("--model gpt2 --framework megatron --dtype bf16") == Approx(14.0));
  CHECK(bytes_per_parameter("--model gpt2 --framework generic --dtype fp32") == Approx(12.0));
  CHECK(bytes_per_parameter("--model gpt2 --framework generic --dtype bf16") == Approx(10.0));
  CHECK(bytes_per_parameter("--model gpt2 --framework hf --dtype bf16") == Approx(6.0));
  CHECK(bytes_per_parameter("--model gpt2 --framework hf --method lora --lora-rank 8 --dtype bf16") < 0.2);
  CHECK(bytes_per_parameter("--model gpt2 --method inference --dtype bf16") == 0.0);
}

TEST_CASE("BLOOM's checkpoint has the 2.3 TB that were published, on however many ranks it lies") {
  const test::Asked asked("--model bloom --framework megatron-deepspeed --dtype bf16 --gpus 384 --tp 4 --pp 12");
  const auto size = timing::checkpoint_size(asked.program, asked.question.training);
  CHECK(quantity::in_gib(size) / 1024.0 ==
        Approx(2.3).epsilon(0.03));  // the publication's TB are binary: 329 GB weights
  const test::Asked alone("--model bloom --framework megatron-deepspeed --dtype bf16");
  CHECK(size == timing::checkpoint_size(alone.program, alone.question.training));
}
