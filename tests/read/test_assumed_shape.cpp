// The shape that stands for a model of which only the size is known.
#include "catch.hpp"
#include "read/typed.hpp"
#include "spec/assumed_shape.hpp"

#include <cmath>
#include <string>
#include <string_view>

using namespace llmcalc;
using namespace llmcalc::test;

// Published sizes: Llama 1 and 2 (arXiv:2302.13971 table 2, arXiv:2307.09288 table 1), GPT-3 (arXiv:2005.14165).
TEST_CASE("an assumed shape counts what was asked for and is proportioned like a Llama") {
  for (const double size : {1.1e9, 6.74e9, 13.0e9, 32.5e9, 65.2e9, 69.0e9, 175e9, 405e9, 1e12}) {
    INFO(size);
    const auto asked = quantity::parameters(static_cast<std::int64_t>(size));
    const auto shape = spec::assumed_shape(asked);
    CHECK(std::abs(spec::count_assumed(shape) / asked - 1.0) < 0.03);
    const double aspect = static_cast<double>(shape.hidden) / static_cast<double>(shape.layers);
    CHECK(aspect > 100.0);
    CHECK(aspect < 160.0);
    CHECK(shape.heads * shape.head_dim == shape.hidden);
    CHECK(shape.kv_heads == (size < 30e9 ? shape.heads : 8));
    CHECK(std::abs(3.0 * static_cast<double>(shape.ffn) / static_cast<double>(8 * shape.hidden) - 1.0) < 0.1);
  }
}

// 13B: 40 layers of 5120 (arXiv:2302.13971 table 2).
TEST_CASE("an assumed 13B is Llama 13B") {
  const auto shape = spec::assumed_shape(quantity::parameters(13'015'864'320));
  CHECK(shape.layers == 40);
  CHECK(shape.hidden == 5120);
  CHECK(shape.ffn == 13824);
  CHECK(spec::count_assumed(shape) == quantity::parameters(13'015'864'320));
}

TEST_CASE("an assumed shape never counts more than was asked for, and misses it by little") {
  for (double size = 1e6; size <= 1e13; size *= 1.37) {
    INFO(size);
    const auto asked = quantity::parameters(static_cast<std::int64_t>(size));
    const auto counted = spec::count_assumed(spec::assumed_shape(asked));
    CHECK(counted <= asked);
    CHECK(counted / asked > 0.96);
  }
}

TEST_CASE("an assumed shape follows the dimensions that were said") {
  const auto shape_of = [](std::string_view words) {
    return ask("--params 7B " + std::string(words)).question.model.shape;
  };
  CHECK(shape_of("--layers 48").layers == 48);
  CHECK(shape_of("--layers 48").hidden < shape_of("").hidden);
  CHECK(shape_of("--hidden 5120").hidden == 5120);
  CHECK(shape_of("--hidden 5120").layers < shape_of("").layers);
  for (const auto words : {"--layers 48", "--hidden 5120", "--vocab 128256", "--kv-heads 8 --tied 1", "--ffn 14336"}) {
    INFO(words);
    const auto counted = spec::count_assumed(shape_of(words));
    CHECK(counted <= quantity::parameters(7'000'000'000));
    CHECK(counted > quantity::parameters(6'700'000'000));
  }
}

TEST_CASE("a size that makes no model, or not the one described, is refused") {
  CHECK_THROWS_WITH(ask("--params 7"), Catch::Matchers::Contains("too small"));
  CHECK_THROWS_WITH(ask("--params 1B --layers 64 --hidden 8192"), Catch::Matchers::Contains("fewer than"));
  CHECK_THROWS_WITH(ask("--params 7B --experts 8 --top-k 2"), Catch::Matchers::Contains("not described by its size"));
}

TEST_CASE("no size makes an assumed shape that cannot be built") {
  for (double size = 1e6; size <= 1e15; size *= 3) {
    INFO(size);
    CHECK_NOTHROW(ask("--params " + std::to_string(static_cast<std::int64_t>(size))));
  }
}
