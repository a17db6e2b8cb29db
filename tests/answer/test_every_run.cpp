// Whatever can be asked in the words of the tables is answered, or refused by the name of what is wrong. The tables
// are those of the program, so that a preset, framework or method is asked about as soon as it is there.

#include "api/asked.hpp"
#include "asking.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets/embedded_presets.hpp"
#include "spec/names.hpp"

#include <algorithm>
#include <set>
#include <string>

using namespace llmcalc;

namespace {

std::vector<std::string> models() {
  std::vector<std::string> names;
  for (const auto& preset : read::Catalogue().models()) names.push_back(preset.id);
  return names;
}

/// With the model read, once for all that is asked of it.
read::Catalogue catalogue_with(const read::EmbeddedPreset& model) {
  return {{{std::string(model.file), std::string(model.json)}}, {}};
}

/// Whether the question is answered; one that is refused is refused by name.
bool is_answered(const std::string& line, bool with_advice, const read::Catalogue& catalogue = {}) {
  CAPTURE(line);
  try {
    const auto estimate = with_advice ? api::fit(test::words(line), std::nullopt, catalogue).estimate
                                      : answer::estimate(test::question(line, catalogue));
    const bool counts =
        estimate.memory.peak_needed > quantity::bytes(0) && std::isfinite(in_seconds(estimate.compute.step));
    if (!counts) FAIL_CHECK("an answer without a figure");
    if (estimate.compute.mfu > 1.0) FAIL_CHECK("a step faster than the accelerator multiplies");
    return counts;
  } catch (const quantity::BadInput& error) {
    if (error.place().empty() || error.problem().empty()) FAIL_CHECK(error.what());
  } catch (const std::exception& error) {
    FAIL_CHECK(error.what());
  }
  return false;
}

}  // namespace

/// Methods in turn, a step further for the next model: each framework meets each method with every twelfth model, and
/// families of models, whose sizes stand behind each other, meet all of both.
TEST_CASE("every preset, framework and method is answered or refused by name", "[long]") {
  const auto frameworks = test::words_for<spec::Framework>();
  const auto methods = test::words_for<spec::Method>();
  std::size_t answered = 0;
  std::size_t asked = 0;
  std::size_t turn = 0;
  for (const auto& model : read::embedded_models()) {
    const auto catalogue = catalogue_with(model);
    std::size_t next = turn++;
    for (const auto& framework : frameworks) {
      const std::string line = "--model " + std::string(model.id) + " --framework " + framework + " --method " +
                               methods[next++ % methods.size()] + " --gpu h200-sxm";
      answered += is_answered(line, false, catalogue) ? 1U : 0U;
      ++asked;
    }
  }
  CHECK(answered > asked / 4);
}

TEST_CASE("every accelerator answers for every framework", "[long]") {
  const auto frameworks = test::words_for<spec::Framework>();
  for (const auto& gpu : read::Catalogue().accelerators()) {
    for (const auto& framework : frameworks) {
      const std::string line = "--model qwen2.5-0.5b --framework " + framework + " --gpu " + gpu.accelerator.id;
      // What runs programs that XLA compiled refuses frameworks that have none, by name.
      const bool is_compiled = !gpu.accelerator.generation.can(spec::Ability::eager);
      CHECK((is_answered(line, false) || is_compiled));
    }
  }
}

/// Work of large products alone, the fastest that there is: 145B parameters (Narayanan et al. 2021), 64 sequences at
/// once.
TEST_CASE("no accelerator multiplies beyond its peak but those that were measured to, which say so", "[long]") {
  std::set<std::string> beyond;
  for (const auto& gpu : read::Catalogue().accelerators()) {
    for (const std::string compute : {"bf16", "fp8-e4m3"}) {
      const auto& id = gpu.accelerator.id;
      const std::string line =
          "--model megatron-145b --micro-batch 64 --dtype bf16 --compute " + compute + " --gpu " + id;
      CAPTURE(line);
      try {
        const auto estimate = answer::estimate(test::question(line));
        const bool above = std::ranges::any_of(estimate.compute.flops, [](const answer::FlopFigure& figure) {
          return figure.id != std::string_view("full_square") && figure.utilization > 1.0;
        });
        const auto says = [](const std::string& warning) { return warning.find("measured beyond") != warning.npos; };
        CHECK(std::ranges::any_of(estimate.warnings, says) == above);
        if (above) beyond.insert(id);
      } catch (const quantity::BadInput&) {  // what has no products in that type
      }
    }
  }
  // cuBLASLt at its best size: 179.2 of 165.2 and 254.0 of 209.5 TFLOP/s (presets/rates, xzwgit/gpu-flops-bench); the
  // others by torch, 63.6 of 59.5, 76.6 of 71 and 47.5 of 44.1 (zzc0721/torch-performance-test-data).
  const std::set<std::string> measured{"rtx-3080-10", "rtx-3090", "rtx-4060-ti-16", "rtx-4090", "rtx-5090"};
  CHECK(std::ranges::includes(measured, beyond));
  CHECK(beyond.contains("rtx-4090"));
  CHECK(beyond.contains("rtx-5090"));
}

TEST_CASE("every preset is advised whatever is trained of it", "[long]") {
  const auto methods = test::words_for<spec::Method>();
  std::size_t turn = 0;
  for (const auto& model : models()) {
    const std::string method = methods[turn++ % methods.size()];
    is_answered("--model " + model + " --framework hf --method " + method + " --gpu a100-80", true);
  }
}
