#include "search/server_plan.hpp"

#include "llmcalc/quantity/error.hpp"
#include "serving/answer.hpp"
#include "serving/capacity.hpp"

#include <algorithm>
#include <array>
#include <optional>

namespace llmcalc::search {

using formats::Quant;
using spec::Engine;

namespace {

/// A node joins so many; larger tensor-parallel groups would exchange over the network.
constexpr std::int64_t most_tensor_parallel = 8;

bool divides(std::int64_t part, std::int64_t whole) { return whole % part == 0; }

std::vector<Engine> engines_of(const spec::Question& question, const ServerSpace& space) {
  const bool ggml = spec::reads_gguf(question.serving.engine) || formats::is_file_type(question.serving.quant);
  const bool measured = question.gpu->generation.can(spec::Ability::measured_servers);
  if (!space.engines || ggml || !measured) return {question.serving.engine};
  std::vector<Engine> servers;
  for (const serving::EngineRow& row : serving::all_engines()) {
    if (spec::kind_of(row.engine) == spec::EngineKind::server) servers.push_back(row.engine);
  }
  return servers;
}

/// Formats that published checkpoints come in and the part multiplies without widening, and int4, which only rests so.
std::vector<Quant> quants_of(const spec::Question& question, const ServerSpace& space) {
  if (!space.quants) return {question.serving.quant};
  std::vector<Quant> quants{Quant::bf16};
  if (question.gpu->peaks.fp8) quants.push_back(Quant::fp8);
  if (question.gpu->peaks.fp4) quants.push_back(Quant::nvfp4);
  quants.push_back(Quant::awq);
  return quants;
}

/// Calls `take` with all copies alike and, where prompts are to be read apart, with each share of them that reads
/// alone.
template <class Take>
void for_each_share(spec::Question question, const Take& take) {
  const bool apart = question.serving.layout.prefill_servers > 0;
  const std::int64_t copies = question.layout.dp;
  question.serving.layout.prefill_servers = 0;
  question.serving.layout.prefill_tp.reset();
  question.serving.role = spec::ServerRole::both;
  take(question);
  for (std::int64_t readers = 1; apart && readers < copies; ++readers) {
    question.serving.role = spec::ServerRole::decode;
    question.serving.layout.prefill_servers = readers;
    question.layout.dp = copies - readers;
    take(question);
  }
}

/// Calls `take` with every number of servers without ranks, the layers of each on its share of the cards.
template <class Take>
void for_each_share_of_cards(spec::Question question, const Take& take) {
  const auto [gpus, nodes] = std::pair(question.layout.gpus, question.layout.nodes);
  question.layout = {};
  question.layout.gpus = gpus;
  question.layout.nodes = nodes;
  for (std::int64_t copies = 1; copies <= gpus; ++copies) {
    if (!divides(copies, gpus)) continue;
    question.layout.dp = copies;
    take(question);
  }
}

/// Calls `take` with every layout of all accelerators.
template <class Take>
void for_each_layout(const spec::Question& question, const Take& take) {
  if (spec::reads_gguf(question.serving.engine)) return for_each_share_of_cards(question, take);
  const std::int64_t gpus = question.layout.gpus;
  const auto& shape = question.model.shape;
  const std::int64_t in_node = std::min({most_tensor_parallel, gpus, question.gpu->gpus_per_node});
  for (std::int64_t tp = 1; tp <= in_node; tp *= 2) {
    if (!divides(tp, shape.heads) || !divides(tp, gpus)) continue;
    for (std::int64_t pp = 1; tp * pp <= gpus && pp <= question.model.layer_count(); pp *= 2) {
      for (std::int64_t adp = 1; tp * pp * adp <= gpus; adp *= 2) {
        if (adp > 1 && shape.moe.experts == 0) break;
        if (!divides(tp * pp * adp, gpus)) continue;
        spec::Question next = question;
        next.layout.tp = tp;
        next.layout.pp = pp;
        next.layout.dp = gpus / (tp * pp * adp);
        next.serving.layout.attention_dp = adp;
        for (const std::int64_t ep : {std::int64_t{1}, tp * adp}) {
          if (ep > 1 && (shape.moe.experts == 0 || !divides(ep, shape.moe.experts))) continue;
          next.layout.ep = ep;
          next.layout.etp = tp * adp / ep;
          next.serving.layout.expert_tp = next.layout.etp;
          for_each_share(next, take);
          if (tp * adp == 1) break;
        }
      }
    }
  }
}

/// Powers of two up to what runs at once: more would only wait.
std::vector<std::int64_t> concurrencies_up_to(std::int64_t most) {
  constexpr std::int64_t enough = 4096;
  std::vector<std::int64_t> all;
  for (std::int64_t n = 1; n < std::min(most, enough); n *= 2) all.push_back(n);
  all.push_back(std::min(most, enough));
  return all;
}

/// Requests that one layout runs at once, over all its copies; 0: it does not start.
std::int64_t at_once(const spec::Question& question, const serving::Deployment& deployment) {
  const std::int64_t length = question.serving.load.prompt + question.serving.load.output;
  const auto rank = serving::tightest_rank(deployment, {std::max(length, question.serving.load.context), 1});
  if (!rank.fits() || rank.limit > rank.capacity || !serving::beyond_memory(deployment, rank).empty()) return 0;
  const std::int64_t copies = question.layout.dp * question.serving.layout.attention_dp;
  const auto of_copy =
      static_cast<std::int64_t>(std::min(rank.sequences_in_pool, static_cast<double>(deployment.setup.max_sequences)));
  return std::max<std::int64_t>(of_copy, 1) * copies;
}

/// Speed of the load that answers most tokens a second within the limits.
std::optional<serving::Speed> best_of(const spec::Load& load, const std::vector<serving::Speed>& speeds) {
  std::optional<serving::Speed> best;
  for (const serving::Speed& speed : speeds) {
    if (!serving::keeps_limits(load, speed)) continue;
    if (!best || speed.tokens_per_s > best->tokens_per_s) best = speed;
  }
  return best;
}

void consider(const spec::Question& question, ServerPlans& plans) {
  const auto& load = question.serving.load;
  if (!serving::can_run(question) || !serving::takes_options(question.serving)) return;
  const serving::Deployment deployment = serving::deploy(question);
  ++plans.layouts;
  const std::int64_t most = at_once(question, deployment);
  if (most == 0) return;
  ++plans.starting;
  const auto speeds = serving::speeds_at(deployment, concurrencies_up_to(most));
  plans.estimates += static_cast<std::int64_t>(speeds.size());
  auto speed = best_of(load, speeds);
  if (!speed) return;
  const double tokens = speed->tokens_per_s;
  if (load.rate) {
    speed = serving::speed_of(deployment);
    ++plans.estimates;
    if (!speed || !serving::keeps_limits(load, *speed)) return;
  }
  plans.best.push_back({question, std::move(*speed), tokens});
  if (!load.rate)
    plans.best.back().question.serving.load.concurrency =
        static_cast<std::int64_t>(plans.best.back().speed.concurrency);
}

/// Between powers of two: the largest concurrency below the next one that keeps the limits.
void refine(ServerPlan& plan) {
  spec::Load& load = plan.question.serving.load;
  if (load.rate || !serving::is_limited(load)) return;
  const serving::Deployment deployment = serving::deploy(plan.question);
  const std::int64_t most = std::min(2 * load.concurrency, at_once(plan.question, deployment) + 1);
  std::int64_t low = load.concurrency;
  for (std::int64_t high = most; high - low > 1;) {
    const std::array middle{low + (high - low) / 2};
    const auto speeds = serving::speeds_at(deployment, middle);
    const bool keeps = serving::keeps_limits(load, speeds.front());
    (keeps ? low : high) = middle.front();
    if (!keeps || speeds.front().tokens_per_s < plan.speed.tokens_per_s) continue;
    plan.speed = speeds.front();
    plan.most_tokens_per_s = plan.speed.tokens_per_s;
    load.concurrency = middle.front();
  }
}

void sort_by_tokens(std::vector<ServerPlan>& plans) {
  std::ranges::stable_sort(plans, std::ranges::greater(), &ServerPlan::most_tokens_per_s);
}

}  // namespace

ServerPlans plan_server(const spec::Question& question, const ServerSpace& space, std::size_t most) {
  if (!question.gpu)
    throw quantity::BadInput("--gpu", "a search for a layout needs an accelerator", "--gpu h100-sxm:8");
  ServerPlans plans;
  for (const Engine engine : engines_of(question, space)) {
    for (const Quant quant : quants_of(question, space)) {
      spec::Question base = question;
      base.serving.engine = engine;
      base.serving.quant = quant;
      if (engine != question.serving.engine) base.serving.engine_version.clear();
      for_each_layout(base, [&](const spec::Question& next) { consider(next, plans); });
    }
  }
  sort_by_tokens(plans.best);
  if (plans.best.size() > most) plans.best.resize(most);
  std::ranges::for_each(plans.best, refine);
  sort_by_tokens(plans.best);
  return plans;
}

}  // namespace llmcalc::search
