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

TEST_CASE("a size that nobody can build is refused by its name, in whatever kind of model it stands") {
  struct Size {
    std::string model, field;
    std::int64_t& (*of)(spec::Shape& shape);
  };
  for (const auto& [model, field, of] : {
           Size{"llama-3-8b", "layers", [](spec::Shape& s) -> auto& { return s.layers;
}
}
, Size{"llama-3-8b", "hidden", [](spec::Shape& s) -> auto& {return s.hidden;
}
}
, Size{"llama-3-8b", "ffn", [](spec::Shape& s) -> auto& {return s.ffn;
}
}
, Size{"llama-3-8b", "vocab", [](spec::Shape& s) -> auto& {return s.vocab;
}
}
, Size{"llama-3-8b", "extra", [](spec::Shape& s) -> auto& {return s.extra;
}
}
, Size{"llama-3-8b", "position_rows", [](spec::Shape& s) -> auto& {return s.position_rows;
}
}
, Size{"mixtral-8x7b", "experts", [](spec::Shape& s) -> auto& {return s.moe.experts;
}
}
, Size{"mixtral-8x7b", "top_k", [](spec::Shape& s) -> auto& {return s.moe.top_k;
}
}
, Size{"mixtral-8x7b", "expert_ffn", [](spec::Shape& s) -> auto& {return s.moe.expert_ffn;
}
}
, Size{"mixtral-8x7b", "shared_ffn", [](spec::Shape& s) -> auto& {return s.moe.shared_ffn;
}
}
, Size{"mixtral-8x7b", "dense_layers", [](spec::Shape& s) -> auto& {return s.moe.dense_layers;
}
}
, Size{"mixtral-8x7b", "moe_every", [](spec::Shape& s) -> auto& {return s.moe.every;
}
}
, Size{"deepseek-v3", "kv_rank", [](spec::Shape& s) -> auto& {return s.latent.kv_rank;
}
}
, Size{"deepseek-v3", "q_rank", [](spec::Shape& s) -> auto& {return s.latent.q_rank;
}
}
, Size{"deepseek-v3", "v_dim", [](spec::Shape& s) -> auto& {return s.latent.v_dim;
}
}
, Size{"deepseek-v3", "qk_nope_dim", [](spec::Shape& s) -> auto& {return s.latent.qk_nope_dim;
}
}
,
}) {
  CAPTURE(model, field);
  CHECK(refused(shape_of(model)) == "built");
  for (const std::int64_t size : {std::int64_t{-1}, std::int64_t{1} << 60}) {
    auto shape = shape_of(model);
    of(shape) = size;
    CHECK(refused(shape) == field);
  }
}
auto shape = shape_of("mixtral-8x7b");
shape.moe.top_k = shape.moe.experts + 1;  // a token cannot go to more experts than there are
CHECK(refused(shape) == "top_k");
}
