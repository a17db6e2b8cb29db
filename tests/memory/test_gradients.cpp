// Buffers of gradients that tensors share, and what waits for deferred weight gradients, on blocks of a few tensors.
#include "asked.hpp"
#include "catch.hpp"
#include "memory/inner/liveness.hpp"
#include "timing/inner/pipeline.hpp"

using namespace llmcalc;
using quantity::bytes;
using quantity::in_bytes;
using quantity::in_seconds;
using quantity::seconds;

namespace {

layers::Block block_of(int tensors) {
  layers::Block block;
  for (int i = 0; i < tensors; ++i) block.tensors.push_back({"tensor", bytes(100), bytes(100)});
  return block;
}

}  // namespace

// pytorch torch/csrc/autograd/input_buffer.cpp, accumulate: in place only where nobody else holds the first gradient.
TEST_CASE("a second gradient is added in place unless somebody shares the first") {
  const auto block = block_of(2);
  memory::HighWater alone;
  memory::Gradients unshared(block, alone);
  unshared.arrive(0);
  unshared.arrive(0);
  CHECK(alone.live() == 100);
  CHECK(alone.peak() == 200);

  memory::HighWater water;
  memory::Gradients shared(block, water);
  shared.arrive(0);
  shared.pass(0, 1);
  CHECK(water.live() == 100);
  shared.arrive(1);
  CHECK(water.live() == 200);
  shared.release(0);
  CHECK(water.live() == 100);
  shared.release(1);
  CHECK(water.live() == 0);
}

TEST_CASE("more gradients may come and go than a block has tensors") {
  const auto block = block_of(2);
  memory::HighWater water;
  memory::Gradients gradients(block, water);
  for (int i = 0; i < 1000; ++i) {
    gradients.arrive(0);
    gradients.arrive(0);
    gradients.release(0);
  }
  CHECK(water.live() == 0);
  CHECK(water.peak() == 200);
}

TEST_CASE("an input that two matrices keep waits for their gradients once") {
  auto block = block_of(3);
  block.weights = {test::matrix(10, 10), test::matrix(10, 10)};
  for (const layers::WeightId weight : {layers::WeightId{0}, layers::WeightId{1}}) {
    layers::Op op;
    op.kind = layers::OpKind::linear;
    op.inputs = {0};
    op.outputs = {static_cast<layers::TensorId>(1 + weight)};
    op.saved = {0};
    op.weight = weight;
    block.ops.push_back(op);
  }
  CHECK(in_bytes(memory::deferred_by(block)) == 100 + 2 * 100);
}

// Each of p - 1 hops is waited for once forward and once backward, and a stage of 1F1B waits for what it sends and
// receives between two of m micro-batches; interleaved stages send while they work.
TEST_CASE("stages wait for what they hand on, there and back") {
  spec::Layout layout;
  layout.pp = 4;
  CHECK(in_seconds(timing::handing_on(layout, 8, seconds(1.0))) == Approx(2.0 * (3 + 7)));
  layout.vpp = 2;
  CHECK(in_seconds(timing::handing_on(layout, 8, seconds(1.0))) == Approx(2.0 * 3));
  layout.pp = layout.vpp = 1;
  CHECK(in_seconds(timing::handing_on(layout, 8, seconds(1.0))) == 0.0);
}
