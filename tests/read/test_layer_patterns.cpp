// Which layers of a model see everything, layer by layer as the models' own code has it.
#include "catch.hpp"
#include "llmcalc/spec/model.hpp"
#include "read/presets.hpp"

#include <string>
#include <variant>

using namespace llmcalc;

namespace {

/// 'G' for a layer that sees everything, 'w' for one with a window.
std::string pattern(const std::string& name) {
  const auto model = spec::build_model(read::Catalogue().model(name, "test").shape);
  std::string letters;
  for (const auto kind : model.layers) {
    const auto* attention = std::get_if<spec::GroupedAttention>(&model.kinds[kind].mixer);
    REQUIRE(attention != nullptr);
    letters += attention->window == 0 ? 'G' : 'w';
  }
  return letters;
}

}  // namespace

TEST_CASE("every sixth layer of Gemma 3 is global, and every second of Gemma 2, counted from the end of each group") {
  // transformers gemma3/configuration_gemma3.py: "sliding_attention" if (i + 1) % 6; 26 layers of the 1B.
  CHECK(pattern("gemma-3-1b") == "wwwwwGwwwwwGwwwwwGwwwwwGww");
  // transformers gemma2/modeling_gemma2.py: is_sliding = not bool(layer_idx % 2); 26 layers of the 2B.
  CHECK(pattern("gemma-2-2b") == "wGwGwGwGwGwGwGwGwGwGwGwGwG");
}
