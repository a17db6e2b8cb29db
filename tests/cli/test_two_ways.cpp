// What can be said in two ways is the same question: quantities in other units, a whole by its parts, a default aloud.
#include "catch.hpp"
#include "cli/answered.hpp"

#include <string>
#include <utility>
#include <vector>

namespace llmcalc::two_ways {
namespace {

using nlohmann::json;
using Ways = std::vector<std::string>;

/// Without what repeats the question, and without how far it goes while what was said stays.
json answered(const std::string& line) {
  json answer = test::answered(line);
  if (!answer.is_object()) return line;  // refused, which no other way is
  for (const char* said : {"question", "assumptions", "notes", "fit_command", "launch", "room"}) answer.erase(said);
  if (answer.contains("compute")) answer["compute"].erase("tokens_source");
  return answer;
}

/// Each way behind the words of the question, and that none of them is as good as saying nothing.
void check(const std::string& question, const std::vector<Ways>& all) {
  const json unsaid = answered(question);
  for (const Ways& ways : all) {
    const json first = answered(question + " " + ways.front());
    CAPTURE(question, ways.front());
    CHECK(first.is_object());
    const bool is_other = first != unsaid;
    CHECK(is_other);
    for (std::size_t i = 1; i < ways.size(); ++i) {
      CAPTURE(ways[i]);
      const json other = answered(question + " " + ways[i]);
      CHECK(json::diff(first, other).dump() == "[]");
    }
  }
}

}  // namespace

TEST_CASE("a quantity of a run is the same in each of its units") {
  check("fit llama-3.2-1b --gpu h100-sxm:16 --tokens 2B --framework torchtitan",
        {{"--inter-node 100Gbps", "--inter-node 12.5GB/s", "--inter-node 4x25Gb/s", "--inter-node-gbps 100",
          "--inter-node 0.1Tbps"},
         {"--memory 40GiB", "--memory 40960MiB", "--memory 42949672960", "--memory 42.949672960GB"},
         {"--seq 1k", "--seq 1024", "--seq-len 1024"},
         {"--mtbf 2000", "--mtbf 2e3"},
         {"--checkpoint-interval 30min", "--checkpoint-interval 1800s", "--checkpoint-interval 0.5h"},
         {"--checkpoint-bandwidth 2GB/s", "--checkpoint-bandwidth 2000MB/s", "--checkpoint-bandwidth 2e9"},
         {"--restart-time 1h", "--restart-time 60min", "--restart-time 3600s"},
         {"--power 1kW", "--power 1000", "--power 1000W"},
         {"--mfu 50%", "--mfu 0.5"},
         {"--margin 70GiB", "--margin 71680MiB"},
         {"--context-bytes 1GiB", "--context-bytes 1024MiB"},
         {"--max-days 0.01", "--max-days 1e-2"}});
}

TEST_CASE("a run is the same by its parts and as a whole") {
  const std::string run = "fit llama-3.2-1b --framework deepspeed --seq 1k ";
  check(run + "--gpu h100-sxm:8",
        {{"--zero 3", "--sharding zero3", "--zero-stage 3"},
         {"--global-batch 64 --micro-batch 2", "--grad-accum 4 --micro-batch 2",
          "--global-batch 64 --micro-batch 2 --grad-accum 4"},
         {"--tp 2", "--tp 2 --dp 4", "--dp 4 --tp 2 --gpus 8"},
         {"--steps 1000 --global-batch 64", "--tokens 65536000 --global-batch 64",
          "--samples 64000 --epochs 1 --global-batch 64"},
         {"--samples 64000 --epochs 2 --global-batch 64", "--samples 128000 --epochs 1 --global-batch 64",
          "--steps 2000 --global-batch 64"}});
  check(run + "--tokens 1B", {{"--gpu h100-sxm:16", "--gpu h100-sxm --gpus 16",
                               "--gpu h100-sxm --nodes 2 --gpus-per-node 8", "--gpu h100-sxm:16 --nodes 2"}});
  const json model = answered("fit --params 1.5B --tokens 20x --gpu a100-80");
  for (const char* said : {"1500M --tokens 30B", "1.5e9 --tokens 3e10"}) {
    CAPTURE(said);
    CHECK(json::diff(model, answered(std::string("fit --gpu a100-80 --params ") + said)).dump() == "[]");
  }
}

TEST_CASE("a quantity of a server is the same in each of its units") {
  check("serve llama-3.1-8b --gpu h100-sxm:2 --engine vllm --context 8k",
        {{"--ttft 1ms", "--ttft 0.001s", "--ttft 1000us"},
         {"--tpot-p95 1ms", "--tpot-p95 1000us"},
         {"--memory-fraction 0.5", "--memory-fraction 50%"},
         {"--kv-bytes 2GiB", "--kv-bytes 2048MiB"},
         {"--other-usage 3GiB", "--other-usage 3072MiB"},
         {"--prompt 2k", "--prompt 2048", "--isl 2048"},
         {"--memory 40GiB", "--memory 40960MiB"},
         {"--rate 0.5", "--rate 5e-1"},
         {"--concurrency 3", "--users 3"}});
}

TEST_CASE("training at scale is the same by each of its figures' units") {
  check("scale --params 7B --gpu h100-sxm:512",
        {{"--tokens 2T", "--tokens 2e12", "--tokens 2000B"},
         {"--time 30d", "--days 30", "--time 720h"},
         {"--compute 1000PFLOP-days", "--compute 8.64e22"},
         {"--tokens 2T --mfu 35%", "--tokens 2T --mfu 0.35"},
         {"--tokens 2T --peak 400TFLOP/s", "--tokens 2T --peak 4e14"},
         {"--tokens 2T --dtype bf16 --memory 40GiB", "--tokens 2T --dtype bf16 --memory 40960MiB"},
         {"--tokens 2T --bandwidth 2TB/s", "--tokens 2T --bandwidth 2000GB/s"}});
}

/// The first of the words that an option takes is its default (src/api/arguments.hpp).
TEST_CASE("what is taken unsaid is what it is called") {
  for (const auto& [unsaid, said] : std::vector<std::pair<std::string, std::string>>{
           {"dtype --quantize 1,2.5,-3", "dtype int8 --quantize 1,2.5,-3"},
           {"dtype --quantize 1,2.5,-3", "dtype --quantize 1,2.5,-3 --scheme absmax"},
           {"plan llama-3.2-1b --gpu a100-80:2 --pp 1",
            "plan llama-3.2-1b --gpu a100-80:2 --pp 1 --objective step-time"},
           {"plan qwen3-30b-a3b --framework megatron --gpu h100-sxm:8 --global-batch 64 --ep 8 --pp 1",
            "plan qwen3-30b-a3b --framework megatron --gpu h100-sxm:8 --global-batch 64 --ep 8 --pp 1 "
            "--cuda-graph none,scoped --expert-overlap 0,1"},
           {"plan qwen3-30b-a3b --framework megatron --gpu h100-sxm:16 --global-batch 64 --ep 16 --pp 1 --tp 1",
            "plan qwen3-30b-a3b --framework megatron --gpu h100-sxm:16 --global-batch 64 --ep 16 --pp 1 --tp 1 "
            "--cuda-graph none,scoped --expert-overlap 0,1 --node-dispatch 0,1"},
           {"fit llama-3.2-1b --gpu a100-80", "fit llama-3.2-1b --gpu a100-80 --activations program"},
           {"fit llama-3.2-1b --gpu a100-80", "fit llama-3.2-1b --gpu a100-80 --rank max"},
           {"scale --params 7B --tokens 1T", "scale --params 7B --tokens 1T --law chinchilla"}}) {
    CAPTURE(said);
    CHECK(answered(unsaid).is_object());
    CHECK(json::diff(answered(unsaid), answered(said)).dump() == "[]");
  }
}

}  // namespace llmcalc::two_ways
