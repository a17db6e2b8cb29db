// What a plan lists: the best first, none of the front behind another, each with the figures that `fit` answers to it,
// and the exit code of what was found.
#include "catch.hpp"
#include "cli/answered.hpp"
#include "cli/folder.hpp"
#include "quantity/lists.hpp"

#include <algorithm>
#include <cmath>
#include <map>
#include <string>
#include <vector>

namespace llmcalc::plan_lists {
namespace {

using nlohmann::json;
using test::answered;

double figure(const json& line, const char* name) { return line["figures"][name].get<double>(); }
double term(const json& line, const char* name) { return std::stod(line["run"][name].get<std::string>()); }

/// A figure by which the best is best, the least first.
double measure(const json& line, const std::string& objective) {
  if (objective == "gpus") return term(line, "gpus");
  if (objective == "micro-batch") return -term(line, "micro_batch");
  static const std::map<std::string, const char*> figures{
      {"step-time", "step_seconds"}, {"cost", "cost_usd"}, {"energy", "energy_kwh"}, {"memory", "needed_bytes"}};
  return figure(line, figures.at(objective));
}

const std::vector<std::string> objectives{"step-time", "cost", "energy", "memory", "gpus", "micro-batch"};

/// A model, how it is trained, and what it may be trained on.
struct Planned {
  std::string run;
  std::string machines;
};

const std::vector<Planned> plans{
    {"llama-3.2-1b --framework megatron --global-batch 64 --seq 2k --tokens 1B", "--gpu a100-80:4"},
    {"qwen2.5-0.5b --framework torchtitan --global-batch 32 --seq 1k --tokens 1B", "--gpu h100-sxm:2,rtx-4090:4"},
    {"llama-3.2-1b --framework deepspeed --global-batch 16 --seq 1k --tokens 1B --method lora", "--gpu l40s:2"},
    {"olmoe-1b-7b --framework megatron --global-batch 32 --seq 1k --tokens 1B", "--gpu h100-sxm:8"},
    {"gpt2 --framework trl --global-batch 32 --seq 512 --tokens 1B", "--gpu rtx-4090:1,a10g:2"}};

/// As `fit` is asked of one line of a list.
json asked_again(const std::string& run, const json& line, const json& plan) {
  std::string words = "fit " + run;
  for (const auto& [name, value] : line["run"].items()) {
    std::string option = name;
    std::ranges::replace(option, '_', '-');
    if (value.is_string() && value != "") words += " --" + option + " " + value.get<std::string>();
  }
  const bool overlaps = plan["fit_command"].get<std::string>().find("--data-overlap 1") != std::string::npos;
  return answered(words + (overlaps ? " --data-overlap 1" : ""));
}

void check_line(const std::string& run, const json& line, const json& plan) {
  CAPTURE(line["run"].dump());
  const json fit = asked_again(run, line, plan);
  REQUIRE(fit.is_object());
  CHECK(fit["verdict"] != "does_not_fit");
  CHECK(fit["needed_bytes"] == line["figures"]["needed_bytes"]);
  const std::vector<std::pair<const char*, const char*>> pairs{{"step_seconds", "/time/step_seconds"},
                                                               {"total_seconds", "/time/total_seconds"},
                                                               {"cost_usd", "/time/cost_usd"},
                                                               {"energy_kwh", "/time/energy/kilowatt_hours"}};
  for (const auto& [name, place] : pairs) {
    CAPTURE(name);
    const json& told = line["figures"][name];
    if (!told.is_number()) continue;
    CHECK(fit.at(json::json_pointer(place)).get<double>() == Approx(told.get<double>()).epsilon(1e-6));
  }
}

/// Whether one takes less of all three.
bool beats(const json& one, const json& other) {
  const auto less = [&](const char* name) { return figure(one, name) < figure(other, name); };
  return less("needed_bytes") && less("total_seconds") && less("cost_usd");
}

}  // namespace

TEST_CASE("a plan tells the best first, whatever it is best at, and none of its front is behind another") {
  for (const auto& [run, machines] : plans) {
    for (const auto& objective : objectives) {
      CAPTURE(run, machines, objective);
      const json plan = answered("plan " + run + " " + machines + " --objective " + objective);
      REQUIRE(plan.is_object());
      CHECK(plan["objective"] == objective);
      const auto at = [&](const json& line) { return measure(line, objective); };
      CHECK(std::ranges::is_sorted(plan["best"], {}, at));
      for (const char* list : {"each", "front"}) {
        for (const json& line : plan[list]) CHECK(at(line) >= at(plan["best"][0]));
      }
      CHECK(std::ranges::is_sorted(plan["front"], {}, [](const json& line) { return figure(line, "step_seconds"); }));
      for (const json& one : plan["front"]) {
        for (const json& other : plan["front"]) CHECK_FALSE(beats(one, other));
        for (const json& best : plan["best"]) CHECK_FALSE(beats(best, one));
      }
    }
  }
}

TEST_CASE("every layout that a plan lists has the figures that fit answers") {
  std::size_t lines = 0;
  for (const auto& [run, machines] : plans) {
    const json plan = answered("plan " + run + " " + machines + " --top 4");
    CAPTURE(run, machines);
    for (const char* list : {"best", "each", "front"}) {
      for (std::size_t i = 0; i < std::min<std::size_t>(plan[list].size(), 4); ++i) {
        check_line(run, plan[list][i], plan);
        ++lines;
      }
    }
  }
  CHECK(lines > 30);
}

TEST_CASE("a plan of several machines has of each what a plan of it alone finds") {
  const std::string run = "plan llama-3.2-1b --framework hf --global-batch 16 --seq 1k --tokens 1B --method lora";
  for (const auto& objective : objectives) {
    const json all = answered(run + " --gpu rtx-4090:2,h100-sxm,l40s:4 --objective " + objective);
    for (const std::string gpu : {"rtx-4090:2", "h100-sxm", "l40s:4"}) {
      CAPTURE(objective, gpu);
      const json alone = answered(run + " --gpu " + gpu + " --objective " + objective);
      const auto is_of = [&](const json& line) { return gpu.starts_with(line["run"]["gpu"].get<std::string>()); };
      const auto found = std::ranges::find_if(all["each"], is_of);
      REQUIRE(found != all["each"].end());
      CHECK((*found)["figures"]["needed_bytes"] == alone["best"][0]["figures"]["needed_bytes"]);
      CHECK(figure(*found, "step_seconds") == Approx(figure(alone["best"][0], "step_seconds")));
    }
  }
}

TEST_CASE("what a plan would surely answer is its answer under --strict") {
  std::size_t tight = 0;
  for (const auto& [run, machines] : plans) {
    const std::string line = "plan " + run + " " + machines;
    const json best = answered(line)["best"][0];
    const std::string memory = std::to_string(best["figures"]["needed_bytes"].get<std::int64_t>() + (1 << 20));
    const json plan = answered(line + " --memory " + memory);
    if (plan["sure"].is_null()) continue;
    CAPTURE(line, memory);
    const json strict = answered(line + " --memory " + memory + " --strict");
    CHECK(plan["sure"]["run"] == strict["best"][0]["run"]);
    CHECK(plan["sure"]["figures"] == strict["best"][0]["figures"]);
    ++tight;
  }
  CHECK(tight > 2);
}

TEST_CASE("a plan that found something ends with 0, one that found nothing with 1, in each of its kinds") {
  const std::string run = "plan llama-3.2-1b --global-batch 8 --seq 1k --framework hf --gpu l40s:2";
  const test::Folder folder;
  const auto rows = folder.write("runs.csv", "micro-batch\n1\n2\n");
  for (const std::string kind :
       {"", "--top 3", "--full", "--table seq,method", "--objective memory", "--largest micro-batch",
        "--gpu l40s:2,a10g:2", "--quiet", "--format csv", "--format html", "--strict"}) {
    const std::string line =
        kind.starts_with("--gpu") ? run.substr(0, run.find(" --gpu")) + " " + kind : run + " " + kind;
    CAPTURE(line);
    for (const auto& [memory, code] : {std::pair("48GB", ExitCode::fits), {"1GiB", ExitCode::does_not_fit}}) {
      CAPTURE(memory);
      const auto outcome = test::outcome_of(line + " --max-memory " + memory);
      REQUIRE(outcome);
      CHECK(outcome->code == code);
    }
  }
  for (const std::string limit :
       {"--max-memory 1GiB", "--max-memory 6GiB", "--max-memory 10GiB", "--max-memory 48GB"}) {
    const json plan = answered(run + " --full " + limit);
    CAPTURE(limit, plan["layouts_that_fit"], plan["layouts"]);
    CHECK((plan["layouts_that_fit"] == 0) == plan["best"].empty());
    CHECK(plan["layouts_that_fit"] <= plan["layouts"]);
  }
  const auto listed = [&](const char* memory) {
    return test::outcome_of(run + " --rows " + rows + " --max-memory " + memory)->code;
  };
  CHECK(listed("48GB") == ExitCode::fits);
  CHECK(listed("1GiB") == ExitCode::does_not_fit);
}

TEST_CASE("each cell of a table of plans is the best of a plan with its values") {
  const std::string run = "plan llama-3.2-1b --global-batch 16 --framework torchtitan --tokens 1B --gpu l40s:4";
  for (const auto& [row, column] : {std::pair<std::string, std::string>{"seq", "recompute"}, {"tp", "micro-batch"}}) {
    for (const std::string more : {"", " --max-memory 20GiB", " --objective memory"}) {
      const json table = answered(run + " --table " + row + "," + column + more);
      CAPTURE(row, column, more);
      REQUIRE(table["cells"].size() > 8);
      for (std::size_t i = 0; i < table["cells"].size(); i += 3) {
        const json& cell = table["cells"][i];
        const json plan = answered(run + more + " --" + row + " " + cell["row"].get<std::string>() + " --" + column +
                                   " " + cell["column"].get<std::string>());
        const bool found = plan.is_object() && !plan["best"].empty();
        CHECK(cell["best"] == (found ? plan["best"][0]["figures"] : json()));
      }
    }
  }
}

/// Servers on one kind of accelerators stand by what they answer, on several by what it costs (docs/serve.md).
TEST_CASE("a plan of servers tells the best first") {
  for (const std::string model : {"llama-3.1-8b", "qwen3-30b-a3b"}) {
    const std::string load = " --context 4k --prompt 1k --output 128 --concurrency 32";
    CAPTURE(model);
    const json several = answered("plan " + model + " --serve --gpu a100-80,l40s:2,h100-sxm:2" + load);
    const auto price = [](const json& line) {
      return line["speed"]["cost"]["output_with_prompts_usd_per_million"].get<double>();
    };
    REQUIRE(several["plans"]["best"].size() > 1);
    CHECK(std::ranges::is_sorted(several["plans"]["best"], {}, price));
    const json turned = answered("plan " + model + " --serve --gpu h100-sxm:2,l40s:2,a100-80" + load);
    CHECK(several["plans"]["best"] == turned["plans"]["best"]);  // in whichever order they are named
    const json one = answered("plan " + model + " --serve --gpu h100-sxm:2" + load);
    const auto rate = [](const json& line) { return -line["speed"]["tokens_per_s"].get<double>(); };
    CHECK(std::ranges::is_sorted(one["plans"]["best"], {}, rate));
    CHECK(one["speed"]["tokens_per_s"].get<double>() == Approx(-rate(one["plans"]["best"][0])));
  }
}

}  // namespace llmcalc::plan_lists
