// A limit is kept by what is as much as it and missed by what is more, whichever verb takes it, strict or not.
#include "catch.hpp"
#include "cli/run.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <functional>
#include <string>
#include <vector>

namespace llmcalc::limits_law {
namespace {

using nlohmann::json;
using Words = std::vector<std::string>;
using Figure = std::function<double(const json& answer)>;

double in(const json& answer, const std::string& pointer) {
  return answer.at(json::json_pointer(pointer)).get<double>();
}

Figure at(const std::string& pointer) {
  return [pointer](const json& answer) { return in(answer, pointer); };
}

/// A figure of an answer and the option that bounds it.
struct Limit {
  std::string option;
  Figure figure;
  std::string unit;
  bool is_least = false;  ///< of what must be left
};

double days(const json& run) { return in(run, "/time/total_seconds") / 86400; }
double surely_left(const json& run) { return in(run, "/capacity_bytes") - in(run, "/error_bar/high_bytes"); }
/// An engine that takes a share of the memory takes it whole.
double taken(const json& server) {
  const bool reserves = in(server, "/engine/memory_fraction") < 1;
  const double cache = std::max(reserves ? in(server, "/kv/bytes") : 0, in(server, "/kv/needed_bytes"));
  return in(server, "/memory/held_bytes") + in(server, "/memory/beside_bytes") + cache;
}
double left(const json& server) { return in(server, "/memory/capacity_bytes") - taken(server); }
double left_by_plan(const json& plan) { return in(plan, "/capacity_bytes") - in(plan, "/best/0/figures/needed_bytes"); }
double days_of_plan(const json& plan) { return in(plan, "/best/0/figures/total_seconds") / 86400; }

const std::vector<Limit> of_a_run{{"--max-memory", at("/needed_bytes"), "B"},
                                  {"--margin", at("/headroom_bytes"), "B", true},
                                  {"--max-days", days, ""},
                                  {"--max-cost", at("/time/cost_usd"), ""}};
const std::vector<Limit> of_a_strict_run{{"--max-memory", at("/error_bar/high_bytes"), "B"},
                                         {"--margin", surely_left, "B", true}};
const std::vector<Limit> of_a_server{
    {"--ttft", at("/speed/ttft_s"), "s"},
    {"--tpot", at("/speed/tpot_s"), "s"},
    {"--ttft-p95", at("/speed/tail/ttft/p95_s"), "s"},
    {"--tpot-p95", at("/speed/tail/tpot/p95_s"), "s"},
    {"--max-cost-per-hour", at("/speed/cost/usd_per_hour"), ""},
    {"--max-cost-per-million", at("/speed/cost/output_with_prompts_usd_per_million"), ""},
    {"--max-memory", taken, "B"},
    {"--margin", left, "B", true}};
const std::vector<Limit> of_a_plan{{"--max-memory", at("/best/0/figures/needed_bytes"), "B"},
                                   {"--margin", left_by_plan, "B", true},
                                   {"--max-days", days_of_plan, ""},
                                   {"--max-cost", at("/best/0/figures/cost_usd"), ""}};

cli::Outcome asked(Words words, const Words& more) {
  words.insert(words.end(), more.begin(), more.end());
  return cli::run(words, cli::Environment{});
}

/// \param telling  words that have an answer tell a figure, and that change none
void check(const Words& question, const std::vector<Limit>& limits, const Words& telling = {}) {
  auto whole = telling;
  whole.insert(whole.end(), {"--format", "json"});
  const auto free = asked(question, whole);
  REQUIRE(free.code == ExitCode::fits);
  const json answer = json::parse(free.answer);
  for (const Limit& limit : limits) {
    const double value = limit.figure(answer);
    CAPTURE(question, limit.option, value);
    REQUIRE(value > 0);
    const auto code_at = [&](double most) {
      const auto text = limit.unit == "B" ? fmt::format("{:.0f}", most) : fmt::format("{:.12f}", most);
      const auto judged = asked(question, {limit.option, text + limit.unit, "--format", "json"});
      const json told = json::parse(judged.answer);
      if (told.contains("limits") && limit.unit != "B")
        CHECK(told["limits"]["kept"] == (judged.code == ExitCode::fits));
      return judged.code;
    };
    const double little = limit.is_least ? -1e-4 : 1e-4;
    CHECK(code_at(value * (1 + little)) == ExitCode::fits);
    CHECK(code_at(value * (1 - little)) == ExitCode::does_not_fit);
  }
}

}  // namespace

TEST_CASE("a limit of a run is kept by what is as much and missed by what is more") {
  check({"fit", "llama-3.2-1b", "--tokens", "2B", "--gpu", "h100-sxm:8"}, of_a_run);
  check({"fit", "llama-3.2-1b", "--tokens", "2B", "--gpu", "4090", "--method", "qlora", "--price", "2"}, of_a_run);
  check({"fit", "llama-3.2-1b", "--gpu", "h100-sxm:8", "--strict"}, of_a_strict_run);
}

TEST_CASE("a limit of a server is kept by what is as much and missed by what is more") {
  for (const std::string engine : {"vllm", "tensorrt-llm", "llama.cpp"}) {
    check({"serve", "llama-3-8b", "--engine", engine, "--gpu", "h100-sxm", "--context", "8k", "--prompt", "1k",
           "--output", "100", "--rate", "1"},
          of_a_server, {"--ttft-p95", "1h"});
  }
}

/// One layout alone is looked at, so that no other takes its place.
TEST_CASE("a limit of a plan is kept by what is as much and missed by what is more") {
  check({"plan",       "llama-3.2-1b", "--gpu",       "a100-80:2", "--seq",     "1k",   "--global-batch",
         "2",          "--tp",         "1",           "--pp",      "1",         "--cp", "1",
         "--sharding", "ddp",          "--recompute", "none",      "--offload", "none", "--micro-batch",
         "1",          "--tokens",     "1B"},
        of_a_plan);
}

}  // namespace llmcalc::limits_law
