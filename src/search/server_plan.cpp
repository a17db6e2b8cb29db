#include "search/server_plan.hpp"

#include "llmcalc/quantity/error.hpp"
#include "serving/advice.hpp"
#include "serving/answer.hpp"
#include "serving/capacity.hpp"
#include "spec/cut.hpp"
#include "spec/names.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

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

/// The format that the model is published in, and of those that others publish it in the narrower ones: what the part
/// multiplies without widening, and int4, which only rests so.
std::vector<Quant> quants_of(const spec::Question& question, const ServerSpace& space) {
  std::vector<Quant> quants{question.serving.quant};
  const auto add = [&](Quant quant, bool multiplied) {
    const bool is_narrower = formats::facts(quant).bits < formats::facts(quants.front()).bits;
    if (space.quants && multiplied && is_narrower) quants.push_back(quant);
  };
  add(Quant::fp8, question.gpu->peaks.fp8.has_value());
  add(Quant::nvfp4, question.gpu->peaks.fp4.has_value());
  add(Quant::awq, true);
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

/// Numbers of equal parts of a whole: its divisors, or the one that is kept.
std::vector<std::int64_t> parts_of(std::int64_t whole, std::int64_t most, bool open, std::int64_t kept) {
  if (!open) return divides(kept, whole) ? std::vector{kept} : std::vector<std::int64_t>();
  std::vector<std::int64_t> parts;
  for (std::int64_t n = 1; n <= std::min(whole, most); ++n) {
    if (divides(n, whole)) parts.push_back(n);
  }
  return parts;
}

/// Every layout of all accelerators of a question.
class Layouts {
 public:
  Layouts(const spec::Question& question, const ServerSpace& space) : question_(question), space_(space) {}

  template <class Take>
  void for_each(const Take& take) const {
    if (spec::reads_gguf(question_.serving.engine)) return for_each_share_of_cards(take);
    const spec::Layout& own = question_.layout;
    const std::int64_t in_node = std::min(most_tensor_parallel, question_.gpu->gpus_per_node);
    const std::int64_t gpus = own.gpus;
    for (const std::int64_t tp : parts_of(gpus, in_node, space_.tp, own.tp)) {
      for (const std::int64_t pp : parts_of(gpus / tp, gpus, space_.pp, own.pp)) {
        for_each_share_of_experts(tp, pp, take);
      }
    }
  }

 private:
  /// Calls `take` with every number of servers without ranks, the layers of each on its share of the cards.
  template <class Take>
  void for_each_share_of_cards(const Take& take) const {
    spec::Question next = question_;
    next.layout = {};
    next.layout.gpus = question_.layout.gpus;
    next.layout.nodes = question_.layout.nodes;
    for (const std::int64_t copies : parts_of(next.layout.gpus, next.layout.gpus, space_.copies, question_.layout.dp)) {
      next.layout.dp = copies;
      take(next);
    }
  }

  template <class Take>
  void for_each_share_of_experts(std::int64_t tp, std::int64_t pp, const Take& take) const {
    const std::int64_t left = question_.layout.gpus / (tp * pp);
    const std::int64_t experts = question_.model.shape.moe.experts;
    const auto own = question_.serving.layout.attention_dp;
    for (const std::int64_t adp : parts_of(left, experts > 0 ? left : 1, space_.attention_dp, own)) {
      spec::Question next = question_;
      next.layout.tp = tp;
      next.layout.pp = pp;
      next.layout.dp = left / adp;
      next.serving.layout.attention_dp = adp;
      std::vector<std::int64_t> spread{1};
      if (experts > 0 && tp * adp > 1) spread.push_back(tp * adp);
      if (!space_.ep) spread = {question_.layout.ep};
      for (const std::int64_t ep : spread) {
        if (!divides(ep, tp * adp)) continue;
        next.layout.ep = ep;
        next.layout.etp = tp * adp / ep;
        next.serving.layout.expert_tp = next.layout.etp;
        if (!spec::server_conflict(next)) for_each_share(next, take);
      }
    }
  }

  const spec::Question& question_;
  const ServerSpace& space_;
};

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
    if (!best || serving::compared(load, speed) > serving::compared(load, *best)) best = speed;
  }
  return best;
}

void consider(const spec::Question& question, const ServerSpace& space, ServerPlans& plans) {
  const auto& load = question.serving.load;
  if (!serving::can_run(question) || !serving::takes_options(question.serving)) return;
  const serving::Deployment deployment = serving::deploy(question);
  ++plans.layouts;
  const std::int64_t most = at_once(question, deployment);
  if (most == 0) return;
  ++plans.starting;
  const auto asked = space.concurrency ? concurrencies_up_to(most) : std::vector{load.concurrency};
  const auto speeds = serving::speeds_at(deployment, asked);
  plans.estimates += static_cast<std::int64_t>(speeds.size());
  auto speed = best_of(load, speeds);
  if (!speed) return;
  const double tokens = serving::compared(load, *speed);
  if (load.rate) {
    speed = serving::speed_of(deployment);
    ++plans.estimates;
    if (!speed || !serving::keeps_limits(load, *speed)) return;
  }
  plans.best.push_back({question, std::move(*speed), tokens});
  if (!load.rate && space.concurrency)
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
    if (!keeps || serving::compared(load, speeds.front()) < serving::compared(load, plan.speed)) continue;
    plan.speed = speeds.front();
    plan.most_tokens_per_s = serving::compared(load, plan.speed);
    load.concurrency = middle.front();
  }
}

void sort_by_tokens(std::vector<ServerPlan>& plans) {
  std::ranges::stable_sort(plans, std::ranges::greater(), &ServerPlan::most_tokens_per_s);
}

}  // namespace

std::string change_of(const ServerPlan& plan) {
  const spec::Serving& serving = plan.question.serving;
  auto words = fmt::format("--engine {} --quant {}", spec::name_of(serving.engine), spec::name_of(serving.quant)) +
               serving::layout_words(plan.question, plan.question);
  if (!serving.load.rate) words += fmt::format(" --concurrency {}", serving.load.concurrency);
  return words;
}

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
      Layouts(base, space).for_each([&](const spec::Question& next) { consider(next, space, plans); });
    }
  }
  sort_by_tokens(plans.best);
  if (plans.best.size() > most) plans.best.resize(most);
  if (space.concurrency) std::ranges::for_each(plans.best, refine);
  sort_by_tokens(plans.best);
  return plans;
}

}  // namespace llmcalc::search
