#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "search/server_plan.hpp"
#include "serving/answer.hpp"
#include "serving/questions.hpp"

#include <string>
#include <vector>

using namespace llmcalc;

namespace {

spec::Question asked() {
  return test::served(
      {"model", "qwen3-235b-a22b", "gpu", "h200-sxm", "gpus", "8", "prompt", "1024", "output", "256", "tpot", "30ms"});
}

}  // namespace

TEST_CASE("what a search finds keeps the limits, and serve says the same of it", "[server-plan][long]") {
  const auto plans = search::plan_server(asked(), {}, 5);
  REQUIRE(plans.best.size() == 5);
  CHECK(plans.starting <= plans.layouts);
  double last = plans.best.front().speed.tokens_per_s;
  for (const auto& plan : plans.best) {
    CHECK(plan.speed.tpot <= *asked().serving.load.tpot);
    CHECK(plan.speed.tokens_per_s <= last);
    last = plan.speed.tokens_per_s;
    const auto answer = serving::serve(plan.question);
    CHECK(answer.verdict == trust::VerdictKind::fits);
    REQUIRE(answer.speed.has_value());
    CHECK(answer.speed->tokens_per_s == Approx(plan.speed.tokens_per_s));
  }
}

TEST_CASE("one request more than what a search found misses the limits", "[server-plan]") {
  for (const char* tpot : {"9ms", "20ms", "45ms"}) {
    const auto question = test::served({"model", "llama-3-70b", "gpu", "h100-sxm", "gpus", "8", "tpot", tpot});
    const auto plans = search::plan_server(question, {}, 3);
    CAPTURE(tpot);
    REQUIRE_FALSE(plans.best.empty());
    for (auto plan : plans.best) {
      CHECK(serving::keeps_limits(question.serving.load, serving::serve(plan.question).speed.value()));
      ++plan.question.serving.load.concurrency;
      const auto more = serving::serve(plan.question);
      const bool full = more.speed->queued > 0;
      CHECK((full || !serving::keeps_limits(question.serving.load, more.speed.value())));
    }
  }
}

TEST_CASE("a search under a rate finds what carries it, or nothing", "[server-plan]") {
  const auto plans_at = [](const char* rate) {
    return search::plan_server(test::served({"model", "llama-3-70b", "gpu", "h100-sxm", "gpus", "8", "rate", rate,
                                             "ttft", "1s", "tpot", "40ms"}),
                               {}, 5);
  };
  const auto plans = plans_at("20");
  REQUIRE_FALSE(plans.best.empty());
  for (const auto& plan : plans.best) {
    const auto answer = serving::serve(plan.question);
    CHECK_FALSE(answer.speed->saturated);
    CHECK(serving::keeps_limits(plan.question.serving.load, *answer.speed));
    CHECK(answer.speed->requests_per_s == Approx(20).epsilon(0.02));
  }
  CHECK(plans_at("2000").best.empty());
}

TEST_CASE("a search keeps what was said, and uses every accelerator", "[server-plan]") {
  const auto plans = search::plan_server(asked(), {.engines = false, .quants = false}, 100);
  REQUIRE_FALSE(plans.best.empty());
  for (const auto& plan : plans.best) {
    const auto& layout = plan.question.layout;
    CHECK(plan.question.serving.engine == asked().serving.engine);
    CHECK(plan.question.serving.quant == asked().serving.quant);
    CHECK(layout.tp * layout.pp * layout.dp * plan.question.serving.layout.attention_dp == 8);
  }
}

TEST_CASE("a search without an accelerator says what it needs", "[server-plan]") {
  auto question = asked();
  question.gpu.reset();
  CHECK_THROWS_AS(search::plan_server(question, {}, 5), quantity::BadInput);
}

namespace {

using Words = std::vector<std::string>;

std::string seconds(quantity::Seconds time, double times) {
  return std::to_string(quantity::in_seconds(time) * times) + "s";
}

/// Limits of as many times what a request alone takes on the same accelerators.
std::vector<Words> limits_beside(const Words& server) {
  const auto question = test::served(server);
  const auto alone = search::plan_server(question, {.engines = false, .quants = false}, 1);
  if (alone.best.empty()) return {};
  spec::Question one = alone.best.front().question;
  one.serving.load.concurrency = 1;
  const auto answer = serving::serve(one);
  if (!answer.speed) return {};
  const auto ttft = seconds(answer.speed->ttft, 4);
  const auto tpot = seconds(answer.speed->tpot, 1.5);
  return {{"tpot", tpot}, {"ttft", ttft, "tpot", tpot}, {"ttft_p95", ttft, "tpot_p95", tpot}, {"rate", "2"}};
}

}  // namespace

TEST_CASE("what a search finds keeps its limits for every engine and kind of model, and one more does not",
          "[server-plan][long]") {
  std::size_t found = 0;
  for (const std::string engine : {"vllm", "sglang", "trtllm", "llama.cpp", "ollama"}) {
    for (const std::string model : {"llama-3.1-8b", "llama-3.1-70b", "qwen3-30b-a3b", "deepseek-v2-lite",
                                    "nemotron-nano-9b-v2", "gemma-3-12b", "falcon-mamba-7b"}) {
      const Words server{"model", model, "engine", engine, "gpu", "h100-sxm", "gpus", "4", "context", "2048"};
      CAPTURE(engine, model);
      std::vector<Words> limits;
      try {
        limits = limits_beside(server);
      } catch (const quantity::BadInput& refusal) {
        CHECK_FALSE(refusal.place().empty());
      }
      for (const Words& limit : limits) {
        CAPTURE(limit);
        const auto asked = test::served(test::with(server, limit));
        for (auto plan : search::plan_server(asked, {.engines = false, .quants = false}, 1).best) {
          ++found;
          const auto answer = serving::serve(plan.question);
          REQUIRE(answer.speed.has_value());
          CHECK(answer.verdict == trust::VerdictKind::fits);
          CHECK(serving::keeps_limits(asked.serving.load, *answer.speed));
          CHECK_FALSE(answer.speed->saturated);
          if (asked.serving.load.rate) continue;
          ++plan.question.serving.load.concurrency;
          const auto more = serving::serve(plan.question);
          CHECK((more.speed->queued > 0 || !serving::keeps_limits(asked.serving.load, *more.speed)));
        }
      }
    }
  }
  CHECK(found >= 80);
}
