// What processors make of images against transformers' own, which scripts/compare-images ran and wrote the file of.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "spec/image.hpp"

#include <nlohmann/json.hpp>

#include <fstream>
#include <map>
#include <string>

using namespace llmcalc::spec;
using nlohmann::json;

namespace {

ImageFit fit_of(const std::string& word) {
  const std::map<std::string, ImageFit> fits{{"native", ImageFit::native}, {"longest-edge", ImageFit::longest_edge},
                                             {"tiles", ImageFit::tiles},   {"rows", ImageFit::rows},
                                             {"canvas", ImageFit::canvas}, {"grids", ImageFit::grids},
                                             {"budget", ImageFit::budget}};
  return fits.at(word);
}

ImageRule rule_of(const json& said) {
  ImageRule rule;
  rule.fit = fit_of(said.at("fit"));
  rule.patch = said.value("patch", 0);
  rule.merge = said.value("merge", 1);
  rule.least_pixels = said.value("least_pixels", 0);
  rule.most_pixels = said.value("most_pixels", 0);
  rule.edge = said.value("edge", 0);
  rule.most_tiles = said.value("most_tiles", 1);
  rule.tokens = said.value("tokens", 0);
  return rule;
}

}  // namespace

TEST_CASE("an image becomes as many positions and tokens as its processor makes of it") {
  Tower tower;
  tower.positions = 1025;
  std::ifstream file(LLMCALC_TEST_DATA "/spec/images.jsonl");
  int rows = 0;
  for (std::string line; std::getline(file, line); ++rows) {
    INFO(line);
    const json row = json::parse(line);
    const SeenImage image = seen(tower, rule_of(row.at("rule")), {row.at("width"), row.at("height")});
    CHECK(image.tiles == row.at("seen").at("tiles"));
    CHECK(image.positions == row.at("seen").at("positions"));
    CHECK(image.tokens == row.at("seen").at("tokens"));
    const auto most = static_cast<double>(largest(tower, rule_of(row.at("rule"))).tokens);
    CHECK(static_cast<double>(image.tokens) <= 1.05 * most);  // sides of other aspects are rounded to more
  }
  CHECK(rows > 1000);
}

// Logs of vLLM, v1/worker/gpu_model_runner.py: one image of Qwen2.5-VL, Qwen3-VL and Qwen3.5 has 16,384 tokens; 8,192
// tokens are two of Ministral 3. InternVL sees twelve tiles of 256 tokens and the whole image.
TEST_CASE("the largest image that a processor makes is what engines prepare for") {
  Tower tower;
  tower.positions = 1025;
  ImageRule rule{ImageFit::native, 16, 2, 65'536, 16'777'216};
  CHECK(largest(tower, rule).tokens == 16'384);
  CHECK(largest(tower, rule).positions == 65'536);
  rule = {ImageFit::native, 14, 2, 3'136, 12'845'056};
  CHECK(largest(tower, rule).tokens == Approx(16'384).epsilon(0.001));
  CHECK(8'192 / largest(tower, {ImageFit::longest_edge, 14, 2, 0, 0, 1'540}).tokens == 2);
  const SeenImage tiles = largest(tower, {ImageFit::tiles, 0, 1, 0, 0, 448, 12, 256});
  CHECK(tiles.tiles == 13);
  CHECK(tiles.tokens == 13 * 256);
  CHECK(largest(tower, {}).tokens == 0);
}

TEST_CASE("an image of which no rule tells what becomes is refused, as is one of no processor's aspect") {
  Tower tower;
  tower.positions = 32;
  CHECK_THROWS_AS(seen(tower, {}, {640, 480}), llmcalc::quantity::BadInput);
  const ImageRule native{ImageFit::native, 14, 2, 3136, 12'845'056};
  CHECK_THROWS_AS(seen(tower, native, {6030, 30}), llmcalc::quantity::BadInput);
}
