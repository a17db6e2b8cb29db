// An option moves the figures that it is about and no other: what a run costs says nothing of its memory, what the
// driver takes nothing of its time. What the figures of each answer say of each other holds before and behind.
#include "catch.hpp"
#include "cli/answered.hpp"
#include "tools/figures.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <vector>

namespace llmcalc::option_effects {
namespace {

using nlohmann::json;
using test::answered;
using test::words_in;

struct Effect {
  std::string option;
  std::string moves;          ///< places in the answer that are others with it, each of them
  std::string may_move = {};  ///< and beginnings of those that may be
};

bool repeats_the_question(const std::string& place) {
  static const std::vector<std::string> all{"/question", "/assumptions", "/notes",
                                            "/warnings", "/launch",      "/fit_command"};
  return std::ranges::any_of(all, [&](const auto& begin) { return place.starts_with(begin); });
}

std::set<std::string> moved(const json& before, const json& after) {
  std::set<std::string> places;
  for (const json& change : json::diff(before, after)) places.insert(change["path"].get<std::string>());
  std::erase_if(places, repeats_the_question);
  return places;
}

void check(const std::string& question, const std::vector<Effect>& effects) {
  const std::string verb = question.substr(0, question.find(' '));
  const json before = answered(question);
  CAPTURE(question);
  REQUIRE(before.is_object());
  CHECK(test::disagreements(verb, before).empty());
  for (const auto& [option, moves, may_move] : effects) {
    CAPTURE(option);
    const json after = answered(question + " " + option);
    REQUIRE(after.is_object());
    for (const auto& broken : test::disagreements(verb, after)) FAIL_CHECK(broken);
    for (const auto& place : words_in(moves)) {
      CAPTURE(place);
      const json::json_pointer at(place);
      const bool is_other = after.at(at) != before.at(at);
      CHECK(is_other);
    }
    const auto allowed = words_in(moves + " " + may_move);
    for (const auto& place : moved(before, after)) {
      const auto begins = [&](const std::string& begin) { return place.starts_with(begin); };
      CAPTURE(place, before.dump().size());
      CHECK(std::ranges::any_of(allowed, begins));
    }
  }
}

const std::string wall =
    "/time/total_seconds /time/gpu_hours /time/goodput /time/cost_usd /time/energy/kilowatt_hours "
    "/time/carbon/kilograms_co2e";
const std::string step = wall + " /time /compute/flops /room /memory/timeline";
const std::string verdict = " /verdict /advice /cards /room /trainers /headroom_bytes /memory/host_capacity_bytes";
const std::string needed = "/needed_bytes /memory/peak_needed_bytes /memory/ledger";
const std::string driver = needed + " /memory/peak_device_bytes /error_bar" + verdict;

const std::vector<Effect> of_a_run{
    {"--price 7", "/time/cost_usd /time/price_usd_per_gpu_hour", "/time/price_source /cards /advice"},
    {"--power 333", "/time/energy/power_watts /time/energy/kilowatt_hours /time/carbon/kilograms_co2e",
     "/time/energy /time/carbon/numbers"},
    {"--pue 1.9", "/time/energy/pue /time/energy/kilowatt_hours /time/carbon/kilograms_co2e",
     "/time/energy /time/carbon/numbers"},
    {"--carbon-intensity 77", "/time/carbon/grams_per_kilowatt_hour /time/carbon/kilograms_co2e", "/time/carbon"},
    {"--mtbf 500", wall, "/time/energy /time/carbon"},
    {"--checkpoint-interval 20min", wall, "/time/energy /time/carbon"},
    {"--restart-time 9h", wall, "/time/energy /time/carbon"},
    {"--mfu 21%", "/time/step_seconds /time/mfu /time/mfu_source /time/tokens_per_second_per_gpu " + wall, step},
    {"--context-bytes 3GiB", "/needed_bytes /memory/peak_device_bytes /headroom_bytes", driver},
    {"--nccl-bytes 3GiB", "/needed_bytes /memory/peak_device_bytes /headroom_bytes", driver},
    {"--reserved-ratio 1.7", "/needed_bytes /memory/peak_reserved_bytes /memory/peak_device_bytes", driver},
    {"--workspace 5GiB", "/needed_bytes /memory/peak_allocated_bytes", "/memory " + driver},
    {"--memory 130GiB", "/capacity_bytes /headroom_bytes", verdict},
    {"--host-memory 77GiB", "/memory/host_capacity_bytes", "/advice"},
    {"--max-memory 1GiB", "/broken_limits"},
    {"--max-days 1e-6", "/broken_limits"},
    {"--max-cost 1e-6", "/broken_limits"},
    {"--margin 500GiB", "/broken_limits"}};

/// The line of the ledger that each is about, which then is that.
const std::map<std::string, std::string> lines{{"--context-bytes 3GiB", "CUDA context and kernels"},
                                               {"--nccl-bytes 3GiB", "NCCL communicators"}};

/// By label, as several lines may have one.
std::map<std::string, double> ledger_of(const json& answer) {
  std::map<std::string, double> all;
  for (const json& line : answer["memory"]["ledger"]) all[line["label"]] += line["bytes"].get<double>();
  return all;
}

const std::string speeds = " /speed /verdict /advice /broken_limits /limits/kept";
const std::string room = " /capacity /kv /load/running /load/queued /engine /reason /memory /cards /launched_with";
const std::vector<Effect> of_a_server{
    {"--price 7", "/speed/cost/usd_per_hour /speed/cost/output_with_prompts_usd_per_million",
     "/speed/cost /cards /advice"},
    {"--ttft 1us", "/broken_limits /limits/kept /limits/ttft_s"},
    {"--tpot 1us", "/broken_limits /limits/kept /limits/tpot_s"},
    {"--ttft-p95 1us", "/broken_limits /limits/kept /limits/ttft_p95_s", "/speed/tail"},
    {"--tpot-p95 1us", "/broken_limits /limits/kept /limits/tpot_p95_s", "/speed/tail"},
    {"--max-cost-per-hour 1e-4", "/broken_limits /limits/kept /limits/usd_per_hour"},
    {"--max-cost-per-million 1e-4", "/broken_limits /limits/kept /limits/output_with_prompts_usd_per_million"},
    {"--max-memory 1GiB", "/broken_limits"},
    {"--other-usage 1GiB", "/memory/capacity_bytes", room + speeds},
    {"--range-ratio 0.3", "/speed/tpot_s /speed/requests_per_s", "/speed"},
    {"--num-prompts 999", "/load/num_prompts /speed/tokens_per_s", "/speed"}};

}  // namespace

TEST_CASE("an option of a run moves the figures that it is about and no other") {
  for (const std::string question :
       {"fit llama-3.2-1b --gpu h100-sxm:16 --framework torchtitan --steps 200000",
        "fit llama-3.2-1b --gpu a100-80:4 --framework megatron --tp 2 --pp 2 --steps 200000 --global-batch 16",
        "fit llama-3-8b --gpu h100-sxm:8 --framework deepspeed --zero 3 --method lora --steps 400000"}) {
    check(question, of_a_run);
    for (const auto& [option, label] : lines) {
      auto before = ledger_of(answered(question));
      auto after = ledger_of(answered(question + " " + option));
      CAPTURE(question, option);
      CHECK(after[label] == 3 * 1073741824.0);
      before.erase(label);
      after.erase(label);
      CHECK(after == before);
    }
  }
}

TEST_CASE("an option of a server moves the figures that it is about and no other") {
  for (const std::string engine : {"vllm", "sglang", "trtllm", "llama.cpp"}) {
    check("serve llama-3.1-8b --gpu h100-sxm --context 8k --prompt 1k --output 100 --concurrency 4 --engine " + engine,
          of_a_server);
  }
}

}  // namespace llmcalc::option_effects
