// Model presets that carry the model's public config.json: read as such a file of a person is.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/config.hpp"
#include "read/presets.hpp"
#include "read/presets/embedded_presets.hpp"
#include "read/presets/names.hpp"
#include "read/shape_difference.hpp"

#include <algorithm>

using Catch::Matchers::Contains;
using namespace llmcalc;
using read::Catalogue;

namespace {

Catalogue with_models(const std::string& json) { return Catalogue({{"mine.json", json}}, {}); }

quantity::BadInput preset_mistake(const std::string& json) {
  try {
    with_models(json);
  } catch (const quantity::BadInput& error) {
    return error;
  }
  FAIL("nothing was refused");
  return {"", ""};
}

}  // namespace

TEST_CASE("a preset's config.json is read by the family that reads such a file") {
  int carried = 0;
  for (const auto& preset : Catalogue().models()) {
    if (preset.config.empty()) continue;
    CAPTURE(preset.id);
    ++carried;
    auto file = read::read_config(preset.config, "config.json").shape;
    file.name = preset.id;
    CHECK(difference(preset.shape, file).empty());
    CHECK(preset.shape.plan == file.plan);
    const auto families = read::embedded_families();
    const auto family = std::find_if(families.begin(), families.end(), [&](const auto& one) {
      return read::PresetNames{one.id, read::split_aliases(one.aliases), {}}.contains(preset.family);
    });
    REQUIRE(family != families.end());
    spec::Writing written = preset.shape.writing;
    written.masks_images = family->writing.masks_images;  // what stands around the text model says it
    written.sublayers = family->writing.sublayers;        // a number, which is read with a file
    written.chained_gelu = family->writing.chained_gelu;  // an activation, which a file names
    CHECK(family->writing == written);
  }
  CHECK(carried == 312);
}

TEST_CASE("layers, towers and images of a config.json are those of the preset") {
  const auto gemma = Catalogue().model("google/gemma-4-E4B-it", "--model");
  REQUIRE(gemma.shape.plan.size() == 42);
  const auto borrowing = std::count_if(gemma.shape.plan.begin(), gemma.shape.plan.end(),
                                       [](const spec::LayerPlan& layer) { return layer.borrows_keys; });
  CHECK(borrowing == 18);  // "Shared KV cache across the last 18 layers": Megatron-Bridge, recipes/gemma/h100/gemma4.py
  CHECK(gemma.shape.plan[5].head_dim == 512);
  REQUIRE(gemma.shape.towers.size() == 2);
  const auto mistral = Catalogue().model("mistral-small-3.2", "--model");
  REQUIRE(mistral.images.size() == 1);
  CHECK(mistral.images[0].fit == spec::ImageFit::longest_edge);
  CHECK(mistral.images[0].edge == 1540);
}

TEST_CASE("a variation of such a preset says the keys that differ") {
  const auto catalogue = with_models(
      R"([{"id": "wide", "base": "ministral-3-3b", "config": {"text_config": {"intermediate_size": 10000}}},
          {"id": "same", "base": "wide"}])");
  const auto base = catalogue.model("ministral-3-3b", "--model");
  for (const auto* name : {"wide", "same"}) {
    const auto wide = catalogue.model(name, "--model");
    CHECK(wide.shape.ffn == 10000);
    CHECK(wide.shape.hidden == base.shape.hidden);
    CHECK(wide.shape.towers.size() == 1);
    CHECK_FALSE(wide.published.exact.has_value());
  }
}

/// A key that a published file sets to null is no default of its family's: Mistral's configuration takes 4,096 where
/// nothing is said.
TEST_CASE("a window is one that the model's own file says") {
  for (const auto& preset : Catalogue().models()) {
    if (preset.config.empty() || preset.shape.window.window == 0) continue;
    CAPTURE(preset.id);
    CHECK_THAT(preset.config, Contains("window") || Contains("local_attention") || Contains("chunk"));
  }
}

TEST_CASE("a user's config is read by the user's families") {
  const std::string model = R"({"id": "m", "config": {"model_type": "mine", "num_hidden_layers": 2, "hidden_size": 64,
    "num_attention_heads": 4, "intermediate_size": 128, "vocab_size": 100, "max_position_embeddings": 64}})";
  const Catalogue catalogue({{"mine.json", model}}, {},
                            {{"families.json", R"({"id": "mine", "like": "llama", "source": "ours"})"}});
  CHECK(catalogue.model("m", "--model").shape.layers == 2);
}

TEST_CASE("mistakes in a preset's config are named with their place") {
  const auto beside = preset_mistake(R"([{"id": "m", "base": "ministral-3-3b", "layers": 3}])");
  CHECK(beside.place() == "mine.json:/0/layers");
  CHECK_THAT(beside.hint(), Contains("\"config\""));
  CHECK(preset_mistake(R"([{"id": "m", "config": 3}])").place() == "mine.json:/0/config");
  const auto unknown = preset_mistake(R"([{"id": "m", "config": {"model_type": "lama"}}])");
  CHECK_THAT(unknown.place(), Contains("mine.json:/0/config"));
  CHECK_THAT(unknown.hint(), Contains("llama"));
  CHECK_THAT(preset_mistake(R"([{"id": "m", "config": {"model_type": "llama"}}])").problem(), Contains("hidden_size"));
}
