// A card of a generation that nobody has measured: under every engine and trainer it is told by the nearest generation,
// by its own peaks and bandwidth, its bars are wider, and the answer says so.
#include "api/asked.hpp"
#include "catch.hpp"
#include "frameworks/table.hpp"
#include "read/presets.hpp"
#include "serving/engine.hpp"
#include "spec/names.hpp"

#include <algorithm>

using namespace llmcalc;
using quantity::in_seconds;

namespace {

/// "new" is B200 under another name; "better" has twice of all that it has.
constexpr std::string_view cards = R"([
  {"id": "new", "base": "b200-sxm", "arch": "Invented", "year": 2026},
  {"id": "better", "base": "new", "memory": {"nominal_gb": 360, "usable_mib": 365260, "bandwidth_gb_s": 16000},
   "peak_tflops": {"fp64": 74, "fp64_matrix": 74, "fp32": 150, "tf32": 2250, "fp16": 4500, "bf16": 4500, "fp8": 9000,
                   "int8": 9000, "fp4": 18000},
   "tdp_w": 2000, "interconnect": {"one_way_gb_s": 1800, "both_ways_gb_s": 3600}, "pcie": {"one_way_gb_s": 126}}])";

const read::Catalogue& catalogue() {
  static const read::Catalogue known({}, {{"cards.json", std::string(cards)}});
  return known;
}

std::vector<read::Given> words(const std::vector<std::pair<std::string, std::string>>& pairs) {
  std::vector<read::Given> given;
  for (const auto& [term, text] : pairs) given.push_back({term, text, {read::Source::flag, "--" + term}});
  return given;
}

bool says(const std::vector<std::string>& lines, std::string_view part) {
  return std::ranges::any_of(lines, [&](const std::string& line) { return line.find(part) != std::string::npos; });
}

serving::ServingAnswer served(std::string_view engine, const std::string& gpu, const std::string& quant) {
  const auto given = words(
      {{"model", "llama-3-70b"}, {"engine", std::string(engine)}, {"quant", quant}, {"gpu", gpu}, {"context", "8k"}});
  return api::serve(given, std::nullopt, catalogue(), {}).answer;
}

answer::Estimate trained(const frameworks::FrameworkRow& row, const std::string& gpu) {
  std::vector<std::pair<std::string, std::string>> said{{"model", "llama-3-8b"},
                                                        {"framework", std::string(row.words.front())},
                                                        {"gpu", gpu},
                                                        {"seq", "2k"},
                                                        {"micro-batch", "1"}};
  if (row.asks_for_batch) said.emplace_back("grad-accum", "1");
  return api::fit(words(said), std::nullopt, catalogue()).estimate;
}

}  // namespace

TEST_CASE("servers on a card of a new generation are told by the nearest") {
  for (const serving::EngineRow& row : serving::all_engines()) {
    const auto engine = spec::name_of(row.engine);
    const std::string quant = spec::reads_gguf(row.engine) ? "q4_k_m" : "bf16";
    INFO(engine);
    const auto nearest = served(engine, "b200-sxm", quant);
    const auto unknown = served(engine, "new", quant);
    const auto better = served(engine, "better", quant);
    REQUIRE((nearest.speed && unknown.speed && better.speed));
    CHECK(in_seconds(unknown.speed->tpot) == Approx(in_seconds(nearest.speed->tpot)));
    // What transformers takes for a token is the host's launches.
    const bool by_host = !row.reserves && !spec::reads_gguf(row.engine);
    CHECK(better.speed->tpot <= (by_host ? 1.001 : 0.75) * unknown.speed->tpot);
    CHECK(better.speed->ttft < unknown.speed->ttft);
    CHECK(unknown.speed->tpot_bar.above > nearest.speed->tpot_bar.above);
    CHECK(unknown.speed->ttft_bar.above > nearest.speed->ttft_bar.above);
    CHECK(says(unknown.notes, "nothing was measured on Invented"));
    CHECK_FALSE(says(nearest.notes, "not measured"));
  }
}

TEST_CASE("trainers on a card of a new generation are told by the nearest") {
  for (const frameworks::FrameworkRow* row : frameworks::rows()) {
    INFO(row->words.front());
    const auto nearest = trained(*row, "b200-sxm").compute;
    const auto estimate = trained(*row, "new");
    const auto& unknown = estimate.compute;
    const auto better = trained(*row, "better").compute;
    CHECK(in_seconds(unknown.step) == Approx(in_seconds(nearest.step)));
    CHECK(better.step < unknown.step);
    CHECK(unknown.error.below > nearest.error.below);
    CHECK(says(estimate.notes, "nothing was measured on Invented"));
  }
}

TEST_CASE("a generation is told by the newest that is not newer, of its make and kind of memory") {
  const auto nearest = [](std::string vendor, std::int64_t year, std::string memory) {
    spec::Accelerator gpu;
    gpu.vendor = std::move(vendor);
    gpu.arch = "Invented";
    gpu.year = year;
    gpu.memory_type = std::move(memory);
    read::Catalogue().add_rates(gpu);
    CHECK(gpu.generation.is_nearest);
    CHECK(gpu.rates.stands_in);
    return std::string(gpu.generation.id);
  };
  CHECK(nearest("NVIDIA", 2026, "HBM4") == "blackwell");
  CHECK(nearest("NVIDIA", 2023, "HBM3") == "hopper");
  CHECK(nearest("NVIDIA", 2014, "HBM") == "pascal");
  CHECK(nearest("NVIDIA", 2026, "GDDR7") == "blackwell-graphics");
  CHECK(nearest("AMD", 2026, "HBM4") == "cdna4");
  CHECK(nearest("Nobody", 2022, "HBM2") == "hopper");
}
