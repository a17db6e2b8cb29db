// A question that nobody read from words is checked by the estimate that it is handed to.
#include "answer/asking.hpp"
#include "catch.hpp"
#include "frameworks/layout_rules.hpp"
#include "llmcalc/quantity/error.hpp"

using namespace llmcalc;
using Catch::Matchers::Contains;

namespace {

const spec::Question& sound() {
  static const spec::Question question = test::question("--model llama-3-8b --gpu h100-sxm:8 --tp 2 --global-batch 8");
  return question;
}

/// The question with one member changed.
template <class Change>
std::string refusal(const Change& change) {
  spec::Question question = sound();
  change(question);
  try {
    answer::estimate(question);
  } catch (const quantity::BadInput& error) {
    return error.place();
  }
  return "answered";
}

}  // namespace

TEST_CASE("a question that is put together by hand is checked") {
  CHECK_NOTHROW(frameworks::check_question(sound()));
  CHECK(refusal([](auto& q) { q.training.seq = 0; }) == "seq");
  CHECK(refusal([](auto& q) { q.training.micro_batch = 0; }) == "micro_batch");
  CHECK(refusal([](auto& q) { q.training.grad_accum = -1; }) == "grad_accum");
  CHECK(refusal([](auto& q) { q.training.global_batch = 0; }) == "global_batch");
  CHECK(refusal([](auto& q) { q.training.recompute.count = 0; }) == "recompute");
  CHECK(refusal([](auto& q) { q.layout.nodes = 0; }) == "nodes");
  CHECK(refusal([](auto& q) { q.layout.vpp = 0; }) == "vpp");
  CHECK(refusal([](auto& q) { q.layout.etp = 0; }) == "etp");
  CHECK(refusal([](auto& q) { q.layout.dp = 8; }) == "gpus");
  CHECK(refusal([](auto& q) { q.layout.ep = 2; }) == "ep");
  CHECK(refusal([](auto& q) { q.model = {}; }) == "layers");
  CHECK(refusal([](auto& q) { q.model.layers.clear(); }) == "layers");
  CHECK(refusal([](auto& q) { q.pricing.mfu = 0.0; }) == "mfu");
  CHECK(refusal([](auto& q) { q.runtime.reserved_ratio = 0.5; }) == "reserved_ratio");
  CHECK(refusal([](auto& q) { q.runtime.reserved_ratio = std::numeric_limits<double>::infinity(); }) ==
        "reserved_ratio");
}
