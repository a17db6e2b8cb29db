// A run is the same from whichever of its figures it is asked, and a card is what its figures say.
#include "catch.hpp"
#include "llmcalc/llmcalc.hpp"
#include "read/presets.hpp"
#include "tools/written_out.hpp"

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

TEST_CASE("of two options that say the same the error names both") {
  for (const auto& [one, other] : {std::pair("days", "time"), {"time", "days"}}) {
    const Words words{{"params", "7e9"},
                      {"gpu", "h100-sxm:8"},
                      {one, one[0] == 'd' ? "3" : "3d"},
                      {other, other[0] == 'd' ? "4" : "4d"}};
    CHECK_THROWS_WITH(ask("scale", words), Catch::Matchers::Contains("--days") && Catch::Matchers::Contains("--time"));
  }
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

/// Hoffmann's C = 6PD counts what a token meets (Kaplan et al. 2020 section 2.1).
TEST_CASE("a model by its name is the parameters that a token meets") {
  int mixtures = 0, turn = 0;
  for (const auto& preset : read::Catalogue().models()) {
    if (turn++ % (preset.shape.moe.experts > 0 ? 5 : 50) != 0) continue;
    CAPTURE(preset.id);
    const json shown = json::parse(to_json(ask("model", Words{{"", preset.id}})))["model"];
    const json run = scaled_from({{"", preset.id}, {"tokens", "1T"}});
    CHECK(line_of(run, "params") == shown["parameters_active"].get<double>());
    mixtures += shown["parameters_active"] != shown["parameters_total"] ? 1 : 0;
  }
  CHECK(mixtures > 5);
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

namespace {

/// A question, and the lines that answer it behind those of every run.
struct Answered {
  Words words;
  std::string lines;
};

const std::string of_every_run = "params tokens tokens_per_parameter compute_flops compute_pflop_days loss ";
const std::string of_two = "optimal_params optimal_tokens optimal_loss least_compute_flops extra_compute_share ";
const std::string of_serving = "serving_params serving_tokens ";
const std::string of_money = "gpu_hours mfu peak_flops_per_s price_usd_per_hour cost_usd ";

std::vector<Answered> answered() {
  const Words run{{"params", "7B"}, {"tokens", "2T"}};
  const auto with = [&](Words more) {
    more.insert(more.begin(), run.begin(), run.end());
    return more;
  };
  const std::string of_served =
      of_serving + "serving_training_flops serving_total_flops serving_unchanged_flops serving_saved_share ";
  return {
      {{{"params", "7B"}}, ""},
      {run, of_two},
      {with({{"smaller", "2"}}),
       of_two + "smaller_params smaller_tokens smaller_compute_flops smaller_extra_compute_share "},
      {with({{"inference-tokens", "2T"}}), of_two + of_served},
      {{{"loss", "2.0"}, {"inference-tokens", "1T"}}, of_served},
      {with({{"batch", "4M"}}),
       of_two + "critical_batch_tokens batch_extra_data_share batch_extra_steps_share batch_steps "},
      {with({{"hyperparameters", "true"}}),
       of_two + "critical_batch_tokens deepseek_batch_tokens deepseek_learning_rate "},
      {{{"compute", "1e23"}}, ""},
      {{{"compute", "1e23"}, {"inference-tokens", "2T"}},
       of_serving + "serving_loss serving_training_flops serving_total_flops "},
      {{{"cost", "1e6"}, {"gpu", "a100-80"}}, of_money},
      {{{"cost", "1e6"}, {"gpu", "a100-80"}, {"inference-tokens", "2T"}},
       of_money + of_serving + "serving_loss serving_training_flops serving_total_flops serving_cost_usd "},
      {{{"gpu", "b200:1024"}, {"days", "30"}},
       "gpu_hours gpus time_s mfu peak_flops_per_s price_usd_per_hour cost_usd "},
      {{{"gpu-hours", "10000"}, {"gpu", "h100-sxm"}}, of_money},
      {{{"tokens", "1T"}, {"dtype", "bf16"}, {"gpu", "h100-sxm"}},
       "largest_in_memory_params weights_bytes decode_tokens_per_s "},
      {{{"memory", "80GB"}, {"dtype", "bf16"}}, "largest_in_memory_params weights_bytes "},
      {{{"bandwidth", "2TB/s"}, {"dtype", "int8"}, {"tokens-per-second", "50"}},
       "largest_at_speed_params weights_bytes "},
      {with({{"gpus", "64"}, {"mfu", "40%"}, {"peak", "312TFLOP/s"}}),
       "gpu_hours gpus time_s mfu peak_flops_per_s " + of_two},
  };
}

}  // namespace

TEST_CASE("a plan of scaling has the lines that were asked for, and each comes to what it shows of itself") {
  for (const Answered& each : answered()) {
    const json answer = scaled_from(each.words);
    std::string lines;
    for (const json& line : answer["lines"]) lines += line["id"].get<std::string>() + " ";
    CAPTURE(each.words.back().term);
    CHECK(lines == of_every_run + each.lines);
    CHECK(test::wrongly_written(answer) == std::vector<std::string>());
  }
}
