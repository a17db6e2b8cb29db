// What no layout, batch or price changes, and what grows with them one to one, whatever is trained and by whom.
#include "asking.hpp"
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/presets.hpp"

#include <algorithm>
#include <functional>
#include <optional>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

/// The question, unless it is refused.
std::optional<spec::Question> completed(const std::string& line) {
  try {
    return test::question(line);
  } catch (const quantity::BadInput&) {
    return std::nullopt;
  }
}

std::optional<answer::Estimate> estimated(const std::string& line) {
  const auto question = completed(line);
  return question ? std::optional(answer::estimate(*question)) : std::nullopt;
}

const std::vector<std::string> tuned_methods{"full", "lora", "dora", "qlora --lora-targets all-linear"};
const std::vector<std::string> tuned_models{"llama-3.2-1b", "qwen3-30b-a3b", "deepseek-v2-lite", "gpt2-xl",
                                            "gemma-2-2b"};

/// Each framework, method and model, with the words behind. \return how many were answered
int each_trainer(const std::string& words, const std::function<bool(const std::string&)>& check) {
  int answered = 0;
  std::size_t turn = 0;
  for (const auto& framework : test::words_for<spec::Framework>()) {
    for (const auto& method : tuned_methods) {
      const auto& model = tuned_models[turn++ % tuned_models.size()];
      const std::string line = "--model " + model + " --framework " + framework + " --method " + method +
                               " --gpu h100-sxm:8 --seq 1024 " + words;
      CAPTURE(line);
      answered += check(line) ? 1 : 0;
    }
  }
  return answered;
}

}  // namespace

TEST_CASE("a model is as large in every layout", "[long]") {
  for (const std::string layout : {"--tp 2", "--pp 2", "--cp 2", "--ep 2", "--tp 2 --sp 1", "--zero 3"}) {
    const int answered = each_trainer("", [&](const std::string& line) {
      const auto alone = estimated(line);
      const auto spread = estimated(line + " " + layout);
      if (!alone || !spread) return false;
      CAPTURE(layout);
      CHECK(spread->size.total == alone->size.total);
      CHECK(spread->size.active == alone->size.active);
      CHECK(spread->size.trainable == alone->size.trainable);
      CHECK(spread->size.embedding == alone->size.embedding);
      CHECK(in_flops(spread->compute.flops[0].per_token) == Approx(in_flops(alone->compute.flops[0].per_token)));
      return true;
    });
    CAPTURE(layout);
    CHECK(answered > 1);
  }
}

/// Every operation works on rows, and each sequence has its own.
TEST_CASE("FLOPs of a token are those of any batch, and so is what rests between steps", "[long]") {
  std::size_t turn = 0;
  for (const auto& preset : read::Catalogue().models()) {
    const auto& method = tuned_methods[turn++ % 3];
    const std::string line = "--model " + preset.id + " --framework torchtitan --seq 512 --method " + method;
    CAPTURE(line);
    const auto one = estimated(line + " --micro-batch 1");
    const auto two = estimated(line + " --micro-batch 2");
    if (!one || !two) continue;
    for (std::size_t i = 0; i < one->compute.flops.size(); ++i) {
      CHECK(in_flops(two->compute.flops[i].per_token) ==
            Approx(in_flops(one->compute.flops[i].per_token)).epsilon(1e-4));
    }
    CHECK(two->memory.persistent == one->memory.persistent);
  }
}

/// Of a run of many steps: hours are seconds of all accelerators, and money, energy and carbon grow with their prices.
TEST_CASE("what a run costs are its hours by what one costs", "[long]") {
  const int answered =
      each_trainer("--price 2 --power 500 --pue 1.1 --carbon-intensity 400", [](const std::string& line) {
        const auto question = completed(line);
        if (!question || !question->gpu) return false;
        const auto run = answer::estimate(*question).compute;
        const auto batch =
            static_cast<double>(question->training.micro_batch * question->training.grad_accum * question->layout.dp);
        const double tokens = batch * static_cast<double>(question->training.seq);
        const double hours = in_seconds(run.total) / 3600.0 * 8;
        CHECK(run.tokens_per_gpu == Approx(tokens / in_seconds(run.step) / 8));
        CHECK(run.gpu_hours == Approx(hours));
        CHECK(quantity::in_dollars(run.cost.value()) == Approx(2 * hours));
        CHECK(in_kilowatt_hours(run.footprint.value().energy) == Approx(0.5 * 1.1 * hours));
        double parts = 0;
        for (const auto& part : run.step_parts) parts += in_seconds(part.time);
        CHECK(parts == Approx(in_seconds(run.step)).epsilon(1e-6));
        return true;
      });
  CHECK(answered > 40);
}

/// Whatever else is alive in a step, updates within the backward pass with it. Evaluations stand beside it
/// (docs/json.md).
TEST_CASE("no moment of the timeline is above the peak, and one of a step is as high", "[long]") {
  for (const std::string words :
       {"", "--optimizer-in-backward 1", "--eval-batch 4", "--eval-batch 4 --optimizer-in-backward 1",
        "--recompute full --eval-batch 16", "--offload optimizer --eval-batch 2"}) {
    const int answered = each_trainer(words, [](const std::string& line) {
      const auto estimate = estimated(line);
      if (!estimate) return false;
      const auto& points = estimate->memory.timeline;
      const auto highest = std::ranges::max_element(points, {}, &answer::TimelinePoint::allocated);
      CHECK(highest->allocated <= estimate->memory.peak_allocated);
      if (estimate->memory.peak_phase == memory::Phase::evaluation) return true;
      CHECK(highest->allocated == estimate->memory.peak_allocated);
      CHECK(highest->phase == estimate->memory.peak_phase);
      return true;
    });
    CAPTURE(words);
    CHECK(answered > 2);
  }
}

/// Stages hold the layers once and the tables where they are used: together what one stage holds.
TEST_CASE("stages have the layers of a model between them", "[long]") {
  const int answered = each_trainer("--sharding ddp", [](const std::string& line) {
    const auto whole = estimated(line);
    if (!whole) return false;
    std::int64_t most = 0;
    for (const std::string stage : {"pp=0", "pp=1"}) {
      const auto half = estimated(line + " --pp 2 --rank " + stage);
      if (!half) return false;
      most = std::max(most, in_bytes(half->memory.persistent));
      CHECK(half->memory.persistent < whole->memory.persistent);
    }
    CHECK(2 * most >= in_bytes(whole->memory.persistent));
    return true;
  });
  CHECK(answered > 1);
}
