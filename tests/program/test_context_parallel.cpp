// Context parallelism: what ring and all-to-all exchange, keep and hold meanwhile.

#include "catch.hpp"
#include "memory/block_walk.hpp"
#include "program/count.hpp"
#include "questions.hpp"
#include "read/presets.hpp"

#include <algorithm>

using namespace llmcalc;
using layers::Collective;
using quantity::in_bytes;
using spec::ContextExchange;

namespace {

constexpr std::int64_t seq = 32768;
constexpr std::int64_t ranks = 8;
constexpr std::int64_t tokens = seq / ranks;
constexpr std::int64_t query_bytes = 2 * tokens * 64 * 128;    ///< Llama 3 70B: 64 heads of 128 in bf16
constexpr std::int64_t pair_bytes = 2 * tokens * 2 * 8 * 128;  ///< 8 key and 8 value heads

spec::Question llama(std::int64_t cp, ContextExchange exchange, spec::Framework framework) {
  auto q = test::ask(read::Catalogue().model("llama-3-70b", "test").shape, seq, 1);
  q.layout.cp = q.layout.gpus = cp;
  q.layout.cp_exchange = exchange;
  q.training.framework = framework;
  return q;
}

layers::Block layer(const spec::Question& q) { return test::program_of(q).blocks[1]; }

const layers::Op& attention(const layers::Block& block) {
  return *std::ranges::find(block.ops, layers::OpKind::attention, &layers::Op::kind);
}

/// Bytes of all messages of one kind in one direction.
std::int64_t sent(const layers::Block& block, Collective kind, bool backward) {
  std::int64_t sum = 0;
  for (const auto& op : block.ops) {
    for (const auto& m : op.messages) sum += m.kind == kind && m.backward == backward ? in_bytes(m.size) : 0;
  }
  return sum;
}

std::int64_t kept(const spec::Question& q) { return in_bytes(memory::walk_block(layer(q), {}).kept); }

}  // namespace

TEST_CASE("both exchanges share the work of a sample evenly between the ranks") {
  const auto whole = program::count_work(test::program_of(llama(1, ContextExchange::ring, spec::Framework::generic)));
  for (const auto exchange : {ContextExchange::ring, ContextExchange::all_to_all}) {
    const auto part = program::count_work(test::program_of(llama(ranks, exchange, spec::Framework::generic)));
    CHECK(quantity::in_flops(part.model()) * ranks == Approx(quantity::in_flops(whole.model())).epsilon(1e-12));
  }
}

TEST_CASE("a ring passes every rank's keys and values to all others, and back with their gradients") {
  const auto block = layer(llama(ranks, ContextExchange::ring, spec::Framework::generic));
  CHECK(sent(block, Collective::ring, false) == (ranks - 1) * pair_bytes);
  CHECK(sent(block, Collective::ring, true) == 2 * (ranks - 1) * pair_bytes);
  CHECK(sent(block, Collective::all_to_all, false) == 0);
}

TEST_CASE("all-to-all sends queries, keys, values and outputs once a pass (Jacobs et al. 2023 section 3.2)") {
  const auto block = layer(llama(ranks, ContextExchange::all_to_all, spec::Framework::generic));
  CHECK(sent(block, Collective::all_to_all, false) == 2 * query_bytes + pair_bytes);
  CHECK(sent(block, Collective::all_to_all, true) == 2 * query_bytes + pair_bytes);
  CHECK(sent(block, Collective::ring, false) == 0);
}

TEST_CASE("behind all-to-all a rank has all positions of its share of the heads") {
  const auto product = attention(layer(llama(ranks, ContextExchange::all_to_all, spec::Framework::generic))).product;
  CHECK(product.m == seq);
  CHECK(product.n == seq);
  CHECK(product.count == 64 / ranks);
}

TEST_CASE("a ring keeps nothing of its own; all-to-all keeps the kernel's output beside the projection's input") {
  const auto framework = spec::Framework::megatron;
  const std::int64_t alone = kept(llama(1, ContextExchange::ring, framework));
  const std::int64_t ring = kept(llama(ranks, ContextExchange::ring, framework));
  CHECK(ring * ranks == alone);
  CHECK(kept(llama(ranks, ContextExchange::all_to_all, framework)) == ring + query_bytes);
}

TEST_CASE("selective recomputation exchanges again and keeps what the first exchange read") {
  auto q = llama(ranks, ContextExchange::all_to_all, spec::Framework::megatron);
  q.training.recompute.policy = spec::RecomputePolicy::selective;
  const std::int64_t exchanged = kept(q);
  q.layout.cp_exchange = ContextExchange::ring;
  CHECK(exchanged == kept(q));
}

TEST_CASE(
    "a ring needs room for one more pair of blocks, and for four with their gradients (Liu et al. 2023 section 3)") {
  const auto op = attention(layer(llama(ranks, ContextExchange::ring, spec::Framework::generic)));
  CHECK(in_bytes(op.workspace_forward) == pair_bytes);
  CHECK(in_bytes(op.workspace_backward) == 4 * pair_bytes);
  const auto engine = attention(layer(llama(ranks, ContextExchange::ring, spec::Framework::megatron)));
  CHECK(in_bytes(engine.workspace_forward) == ranks * (pair_bytes + query_bytes));
}

TEST_CASE("without context parallelism nothing is exchanged, whatever the choice") {
  const auto ring = layer(llama(1, ContextExchange::ring, spec::Framework::megatron));
  const auto all = layer(llama(1, ContextExchange::all_to_all, spec::Framework::megatron));
  CHECK(ring.ops.size() == all.ops.size());
  CHECK(sent(all, Collective::all_to_all, false) == 0);
}
