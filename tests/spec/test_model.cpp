// Shapes that cannot be built are refused by the name of what is wrong.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "llmcalc/spec/model.hpp"
#include "read/presets.hpp"

using namespace llmcalc;

namespace {

spec::Shape shape_of(const std::string& model) { return read::Catalogue().model(model, "test").shape; }

std::string refused(const spec::Shape& shape) try {
  spec::build_model(shape);
  return "built";
} catch (const quantity::BadInput& error) {
  return error.place();
}

}  // namespace

TEST_CASE("parallel branches need attention and an MLP in every layer") {
  auto shape = shape_of("falcon-7b");
  REQUIRE(shape.parallel_residual);
  CHECK(refused(shape) == "built");
  shape.plan.assign(static_cast<std::size_t>(shape.layers), {});
  shape.plan.front().mlp = false;
  CHECK(refused(shape) == "parallel_residual");
  shape.plan.front() = {};
  shape.plan.back().mixer = spec::MixerWord::none;
  CHECK(refused(shape) == "parallel_residual");
}

TEST_CASE("a decoder attends to its encoder by plain attention") {
  auto shape = shape_of("t5-large");
  CHECK(refused(shape) == "built");
  shape.latent = {.q_rank = 64, .kv_rank = 64, .qk_nope_dim = 64, .qk_rope_dim = 32, .v_dim = 64};
  CHECK(refused(shape) == "decoder_layers");
}
