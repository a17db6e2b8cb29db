// --image-size: what a family's processor makes of it, and which runs have no use for it.
#include "llmcalc/quantity/error.hpp"
#include "typed.hpp"

#include <algorithm>
#include <optional>
#include <string>

using namespace llmcalc;

namespace {

const read::ConfigText qwen2_vl{"config.json",
                                R"({"model_type": "qwen2_vl", "hidden_size": 1536, "num_hidden_layers": 28,
    "num_attention_heads": 12, "num_key_value_heads": 2, "intermediate_size": 8960, "vocab_size": 151936,
    "max_position_embeddings": 32768, "vision_config": {"depth": 32, "embed_dim": 1280, "mlp_ratio": 4,
    "num_heads": 16, "hidden_size": 1536, "patch_size": 14, "spatial_merge_size": 2, "temporal_patch_size": 2}})"};

read::Resolved asked(std::string_view line, const std::optional<read::ConfigText>& config = qwen2_vl) {
  auto given = test::words(line);
  given.push_back({"framework", "generic", {read::Source::flag, "--framework"}});
  return read::resolve(given, config, read::Catalogue());
}

quantity::BadInput mistake(std::string_view line, const std::optional<read::ConfigText>& config = qwen2_vl) {
  try {
    asked(line, config);
  } catch (const quantity::BadInput& error) {
    return error;
  }
  FAIL("accepted: " << line);
  return {"", ""};
}

}  // namespace

// Qwen2VLImageProcessor rounds 1024 x 768 to 1036 x 756: 74 x 54 patches, of which four make a token.
TEST_CASE("an image is as many patches as its processor makes of it, and says how many tokens that is") {
  const auto resolved = asked("--seq 4096 --image-size 1024x768");
  CHECK(resolved.question.training.patches == 74 * 54);
  CHECK(resolved.question.training.images == 1);
  const auto said = [](const spec::Assumption& one) { return one.words.find("999 tokens") != std::string::npos; };
  CHECK(std::ranges::any_of(resolved.assumptions, said));
  CHECK(asked("--seq 4096 --image-size 560").question.training.patches == 40 * 40);
}

TEST_CASE("images have room in their sequence, and a size of this world") {
  CHECK(mistake("--seq 998 --image-size 1024x768").hint() == "--seq 999");
  CHECK(mistake("--seq 1998 --images 3 --image-size 1024x768").hint() == "--seq 2997");
  for (const auto* size : {"0", "0x5", "5x", "x", "-3", "12y5", "65536", "1x2x3"}) {
    CAPTURE(size);
    CHECK(mistake("--seq 4096 --image-size " + std::string(size)).place() == "--image-size");
  }
}

// Whatever a file says of its tower is read before anybody asks about images.
TEST_CASE("a tower whose patches are of no size is read, and of its images nothing is known") {
  for (const auto& [said, instead] : {std::pair{"\"patch_size\": 14", "\"patch_size\": 0"},
                                      {"\"spatial_merge_size\": 2", "\"spatial_merge_size\": 0"}}) {
    CAPTURE(instead);
    auto config = qwen2_vl;
    config.json.replace(config.json.find(said), std::string(said).size(), instead);
    CHECK(asked("--seq 4096", config).question.model.shape.towers.front().most_tokens == 0);
    CHECK(mistake("--seq 4096 --image-size 512", config).place() == "--image-size");
  }
  CHECK(asked("--seq 4096").question.model.shape.towers.front().most_tokens == 16'384);
}

TEST_CASE("the size of images is of no use where none are seen or something else says what the tower runs over") {
  CHECK(mistake("--seq 4096 --image-size 512 --patches 100").place() == "--image-size");
  CHECK(mistake("--seq 4096 --image-size 512 --text-only true").place() == "--image-size");
  CHECK(mistake("--params 1e9 --seq 4096 --image-size 512", std::nullopt).place() == "--image-size");
}
