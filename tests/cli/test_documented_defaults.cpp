// What the pages say is taken where nobody says it is what they say: said aloud it changes no number.
#include "catch.hpp"
#include "cli/answered.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace llmcalc::documented_defaults {
namespace {

using nlohmann::json;

/// A question, what its page says that it takes, and another value that would be another answer.
struct Documented {
  std::string page, question, said, other;
};

const std::string run = "fit llama-3-8b --framework megatron --tokens 15T ";
const std::string local = "serve qwen3-30b-a3b --engine llama.cpp --quant q4_k_m --gpu rtx-4090 --context 8k ";
const std::string server = "serve llama-3.1-8b --gpu h100-sxm --rate 2 --engine ";

const std::vector<Documented> all{
    {"time.md, goodput", run + "--gpu h100-sxm:64", "--mtbf 50700", "--mtbf 40000"},
    {"time.md, goodput", run + "--gpu h100-sxm:64", "--checkpoint-bandwidth 8GB/s", "--checkpoint-bandwidth 4GB/s"},
    {"time.md, goodput", run + "--gpu h100-sxm:64", "--restart-time 10min", "--restart-time 5min"},
    {"time.md, energy", run + "--gpu h100-sxm:64", "--pue 1.1", "--pue 1.2"},
    {"time.md, energy", run + "--gpu h100-sxm:64", "--carbon-intensity 473", "--carbon-intensity 400"},
    {"time.md, energy: 1.38 times 700 W", run + "--gpu h100-sxm:64", "--power 966", "--power 900"},
    {"time.md, assumed", run + "--gpu rtx-4090:16 --tp 2 --pp 2", "--inter-node 100Gbps", "--inter-node 50Gbps"},
    {"time.md, assumed",
     "fit llama-3-8b --framework deepspeed --zero 3 --offload optimizer --offload-to nvme --gpu h100-sxm:8",
     "--nvme-bandwidth 3GB/s", "--nvme-bandwidth 1GB/s"},
    {"time.md, tokens of a model from scratch", "fit llama-3.2-1b --framework torchtitan --gpu h100-sxm:8",
     "--tokens 20x", "--tokens 10x"},
    {"time.md, a published model", "fit llama-3-8b --framework trl --method lora --gpu h100-sxm", "--steps 1000",
     "--steps 500"},
    {"plan.md", "plan llama-3.2-1b --framework megatron --gpu h100-sxm:8 --seq 4k --tokens 1B --pp 1",
     "--global-batch 1024", "--global-batch 512"},
    {"serve-speed.md", server + "vllm", "--stream-interval 1", "--stream-interval 20"},
    {"serve-speed.md", server + "sglang", "--wait-steps 0", "--wait-steps 4"},
    {"serve-speed.md, two channels of DDR5-5600", local + "--cpu-experts 20", "--host-bandwidth ddr5-5600:2",
     "--host-bandwidth ddr5-5600:4"},
    {"scale.md", "scale --params 7B --tokens 100B", "--law chinchilla", "--law kaplan"},
    {"serve.md, copies of the cards", local + "--gpus 2", "--copies 1", "--copies 2"}};

void collect(const json& value, const std::string& place, std::map<std::string, double>& numbers) {
  if (place == "/question") return;
  if (value.is_number()) numbers[place] = value.get<double>();
  if (!value.is_structured()) return;
  for (const auto& [key, member] : value.items()) collect(member, place + '/' + key, numbers);
}

/// Its numbers by their places; sentences say whose they are.
std::map<std::string, double> numbers_of(const std::string& line) {
  std::map<std::string, double> numbers;
  collect(test::answered(line), "", numbers);
  return numbers;
}

/// Pages round: 966 W are 1.38 times 700, which is 76 % of 10.2 kW over eight and 700.
constexpr double rounding = 0.004;

bool are_alike(const std::map<std::string, double>& one, const std::map<std::string, double>& other) {
  return std::ranges::equal(one, other, [](const auto& a, const auto& b) {
    return a.first == b.first && std::abs(a.second - b.second) <= rounding * std::abs(a.second);
  });
}

}  // namespace

TEST_CASE("what the pages say is taken unsaid changes no number when it is said") {
  for (const auto& [page, question, said, other] : all) {
    CAPTURE(page, question, said);
    const auto unsaid = numbers_of(question);
    CHECK(unsaid.size() > 3);
    CHECK(are_alike(unsaid, numbers_of(question + " " + said)));
    CHECK_FALSE(are_alike(unsaid, numbers_of(question + " " + other)));
  }
}

}  // namespace llmcalc::documented_defaults
