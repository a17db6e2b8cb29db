// What the host needs for a step, beside what it was executed to need.
#include "catch.hpp"
#include "timing/steps.hpp"

#include <fstream>
#include <sstream>
#include <vector>

using namespace llmcalc;

namespace {

/// A row of scripts/measure-host: milliseconds of a processor.
struct Executed {
  std::string words;
  double passes = 0.0;
  double update = 0.0;
};

std::vector<Executed> executed() {
  std::ifstream file(LLMCALC_TEST_DATA "/timing/host.csv");
  std::vector<Executed> rows;
  std::string line;
  std::getline(file, line);
  while (std::getline(file, line)) {
    const std::size_t end = line.find("\",");
    Executed row{line.substr(1, end - 1)};
    std::istringstream numbers(line.substr(end + 2));
    double forward = 0.0;
    double backward = 0.0;
    char comma = ',';
    numbers >> forward >> comma >> backward >> comma >> row.update;
    row.passes = forward + backward;
    rows.push_back(row);
  }
  return rows;
}

/// Seconds that the host is said to need, however long the accelerator takes.
struct Said {
  explicit Said(const std::string& words)
      : asked(
            "--layers 24 --hidden 56 --heads 14 --kv-heads 2 --head-dim 4 --ffn 64 --vocab 256 --tied 1 "
            "--framework hf --seq 4 --micro-batch 1 --gpu h100-sxm " +
            words) {
    const timing::StepTime step = test::step_of(asked);
    passes = quantity::in_seconds(step.forward.dispatch + step.recompute.dispatch + step.backward.dispatch);
    update = quantity::in_seconds(step.optimizer);  // nothing but the host's part, of so few parameters
  }

  test::Asked asked;
  double passes = 0.0;
  double update = 0.0;
};

/// What is executed of a plain step: the mean over all that differ from it in their update alone.
double plain_passes(const std::vector<Executed>& rows, const std::vector<Said>& said) {
  double sum = 0.0;
  int n = 0;
  for (std::size_t i = 0; i < rows.size(); ++i) {
    if (said[i].passes != said.front().passes) continue;
    sum += rows[i].passes;
    ++n;
  }
  return sum / n;
}

}  // namespace

TEST_CASE("the host needs for a step what it was executed to need, over a plain one") {
  const auto rows = executed();
  REQUIRE(rows.size() == 28);
  std::vector<Said> said;
  for (const Executed& row : rows) said.emplace_back(row.words);
  const double plain = plain_passes(rows, said);
  for (std::size_t i = 0; i < rows.size(); ++i) {
    INFO(rows[i].words);
    const double of_passes = said[i].passes / said.front().passes;
    CHECK(of_passes == Approx(rows[i].passes / plain).epsilon(0.1));
    if (of_passes != 1.0) continue;
    CHECK(said[i].update / said.front().passes == Approx(rows[i].update / plain).epsilon(0.05));
  }
}

TEST_CASE("FSDP1 keeps the host from running ahead where adapters are units") {
  const auto waiting = [](const std::string& words) {
    const timing::StepTime step = test::step_of(
        "--model llama-3-8b --framework hf --lora-targets q,k,v,o --dtype bf16 --recompute full "
        "--attention flash --gpu a100-80-sxm:2 --method " +
        words);
    return quantity::in_seconds(step.forward.host + step.recompute.host + step.backward.host);
  };
  // two sequences of a 7B model take 0.34 s longer on two A100 than half of four (tests/measured/time/fms.csv, fmso-013
  // and fmso-015), and on one card four 0.02 s longer than half of eight; FSDP2 waits for no event
  CHECK(waiting("lora --sharding fsdp1 --seq 4096 --micro-batch 2") > 0.05);
  CHECK(waiting("lora --sharding fsdp1 --seq 4096 --micro-batch 8") <
        0.5 * waiting("lora --sharding fsdp1 --seq 4096 --micro-batch 2"));
  CHECK(waiting("lora --sharding fsdp2 --seq 4096 --micro-batch 2") < 0.001);
  // kernels of adapters that are fused with 4-bit matrices keep them out of FSDP
  CHECK(waiting("qlora --sharding fsdp1 --seq 4096 --micro-batch 2 --weights nf4-dq --fused-kernels 1") < 0.001);
}
