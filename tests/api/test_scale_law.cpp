// A run is the same from whichever of its figures it is asked, and a card is what its figures say.
#include "catch.hpp"
#include "llmcalc/llmcalc.hpp"
#include "read/presets.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <set>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

using Words = std::vector<Word>;
using nlohmann::json;

json scaled_from(const Words& words) { return json::parse(to_json(ask("scale", words))); }

std::string exactly(double value) { return fmt::format("{:.17g}", value); }

double line_of(const json& answer, const std::string& id) {
  for (const json& line : answer["lines"]) {
    if (line["id"] == id && line["section"] == "run") return line["value"].get<double>();
  }
  return 0;
}

}  // namespace

TEST_CASE("a run is the same from every pair of its figures and every pair of its machine's") {
  const json whole = scaled_from({{"params", "7e9"}, {"tokens", "2e12"}, {"gpu", "h100-sxm:512"}, {"time", "20d"}});
  const auto said = [&](const char* option, const char* line, const char* unit = "") {
    return Word{option, exactly(line_of(whole, line)) + unit};
  };
  const std::vector<Word> work{said("params", "params"), said("tokens", "tokens"), said("compute", "compute_flops")};
  const std::vector<Word> machine{said("gpus", "gpus"), said("time", "time_s", "s"), said("gpu-hours", "gpu_hours")};
  const Word mfu = said("mfu", "mfu"), price = said("price", "price_usd_per_hour");
  const Word peak = said("peak", "peak_flops_per_s");
  for (std::size_t i = 0; i < work.size(); ++i) {
    for (std::size_t j = 0; j < machine.size(); ++j) {
      Words words{mfu, price, peak};
      for (std::size_t k = 0; k < 3; ++k) {
        if (k != i) words.push_back(work[k]);
        if (k != j && i == 0) words.push_back(machine[k]);
      }
      if (i > 0) words.push_back(machine[j]);
      CAPTURE(words.back().term, i, j);
      const json answer = scaled_from(words);
      for (const char* figure : {"params", "tokens", "compute_flops", "mfu", "price_usd_per_hour"})
        CHECK(line_of(answer, figure) == Approx(line_of(whole, figure)).epsilon(1e-6));
      CHECK(line_of(answer, "gpu_hours") == Approx(line_of(whole, "gpu_hours")).epsilon(1e-6));
      CHECK(line_of(answer, "cost_usd") == Approx(line_of(whole, "cost_usd")).epsilon(1e-6));
    }
  }
  CHECK(line_of(whole, "compute_flops") == Approx(6 * 7e9 * 2e12));
  CHECK(line_of(whole, "gpu_hours") == Approx(512 * 20 * 24));
  CHECK(line_of(whole, "cost_usd") == Approx(512 * 20 * 24 * line_of(whole, "price_usd_per_hour")));
}

TEST_CASE("every card is its memory, its bandwidth, its peak and its price") {
  for (const auto& preset : read::Catalogue().accelerators()) {
    const auto& gpu = preset.accelerator;
    CAPTURE(gpu.id);
    const json holds = scaled_from({{"gpu", gpu.id}, {"dtype", "bf16"}});
    const json same =
        scaled_from({{"memory", exactly(quantity::in_gib(gpu.memory_usable)) + "GiB"},
                     {"bandwidth", exactly(quantity::in_gigabytes_per_second(gpu.memory_bandwidth)) + "GB/s"},
                     {"dtype", "bf16"}});
    CHECK(holds["parameters"] == same["parameters"]);
    CHECK(holds["lines"].size() == same["lines"].size());
    if (!gpu.peaks.bf16 || !gpu.price_per_hour) continue;
    const json runs = scaled_from({{"gpu", gpu.id + ":4"}, {"time", "10d"}, {"mfu", "0.4"}});
    const double hours = 4 * 10 * 24.0;
    CHECK(line_of(runs, "cost_usd") == Approx(hours * quantity::in_dollars(*gpu.price_per_hour)));
    CHECK(line_of(runs, "compute_flops") ==
          Approx(hours * 3600 * 0.4 * quantity::in_flops_per_second(*gpu.peaks.bf16)));
  }
}

TEST_CASE("a frontier is of sizes of one budget, or of budgets with their best size") {
  for (const char* law : {"chinchilla", "llama-3"}) {
    const auto points = [&](const char* what) {
      return scaled_from({{"compute", "1e22"}, {"law", law}, {"frontier", what}})["frontier"];
    };
    std::set<std::string> computes;
    int best = 0;
    for (const json& point : points("budgets"))
      computes.insert(fmt::format("{:.6g}", point["compute_flops"].get<double>()));
    CHECK(computes.size() == points("budgets").size());
    if (std::string(law) == "llama-3") continue;  // which says no loss of a size that is not the best
    for (const json& point : points("sizes")) {
      CHECK(point["compute_flops"].get<double>() == Approx(1e22));
      best += point["best"].get<bool>() ? 1 : 0;
    }
    CHECK(best == 1);
  }
}
