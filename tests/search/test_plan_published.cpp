// The layouts with which published runs were trained, against the best of the same space by our own model.

#include "../answer/asking.hpp"
#include "catch.hpp"
#include "search/plan.hpp"

#include <string>

using namespace llmcalc;

namespace {

struct Published {
  std::string_view name;
  std::string_view model, hardware;
  std::int64_t gpus, global_batch;
  std::string_view layout;
};

// Korthikanti et al. 2022, arXiv:2205.05198, tables 3 and 5: tensor 8, sequence parallelism, selective recomputation,
// three virtual stages for 175B and 530B; batch sizes of table 3. Grattafiori et al. 2024, arXiv:2407.21783, table 4:
// their schedule keeps fewer micro-batches in flight than 1F1B (section 3.3.2), so that here it takes recomputation to
// fit; how many virtual stages they had is not said.
const Published runs[] = {
    {"175B", "--model gpt3-175b --seq 2k --framework megatron", "--gpu a100-80", 64, 64,
     "--tp 8 --sp 1 --pp 8 --vpp 3 --micro-batch 1 --recompute selective --sharding none"},
    {"530B", "--model mt-nlg-530b --seq 2k --framework megatron", "--gpu a100-80", 280, 280,
     "--tp 8 --sp 1 --pp 35 --vpp 3 --micro-batch 1 --recompute selective --sharding none"},
    {"1T", "--model megatron-1t --seq 2k --framework megatron", "--gpu a100-80", 512, 512,
     "--tp 8 --sp 1 --pp 64 --micro-batch 1 --recompute selective --sharding none"},
    {"Llama 3 405B", "--model llama-3.1-405b --seq 8k --framework megatron", "--gpu h100-sxm", 16384, 2048,
     "--tp 8 --sp 1 --pp 16 --cp 1 --micro-batch 1 --recompute full --sharding zero1"},
};

spec::Question base_of(const Published& run) {
  auto question = test::question(std::string(run.model) + " " + std::string(run.hardware));
  question.layout.gpus = run.gpus;
  question.layout.nodes = run.gpus / 8;
  question.training.global_batch = run.global_batch;
  return question;
}

search::Findings plan(const Published& run, spec::RunChoices choices) {
  search::PlanQuestion question;
  question.bases = {base_of(run)};
  question.choices = std::move(choices);
  return search::plan(search::PlanSpace(std::move(question)));
}

/// The published layout alone.
spec::RunChoices choices_of(const Published& run) {
  const auto said = test::question(std::string(run.model) + " --grad-accum " + std::to_string(run.global_batch) + " " +
                                   std::string(run.layout));
  spec::RunChoices choices;
  choices.tp = {said.layout.tp};
  choices.sp = {said.layout.sp};
  choices.pp = {said.layout.pp};
  if (run.layout.find("--vpp") != std::string_view::npos) choices.vpp = {said.layout.vpp};
  choices.cp = {said.layout.cp};
  choices.sharding = {said.layout.sharding};
  choices.micro_batch = {said.training.micro_batch};
  choices.recompute = {said.training.recompute};
  choices.offload = {spec::Offload::none};
  return choices;
}

}  // namespace

TEST_CASE("the best layout is at least as fast as the one that was published") {
  for (const Published& run : runs) {
    CAPTURE(run.name);
    const auto published = plan(run, choices_of(run));
    const auto best = plan(run, {});
    REQUIRE_FALSE(published.best.empty());
    CHECK(best.best.front().step <= published.best.front().step);
    CHECK(best.looked_at > 1000);
  }
}
