// A search against asking about every layout one by one.

#include "../answer/asking.hpp"
#include "catch.hpp"
#include "frameworks/abilities.hpp"
#include "frameworks/layout_rules.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "search/plan.hpp"

#include <algorithm>
#include <cmath>

using namespace llmcalc;
using quantity::in_bytes;
using quantity::in_seconds;
using search::Choice;
using search::Objective;
using search::PlannedRun;

namespace {

struct Space {
  std::string_view line;
  std::int64_t gpus, global_batch;
  Objective objective = Objective::step_time;
  std::int64_t nodes = 1;
};

constexpr std::string_view tiny = "--layers 4 --hidden 512 --heads 8 --ffn 2048 --vocab 32000 --seq 1024 --tokens 1B ";
constexpr std::string_view tied =
    "--layers 6 --hidden 768 --heads 12 --ffn 3072 --vocab 50257 --tied 1 --seq 512 --tokens 1B ";
constexpr std::string_view experts =
    "--layers 4 --hidden 512 --heads 8 --ffn 1024 --vocab 32000 --experts 4 --top-k 2 --expert-ffn 512 --seq 512 "
    "--tokens 1B ";

// Capacities are chosen so that some layouts fit and others do not.
const std::vector<std::pair<std::string_view, Space>> spaces = {
    {tiny, {"--gpu a100-40", 1, 4}},
    {tiny, {"--gpu a100-40", 2, 4}},
    {tiny, {"--gpu a100-40 --memory 2GiB", 4, 4}},
    {tiny, {"--gpu a100-40 --memory 2500MiB", 8, 8}},
    {tiny, {"--gpu h100-sxm --framework megatron", 4, 8}},
    {tiny, {"--gpu h100-sxm --framework megatron --memory 3GiB", 8, 8}},
    {tiny, {"--gpu h100-sxm --framework torchtitan --memory 3GiB", 4, 4}},
    {tiny, {"--gpu h100-sxm --framework deepspeed --memory 6GiB", 4, 4}},
    {tiny, {"--gpu a100-40", 4, 4, Objective::memory}},
    {tiny, {"--gpu a100-40 --memory 3GiB", 4, 8, Objective::micro_batch}},
    {tiny, {"--gpu a100-40 --price 2", 4, 4, Objective::cost}},
    {tiny, {"--gpu a100-40", 4, 4, Objective::energy}},
    {tiny, {"--gpu a100-40 --dtype mixed-bf16", 4, 2}},
    {tiny, {"--gpu rtx-4090 --dtype fp32", 2, 2}},
    {tiny, {"--gpu a100-40 --optimizer adafactor", 4, 4}},
    {tiny, {"--gpu a100-40 --optimizer lomo", 4, 8}},
    {tiny, {"--gpu a100-40 --method prompt", 4, 4}},
    {tiny, {"--gpu a100-40 --method prefix", 2, 4}},
    {tiny, {"--gpu a100-40 --algorithm dpo", 2, 4}},
    {tiny, {"--gpu a100-40 --algorithm ppo --memory 6GiB", 4, 8}},
    {tiny, {"--gpu h100-sxm --framework megatron --algorithm grpo", 2, 8}},
    {tiny, {"--gpu a100-40 --algorithm dpo --memory 3GiB", 4, 4}},
    {tiny, {"--gpu a100-40 --algorithm ppo --memory 3GiB", 2, 4}},
    {tied, {"--gpu a100-40", 2, 4}},
    {tied, {"--gpu a100-40 --memory 2GiB", 4, 4}},
    {tied, {"--gpu h100-sxm --framework megatron", 6, 6}},
    {tied, {"--gpu h100-sxm --framework megatron --attention eager --transformer-impl local", 2, 4}},
    {tied, {"--gpu h100-sxm --framework hf", 4, 8}},
    {tied, {"--gpu a100-40 --method lora", 4, 4}},
    {tiny, {"--gpu a100-40 --framework hf --save-checkpoint full --memory 2500MiB", 4, 4}},
    {tiny, {"--gpu h100-sxm --framework megatron --save-checkpoint async --host-memory 1GiB", 4, 4}},
    {tiny, {"--gpu a100-40 --memory 3GiB --mtbf 1s --restart-time 1ms --checkpoint-bandwidth 1000TB/s", 4, 64}},
    {experts, {"--gpu a100-40", 2, 2}},
    {experts, {"--gpu h100-sxm --framework megatron --memory 3GiB", 4, 4}},
    {experts, {"--gpu h100-sxm --framework megatron", 4, 2, Objective::step_time, 2}},
    {"--model t5-small --seq 512 --tokens 1B ", {"--gpu a100-40", 2, 2}},
    {"--model gemma-3-270m --seq 1k --tokens 1B ", {"--gpu a100-40", 2, 2}},
};

// Longer micro-batches and experts on several machines, in more layouts than are asked about one by one.
const std::vector<std::pair<std::string_view, Space>> wider = {
    {experts, {"--gpu h100-sxm --framework megatron --memory 3GiB", 8, 32, Objective::step_time, 2}},
    {experts, {"--gpu h800-sxm --framework megatron --memory 1200MiB --price 2", 8, 16, Objective::cost, 4}},
    {tiny, {"--gpu a100-40 --memory 3GiB --mtbf 200ms --restart-time 1ms --checkpoint-bandwidth 100TB/s", 4, 240}},
};

spec::Question base_of(std::string_view model, const Space& space) {
  spec::Question q = test::question(std::string(model) + std::string(space.line));
  q.layout.gpus = space.gpus;
  q.layout.nodes = space.nodes;
  q.training.global_batch = space.global_batch;
  return q;
}

search::PlanSpace plan_space(std::string_view model, const Space& space, bool prunes = true) {
  search::PlanQuestion question;
  question.bases = {base_of(model, space)};
  question.objective = space.objective;
  question.prunes = prunes;
  return search::PlanSpace(std::move(question));
}

/// What matters of a search, whether it prices all or leaves out what cannot matter.
void check_pruned(search::PlanQuestion question) {
  question.prunes = false;
  const auto all = search::plan(search::PlanSpace(question));
  question.prunes = true;
  const auto pruned = search::plan(search::PlanSpace(question));
  question.strict = true;
  const auto strict = search::plan(search::PlanSpace(std::move(question)));
  CHECK(pruned.sure.has_value() == !strict.best.empty());
  if (pruned.sure) CHECK(*pruned.sure == strict.best.front());
  CHECK(pruned.best == all.best);
  CHECK(pruned.each == all.each);
  CHECK(pruned.front == all.front);
  CHECK(pruned.looked_at == all.looked_at);
  CHECK(pruned.fitting <= all.fitting);
  CHECK(pruned.unanswered == all.unanswered);
}

/// Every combination of numbers, without a thought about what divides what.
class BruteForce {
 public:
  explicit BruteForce(const search::PlanSpace& space) : space_(space), base_(space.question().bases.front()) {}

  std::int64_t looked_at = 0;
  std::vector<PlannedRun> fitting;

  void run() {
    const auto& shape = base_.model.shape;
    const std::int64_t gpus = base_.layout.gpus;
    l_ = base_.layout;
    const std::int64_t most_ep = std::max<std::int64_t>(1, shape.moe.experts);
    for (l_.tp = 1; l_.tp <= gpus; ++l_.tp)
      for (l_.pp = 1; l_.pp <= gpus; ++l_.pp)
        for (l_.cp = 1; l_.cp <= gpus; ++l_.cp)
          for (l_.dp = 1; l_.dp <= gpus; ++l_.dp)
            for (l_.ep = 1; l_.ep <= most_ep; ++l_.ep)
              for (l_.etp = 1; l_.etp <= l_.tp; ++l_.etp)
                for (c_.micro_batch = 1; c_.micro_batch <= base_.training.global_batch; ++c_.micro_batch)
                  if (l_.tp * l_.pp * l_.cp * l_.dp == gpus) words();
  }

 private:
  void words() {
    using spec::ContextExchange;
    using spec::Schedule;
    const bool whole_models = base_.training.framework == spec::Framework::hf;
    if (whole_models && l_.tp * l_.pp * l_.cp * l_.ep > 1) return;
    const bool split_experts = base_.model.shape.moe.experts > 0;
    if (l_.etp > 1 && (!split_experts || l_.tp % l_.etp != 0)) return;
    if (base_.training.global_batch % (l_.dp * c_.micro_batch) != 0) return;
    const auto framework = base_.training.framework;
    const bool one_schedule = framework == spec::Framework::megatron || framework == spec::Framework::deepspeed;
    const std::int64_t layers = base_.model.layer_count();
    for (l_.vpp = 1; l_.vpp <= (layers + l_.pp - 1) / l_.pp; ++l_.vpp)
      for (const auto schedule : {Schedule::one_f_one_b, Schedule::gpipe, Schedule::zero_bubble})
        for (const auto exchange : {ContextExchange::ring, ContextExchange::all_to_all})
          for (const bool sp : {false, true}) {
            if ((layers + l_.pp - 1) / l_.pp % l_.vpp != 0) continue;
            if (schedule != Schedule::one_f_one_b && (l_.pp == 1 || one_schedule)) continue;
            if (exchange == ContextExchange::all_to_all && l_.cp == 1) continue;
            l_.schedule = schedule;
            l_.cp_exchange = exchange;
            l_.sp = sp;
            states();
          }
  }

  void states() {
    using spec::Offload;
    using spec::Sharding;
    const auto framework = base_.training.framework;
    std::vector<Sharding> shardings{Sharding::ddp, Sharding::zero1, Sharding::zero2, Sharding::zero3};
    std::vector<Offload> offloads{Offload::none, Offload::optimizer, Offload::params_optimizer, Offload::activations};
    if (framework == spec::Framework::torchtitan || framework == spec::Framework::hf) {
      shardings.back() = Sharding::fsdp2;
      offloads = {Offload::none, Offload::params, Offload::activations};
      if (framework == spec::Framework::hf) shardings = {Sharding::ddp, Sharding::fsdp2};
    } else if (framework == spec::Framework::megatron) {
      shardings.resize(2);
      offloads.resize(2);
    }
    if (l_.dp * l_.cp == 1) shardings = {Sharding::none};
    for (const auto sharding : shardings)
      for (const auto offload : offloads)
        for (std::uint32_t recompute = 0; recompute < space_.recomputes().size(); ++recompute) {
          l_.sharding = sharding;
          c_.offload = offload;
          c_.recompute = recompute;
          exchanges();
        }
  }

  /// How experts exchange tokens, and what runs as graphs, where Megatron Core has mixtures.
  void exchanges() {
    const bool core = base_.training.framework == spec::Framework::megatron && base_.model.shape.moe.experts > 0;
    const bool spread = core && l_.ep > 1;
    for (const bool dispatch : {false, true})
      for (const bool overlap : {false, true})
        for (const auto graph : {spec::CudaGraph::none, spec::CudaGraph::scoped}) {
          if (!core && graph != spec::CudaGraph::none) continue;
          const bool over_nodes = spread && l_.ep * l_.etp > l_.gpus / l_.nodes;
          if ((overlap && !spread) || (dispatch && !over_nodes)) continue;
          l_.node_dispatch = dispatch;
          l_.expert_overlap = overlap;
          c_.cuda_graph = graph;
          ask();
        }
  }

  void ask() {
    const spec::Question q = space_.question_of(c_);
    if (!frameworks::unable_to(q.training.framework, q).empty()) return;
    if (frameworks::broken_rule({q.model.shape, q.training, q.layout}) != nullptr) return;
    ++looked_at;
    const auto estimate = answer::estimate(q);
    if (estimate.verdict.kind == trust::VerdictKind::does_not_fit) return;
    PlannedRun run{c_, estimate.memory.peak_needed, estimate.compute.step, estimate.compute.total, {}, {}};
    run.cost = estimate.compute.cost;
    if (estimate.compute.footprint) run.energy = estimate.compute.footprint->energy;
    fitting.push_back(run);
  }

  const search::PlanSpace& space_;
  const spec::Question& base_;
  Choice c_;
  spec::Layout& l_ = c_.layout;
};

/// Times that differ in the last bit may be one time of the whole run, so either way is right there.
bool is_faster(const PlannedRun& a, const PlannedRun& b) {
  return in_seconds(a.step) < in_seconds(b.step) * (1 - 1e-12);
}
bool surely_beats(const PlannedRun& a, const PlannedRun& b) { return a.memory <= b.memory && is_faster(a, b); }
bool may_beat(const PlannedRun& a, const PlannedRun& b) {
  return surely_beats(a, b) || (a.memory < b.memory && !is_faster(b, a));
}

void check_same(const std::vector<PlannedRun>& found, const std::vector<PlannedRun>& expected) {
  REQUIRE(found.size() == expected.size());
  for (std::size_t i = 0; i < found.size(); ++i) {
    CHECK(in_bytes(found[i].memory) == in_bytes(expected[i].memory));
    CHECK(found[i].step == expected[i].step);
    CHECK(in_seconds(found[i].total) == Approx(in_seconds(expected[i].total)).epsilon(1e-5));
    CHECK(found[i].cost.has_value() == expected[i].cost.has_value());
    CHECK(found[i].energy.has_value() == expected[i].energy.has_value());
  }
}

}  // namespace

// Pareto's order: what another run equals in all figures but one, and betters in that one, is no choice to make.
TEST_CASE("no run on the front is beaten in one figure and better in none") {
  const auto dollars = [](const PlannedRun& run) { return run.cost ? quantity::in_dollars(*run.cost) : 0.0; };
  for (const auto& [model, small] : spaces) {
    CAPTURE(model, small.line, small.gpus);
    const auto front = search::plan(plan_space(model, small)).front;
    for (const PlannedRun& run : front) {
      CHECK(std::ranges::none_of(front, [&](const PlannedRun& other) {
        const bool covers = other.memory <= run.memory && other.total <= run.total && dollars(other) <= dollars(run);
        return covers && (other.memory < run.memory || other.total < run.total || dollars(other) < dollars(run));
      }));
    }
  }
}

TEST_CASE("a search that leaves out what cannot matter finds what one over all layouts finds") {
  auto all = spaces;
  all.insert(all.end(), wider.begin(), wider.end());
  for (const auto& [model, small] : all) {
    for (const auto objective : {Objective::step_time, Objective::memory, Objective::micro_batch, Objective::gpus}) {
      CAPTURE(model, small.line, small.gpus, static_cast<int>(objective));
      search::PlanQuestion question;
      question.bases = {base_of(model, small)};
      question.objective = objective;
      question.best = 3;
      check_pruned(std::move(question));
    }
  }
}

TEST_CASE("what a search leaves out matters under no framework, number of cards, limit or price", "[long]") {
  constexpr std::string_view machines[] = {"--gpu h100-sxm --memory 1200MiB --price 2", "--gpu a100-40 --memory 3GiB",
                                           "--gpu rtx-4090 --method lora", "--gpu h100-sxm --optimizer adamw-8bit"};
  for (const auto* row : frameworks::rows()) {
    for (const auto machine : machines) {
      for (const auto& [model, gpus] : {std::pair{tiny, 4}, {experts, 2}, {tied, 1}}) {
        const std::string line = std::string(machine) + " --framework " + std::string(row->words.front());
        CAPTURE(model, line, gpus);
        search::PlanQuestion question;
        spec::Question base;
        try {
          base = base_of(model, {line, gpus, 12});
        } catch (const quantity::BadInput&) {
          continue;  // which that framework cannot do
        }
        question.bases = {base, base};
        question.bases.back().gpu->memory_usable = quantity::gib(2);
        question.bases.back().layout.gpus = 2 * gpus;
        if (base.pricing.price_per_hour) question.limits.time = quantity::days(2);
        check_pruned(std::move(question));
      }
    }
  }
}

TEST_CASE("a search finds what asking about every layout finds", "[long]") {
  for (const auto& [model, small] : spaces) {
    CAPTURE(model, small.line, small.gpus);
    const search::PlanSpace space = plan_space(model, small, false);
    const search::Findings found = search::plan(space);
    BruteForce brute(space);
    brute.run();
    REQUIRE(brute.fitting.size() > 2);
    CHECK(found.looked_at == brute.looked_at);
    CHECK(found.fitting == static_cast<std::int64_t>(brute.fitting.size()));
    auto best = brute.fitting;
    std::ranges::sort(best, [&](const auto& a, const auto& b) { return space.is_better(a, b); });
    best.resize(std::min(best.size(), space.question().best));
    check_same(found.best, best);
    for (const PlannedRun& run : found.front) {
      CHECK(std::ranges::none_of(brute.fitting, [&](const auto& other) { return surely_beats(other, run); }));
    }
    for (const PlannedRun& run : brute.fitting) {
      if (std::ranges::any_of(brute.fitting, [&](const auto& other) { return may_beat(other, run); })) continue;
      CHECK(std::ranges::any_of(found.front, [&](const auto& kept) {
        return kept.memory == run.memory && !is_faster(run, kept) && !is_faster(kept, run);
      }));
    }
  }
}

// What tensor-parallel ranks share of a sequence takes less memory, in the buffers between stages too.
TEST_CASE("a search over whole and split sequences finds what searches over each of them find") {
  const Space space{"--gpu h100-sxm --framework megatron --memory 1897MiB", 16, 2};
  const auto fitting = [&](std::vector<bool> sp) {
    search::PlanQuestion question;
    question.bases = {
        base_of("--layers 16 --hidden 1024 --heads 8 --ffn 1024 --vocab 1000 --seq 8k --tokens 1B ", space)};
    question.bases.front().layout.nodes = 2;
    question.choices.tp = {8};
    question.choices.pp = {2};
    question.choices.sp = std::move(sp);
    return search::plan(search::PlanSpace(std::move(question))).fitting;
  };
  REQUIRE(fitting({true}) > 0);
  CHECK(fitting({false, true}) == fitting({false}) + fitting({true}));
}

TEST_CASE("what a run says of sharding and offloading does not keep its layouts from being searched") {
  const auto looked_at = [](std::string_view words, spec::Sharding sharding, spec::Offload offload) {
    search::PlanQuestion question;
    question.bases = {base_of(std::string(tiny) + std::string(words), {" --gpu h100-sxm", 4, 4})};
    question.choices.sharding = {sharding};
    question.choices.offload = {offload};
    return search::plan(search::PlanSpace(std::move(question))).looked_at;
  };
  using spec::Offload;
  using spec::Sharding;
  const auto gathered = looked_at("--framework torchtitan --sharding fsdp2", Sharding::fsdp2, Offload::none);
  REQUIRE(gathered > 0);
  CHECK(looked_at("--framework torchtitan --sharding fsdp2 --reshard 0", Sharding::fsdp2, Offload::none) == gathered);
  const std::string on_host = "--framework deepspeed --sharding zero3 --offload optimizer";
  const auto offloaded = looked_at(on_host, Sharding::zero3, Offload::optimizer);
  REQUIRE(offloaded > 0);
  CHECK(looked_at(on_host + " --offload-to nvme", Sharding::zero3, Offload::optimizer) == offloaded);
}

// Layers that are recomputed in groups are other blocks where a stage or a virtual stage has other layers.
TEST_CASE("a plan has no layout that fit refuses") {
  const auto planned = [](const Space& space) {
    const search::PlanSpace all = plan_space(tiny, space);
    std::vector<spec::Question> questions;
    for (const PlannedRun& run : search::plan(all).front) questions.push_back(all.question_of(run.choice));
    REQUIRE_FALSE(questions.empty());
    return questions;
  };
  // LOMO updates within each backward pass (arXiv:2306.09782 section 3.1).
  for (const auto& q : planned({"--gpu a100-40 --optimizer lomo", 4, 8})) CHECK(q.training.grad_accum == 1);
  for (const auto& q : planned({"--gpu a100-40 --method prompt", 4, 4})) CHECK((q.layout.cp == 1 && !q.layout.sp));
  for (const auto& q : planned({"--gpu a100-40 --method prefix", 2, 4})) {
    CHECK(q.training.recompute.policy != spec::RecomputePolicy::full);
  }
}

TEST_CASE("a run whose layers are recomputed in groups takes what it takes when asked about") {
  search::PlanQuestion question;
  question.bases = {base_of("--layers 12 --hidden 512 --heads 8 --ffn 2048 --vocab 32000 --seq 1024 --tokens 1B ",
                            {"--gpu h100-sxm --framework megatron", 4, 16})};
  question.choices.recompute = {test::question(std::string(tiny) + "--recompute uniform-2").training.recompute,
                                test::question(std::string(tiny) + "--recompute uniform-5").training.recompute};
  question.best = 500;
  const search::PlanSpace space(std::move(question));
  const search::Findings found = search::plan(space);
  REQUIRE(found.best.size() == 500);
  for (const PlannedRun& run : found.best) {
    const auto estimate = answer::estimate(space.question_of(run.choice));
    CHECK(in_bytes(run.memory) == in_bytes(estimate.memory.peak_needed));
    CHECK(run.step == estimate.compute.step);
  }
}
