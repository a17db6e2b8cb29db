#include "catch.hpp"
#include "laws/scaling.hpp"
#include "llmcalc/formats/dtype.hpp"
#include "llmcalc/quantity/error.hpp"
#include "scale_value.hpp"

#include <cmath>
#include <limits>
#include <utility>

using llmcalc::quantity::BadInput;
using namespace llmcalc::laws;
using llmcalc::test::value;
namespace q = llmcalc::quantity;
namespace formats = llmcalc::formats;

namespace {

double derive(const ScaleQuestion& question, std::string_view id) { return value(scale(question), id); }

ScaleQuestion model(double billions) {
  ScaleQuestion question;
  question.params = q::parameters(std::llround(billions * 1e9));
  return question;
}

ScaleQuestion run(double billions, double tokens) {
  auto question = model(billions);
  question.tokens = q::tokens(tokens);
  return question;
}

}  // namespace

TEST_CASE("Published budgets follow from 6PD", "[scaling]") {
  ScaleQuestion gpt3;
  gpt3.params = q::parameters(174'604'259'328);
  gpt3.tokens = q::tokens(300e9);
  CHECK(derive(gpt3, "compute_flops") == Approx(3.143e23).epsilon(1e-4));   // Brown et al. 2020, table D.1: 3.14e23
  CHECK(derive(gpt3, "compute_pflop_days") == Approx(3637).epsilon(1e-3));  // printed 3640
  CHECK(derive(run(405, 15.6e12), "compute_flops") == Approx(3.79e25).epsilon(1e-3));  // Llama 3: 3.8e25
  CHECK(derive(run(70, 1.4e12), "compute_flops") == Approx(5.88e23).epsilon(1e-9));    // Chinchilla
  CHECK(derive(run(280, 300e9), "compute_flops") == Approx(5.04e23).epsilon(1e-9));    // Gopher
}

TEST_CASE("Without data, the model is compute-optimal at twenty tokens a parameter", "[scaling]") {
  // Hoffmann et al. 2022, table 3: parameters and their optimal tokens.
  const std::pair<double, double> table3[] = {{0.4, 8.0e9}, {1, 20.2e9},   {10, 205.1e9},
                                              {67, 1.5e12}, {175, 3.7e12}, {280, 5.9e12}};
  for (const auto& [billions, tokens] : table3) {
    CHECK(derive(model(billions), "tokens") == Approx(tokens).epsilon(0.12));
  }
  const auto answer = scale(model(7));
  CHECK(value(answer, "tokens") == Approx(140e9));
  CHECK(find_line(answer, "tokens_per_parameter")->origin == Standing::assumed);
  CHECK(find_line(answer, "compute_flops")->why.formula == "6 x params x tokens");
  CHECK(answer.assumptions.size() == 1);
}

TEST_CASE("The largest model for a compute budget or an amount of data", "[scaling]") {
  ScaleQuestion budget;
  budget.compute = q::flops(5.76e23);
  CHECK(derive(budget, "params") == Approx(70e9).epsilon(0.05));  // Chinchilla: 70B on 1.4T
  CHECK(derive(budget, "tokens") == Approx(1.4e12).epsilon(0.06));
  CHECK(scale(budget).assumptions.size() == 1);
  budget.tokens_per_parameter = 20;
  CHECK(derive(budget, "params") == Approx(69.28e9).epsilon(1e-3));
  ScaleQuestion data;
  data.tokens = q::tokens(300e9);
  CHECK(derive(data, "params") == Approx(15e9));
  data.tokens_per_parameter = 10;
  CHECK(derive(data, "params") == Approx(30e9));
  CHECK(scale(data).assumptions.empty());
}

TEST_CASE("Time, GPUs and utilization from each other", "[scaling]") {
  auto llama = run(405, 15.6e12);
  llama.peak = q::teraflops(400);
  llama.mfu = 1.0;
  CHECK(derive(llama, "gpu_hours") == Approx(26.3e6).epsilon(0.005));

  // BLOOM-176B: 6 x 176.25B x 366B over 1,082,990 A100-hours is 99.3 TFLOP/s.
  auto bloom = run(176.25, 366e9);
  bloom.gpu_time = q::hours(1'082'990);
  bloom.peak = q::teraflops(312);
  CHECK(derive(bloom, "mfu") * 312 == Approx(99.3).epsilon(0.001));
  bloom.gpus = 384;
  CHECK(derive(bloom, "time_s") == Approx(1'082'990.0 / 384 * 3600));

  auto deadline = run(7, 140e9);
  deadline.peak = q::teraflops(312);
  deadline.mfu = 0.4;
  deadline.time = q::days(7);
  const auto answer = scale(deadline);
  CHECK(value(answer, "gpus") == 78);  // 5.88e21 / (312e12 x 0.4 x 604800) = 77.9
  CHECK(find_line(answer, "gpus")->why.formula == "GPU time / time");
}

TEST_CASE("Compute may come from the machine", "[scaling]") {
  ScaleQuestion machine;
  machine.gpus = 1024;
  machine.time = q::days(30);
  machine.peak = q::teraflops(312);
  machine.mfu = 0.5;
  const double compute = 1024.0 * 30 * 86400 * 312e12 * 0.5;
  CHECK(derive(machine, "compute_flops") == Approx(compute));
  machine.tokens_per_parameter = 20;
  CHECK(derive(machine, "params") == Approx(std::sqrt(compute / 120)));
}

TEST_CASE("The largest model for inference memory and speed", "[scaling]") {
  ScaleQuestion memory;
  memory.memory = q::bytes(4'000'000'000);
  memory.weight = formats::average_bits(formats::Dtype::fp32);
  CHECK(derive(memory, "largest_in_memory_params") == 1e9);  // 4 GB of fp32 hold 1B
  CHECK(derive(memory, "params") == 1e9);
  CHECK(derive(memory, "tokens") == Approx(20e9));

  // Llama-2-7B in bf16 on an A100: at most 2039 GB/s / 13.48 GB, 6.6 ms a token.
  ScaleQuestion llama;
  llama.params = q::parameters(6'738'415'616);
  llama.weight = formats::average_bits(formats::Dtype::bf16);
  llama.bandwidth = q::gigabytes_per_second(2039);
  CHECK(derive(llama, "weights_bytes") == 13'476'831'232.0);
  const double rate = derive(llama, "decode_tokens_per_s");
  CHECK(1000 / rate == Approx(6.6).epsilon(0.005));

  ScaleQuestion speed;
  speed.weight = llama.weight;
  speed.bandwidth = llama.bandwidth;
  speed.decode_rate = rate;
  CHECK(derive(speed, "largest_at_speed_params") == Approx(6'738'415'616.0));
  speed.memory = q::gib(8);
  CHECK(derive(speed, "params") == derive(speed, "largest_in_memory_params"));  // the tighter of the two
}

TEST_CASE("What is derived explains itself", "[scaling]") {
  const auto answer = scale(run(70, 1.4e12));
  const auto* compute = find_line(answer, "compute_flops");
  CHECK(compute->text == "5.88e+23 FLOP");
  CHECK(compute->why.formula == "6 x params x tokens");
  CHECK(compute->why.numbers == "6 x 70B x 1.4T");
  CHECK_THAT(compute->why.source, Catch::Matchers::Contains("2001.08361"));
  ScaleQuestion budget;
  budget.compute = q::flops(1.2e22);
  budget.tokens_per_parameter = 20;
  CHECK(find_line(scale(budget), "params")->why.numbers == "sqrt(1.2e+22 FLOP / (6 x 20))");
  for (const auto& line : answer.lines) {
    CAPTURE(line.id);
    CHECK((line.origin == Standing::given) == line.why.source.empty());
    CHECK_FALSE(line.text.empty());
  }
}

TEST_CASE("Contradictions are named, rounded figures are not contradictions", "[scaling]") {
  auto chinchilla = run(70, 1.4e12);
  chinchilla.compute = q::flops(5.76e23);  // as printed, 2 % from 6PD
  CHECK_NOTHROW(scale(chinchilla));
  chinchilla.compute = q::flops(5e22);
  CHECK_THROWS_WITH(scale(chinchilla),
                    Catch::Matchers::Contains("compute: 5e+22 FLOP contradicts 6 x params x tokens"));
  auto impossible = run(70, 1.4e12);
  impossible.gpu_time = q::hours(1);
  impossible.peak = q::teraflops(312);
  CHECK_THROWS_WITH(scale(impossible), Catch::Matchers::Contains("mfu"));
}

TEST_CASE("What is missing is named", "[scaling]") {
  CHECK_THROWS_WITH(scale({}), Catch::Matchers::Contains("nothing to scale from"));
  auto idle = model(7);
  idle.gpus = 8;
  CHECK_THROWS_WITH(scale(idle), Catch::Matchers::Contains("gpus: ") && Catch::Matchers::Contains("time, peak, mfu"));
  ScaleQuestion memory;
  memory.memory = q::gib(80);
  CHECK_THROWS_WITH(scale(memory), Catch::Matchers::Contains("dtype"));
  auto speed = model(7);
  speed.decode_rate = 10;
  CHECK_THROWS_AS(scale(speed), BadInput);
}

TEST_CASE("Values out of range are refused wherever they come from", "[scaling]") {
  CHECK_THROWS_AS(scale(model(-7)), BadInput);
  CHECK_THROWS_AS(scale(run(7, std::numeric_limits<double>::quiet_NaN())), BadInput);
  CHECK_THROWS_AS(scale(run(7, std::numeric_limits<double>::infinity())), BadInput);
  auto utopia = run(7, 140e9);
  utopia.mfu = 1.5;
  CHECK_THROWS_AS(scale(utopia), BadInput);
  ScaleQuestion universe;
  universe.compute = q::flops(1e60);
  CHECK_THROWS_AS(scale(universe), BadInput);
  ScaleQuestion nothing;
  nothing.memory = q::gib(80);
  nothing.weight = q::bits_per_element(0);
  CHECK_THROWS_AS(scale(nothing), BadInput);
}
