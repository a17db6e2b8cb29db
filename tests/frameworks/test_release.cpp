// Since when what holds, against the releases on PyPI.
#include "catch.hpp"
#include "frameworks/release.hpp"

using namespace llmcalc;
using frameworks::Behaviour;
using spec::Library;
using spec::Release;

namespace {

spec::Software with(Library library, Release release) { return {{{library, release}}, {}, {}}; }
spec::Software at(spec::Date date) { return {{}, date, {}}; }

}  // namespace

TEST_CASE("nothing said is the present") { CHECK(frameworks::holds(Behaviour::checkpoint_dtype, {})); }

TEST_CASE("a release decides, then a date, then the date of another library's release") {
  CHECK_FALSE(frameworks::holds(Behaviour::grouped_heads_in_kernel, with(Library::transformers, {4, 53, 3})));
  CHECK(frameworks::holds(Behaviour::grouped_heads_in_kernel, with(Library::transformers, {4, 54, 0})));
  CHECK_FALSE(frameworks::holds(Behaviour::grouped_heads_in_kernel, at({2025, 6, 0})));
  CHECK(frameworks::holds(Behaviour::grouped_heads_in_kernel, at({2025, 8, 0})));
  CHECK_FALSE(frameworks::holds(Behaviour::cudnn_attention, with(Library::transformers, {4, 40, 0})));
}

TEST_CASE("a year alone is its middle: bitsandbytes 0.43.2 of July 2024 is not in it") {
  CHECK_FALSE(frameworks::holds(Behaviour::quantized_inputs_dropped, at({2024, 0, 0})));
  CHECK(frameworks::holds(Behaviour::quantized_inputs_dropped, at({2024, 8, 0})));
}

TEST_CASE("a release of that year says more: torchtune 0.1 of April 2024 ran before torchao 0.2 of May") {
  CHECK(frameworks::holds(Behaviour::nf4_made_in_chunks, at({2024, 0, 0})));
  auto software = with(Library::torchtune, {0, 1, 0});
  software.date = spec::Date{2024, 0, 0};
  CHECK_FALSE(frameworks::holds(Behaviour::nf4_made_in_chunks, software));
  software.date = spec::Date{2024, 6, 0};
  CHECK(frameworks::holds(Behaviour::nf4_made_in_chunks, software));
}
