// What is said of a run's prices, machines, failures and data holds in a search as in the run that it ends in.
#include "catch.hpp"
#include "cli/run.hpp"
#include "dialects/shell/shell.hpp"

#include <nlohmann/json.hpp>

#include <string>
#include <vector>

namespace llmcalc::plan_circumstances {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;

json answer_of(const Words& words) {
  Words all = words;
  all.insert(all.end(), {"--format", "json"});
  return json::parse(cli::run(all, cli::Environment{}).answer);
}

Words typed(const std::string& command) {
  Words words;
  const auto script = dialects::parse_shell(command, "command");
  for (const auto& word : script.commands.at(0).words) words.push_back(word.text);
  words.erase(words.begin());
  return words;
}

/// A plan of small layouts, and the run that it prints. \return  the figures of the best
json check(const Words& said) {
  Words words{
      "plan", "llama-3.2-1b", "--gpu", "h100-sxm:16", "--framework", "torchtitan",     "--seq", "2k",          "--tp",
      "1",    "--pp",         "1",     "--cp",        "1",           "--global-batch", "64",    "--recompute", "none"};
  words.insert(words.end(), said.begin(), said.end());
  CAPTURE(said);
  const json plan = answer_of(words);
  REQUIRE(!plan["best"].empty());
  json figures = plan["best"][0]["figures"];
  const json run = answer_of(typed(plan["fit_command"].get<std::string>()));
  CHECK(run["needed_bytes"] == figures["needed_bytes"]);
  const json& time = run["time"];
  CHECK(time["step_seconds"].get<double>() == Approx(figures["step_seconds"].get<double>()));
  CHECK(time["total_seconds"].get<double>() == Approx(figures["total_seconds"].get<double>()));
  CHECK(time["cost_usd"].get<double>() == Approx(figures["cost_usd"].get<double>()));
  CHECK(time["energy"]["kilowatt_hours"].get<double>() == Approx(figures["energy_kwh"].get<double>()));
  return figures;
}

}  // namespace

TEST_CASE("whatever is said of a run's circumstances changes a plan, and the run that it prints as much") {
  const json plain = check({"--tokens", "10B"});
  struct Said {
    Words words;
    const char* figure;
    double times;  ///< as much of it as without; 0: another
  };
  const std::vector<Said> circumstances{
      {{"--tokens", "20B"}, "total_seconds", 0},
      {{"--tokens", "10B", "--price", "399"}, "cost_usd", 100},
      {{"--tokens", "10B", "--pue", "2.5"}, "energy_kwh", 0},
      {{"--tokens", "10B", "--power", "10kW"}, "energy_kwh", 0},
      {{"--tokens", "10B", "--inter-node-gbps", "1"}, "step_seconds", 0},
      {{"--tokens", "10B", "--mtbf", "100"}, "total_seconds", 0},
      {{"--tokens", "10B", "--restart-time", "10h", "--mtbf", "1000"}, "total_seconds", 0},
      {{"--samples", "1M", "--epochs", "3"}, "total_seconds", 0},
      {{"--tokens", "10B", "--nodes", "4"}, "step_seconds", 0}};
  for (const auto& each : circumstances) {
    const json figures = check(each.words);
    CAPTURE(each.words, each.figure);
    const auto of = [&](const json& all) { return all[each.figure].get<double>(); };
    CHECK(of(figures) != Approx(of(plain)));
    if (each.times > 0) CHECK(of(figures) == Approx(each.times * of(plain)));
  }
  const double once = check({"--samples", "1M", "--epochs", "1"})["total_seconds"].get<double>();
  CHECK(check({"--samples", "1M", "--epochs", "4"})["total_seconds"].get<double>() == Approx(4 * once).epsilon(0.01));
}

}  // namespace llmcalc::plan_circumstances
