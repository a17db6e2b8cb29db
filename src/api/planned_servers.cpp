#include "api/inner/planner.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "spec/node.hpp"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace llmcalc::api {

using quantity::BadInput;
using read::Given;

namespace {

/// Those that a search compares: of "any" all that are rented, by which they are told apart.
std::vector<std::string> compared(const std::string& list, const read::Catalogue& catalogue) {
  using Preset = read::AcceleratorPreset;
  const auto id = [](const Preset& preset) { return preset.accelerator.id; };
  const auto has_price = [](const Preset& preset) { return spec::rent_of(preset.accelerator).has_value(); };
  if (list == "any") return quantity::mapped_if(catalogue.accelerators(), id, has_price);
  return quantity::mapped(quantity::pieces_of(list, ","), [](auto part) { return std::string(quantity::trim(part)); });
}

constexpr std::size_t best_servers = 5;

/// Terms that a person said are kept, those that nobody said are searched.
search::ServerPlans plans_for(const std::vector<Given>& words, const spec::Question& question) {
  const auto open = [&](std::string_view term) { return !read::has_word(words, term); };
  return search::plan_server(question,
                             {.engines = open("engine"),
                              .quants = open("quant"),
                              .tp = open("tp"),
                              .pp = open("pp"),
                              .attention_dp = open("attention_dp"),
                              .ep = open("ep") && open("expert_tp"),
                              .copies = open("copies"),
                              .concurrency = open("concurrency")},
                             best_servers);
}

/// Accelerators that are tried for a server and its copies: eight of the largest copy that advice tries, which has 64.
/// A bound on the search, as no such limit is published.
constexpr std::int64_t most_serving = 512;

void add_counts(const search::ServerPlans& of, search::ServerPlans& all) {
  all.layouts += of.layouts;
  all.starting += of.starting;
  all.estimates += of.estimates;
}

/// As many accelerators as were said or follow from what was, or the fewest that keep the limits.
search::ServerPlans counted_plans(const std::vector<Given>& words, const AskServer& asked) {
  const spec::Question question = asked(words);
  search::ServerPlans plans = plans_for(words, question);
  const auto said = read::spelled_out(words);
  const auto says = [&](std::string_view term) { return read::has_word(said, term); };
  constexpr std::array counting{"gpus", "tp", "pp", "ep", "attention_dp", "copies"};
  if (std::ranges::any_of(counting, says) || !plans.best.empty()) return plans;
  const auto keeps = [&](std::int64_t count) {
    const auto own = with(words, "gpus", std::to_string(count));
    search::ServerPlans of_count = plans_for(own, asked(own));
    add_counts(of_count, plans);
    if (of_count.best.empty()) return false;
    plans.best = std::move(of_count.best);
    return plans.counted = true;
  };
  fewest_enough({0, most_serving}, spec::accelerators_per_node(question.gpu), keeps);
  return plans;
}

/// Without a price behind all that have one.
double price_of(const search::ServerPlan& plan) {
  const auto& price = plan.speed.cost.all;
  return price ? quantity::in_dollars(*price) : std::numeric_limits<double>::infinity();
}

std::vector<Given> with_gpus(std::vector<Given> words, const search::ServerPlans& counted) {
  return with(std::move(words), "gpus", std::to_string(counted.best.front().question.layout.gpus));
}

}  // namespace

search::ServerPlans plan_servers(std::vector<Given>& words, const read::Catalogue& catalogue, const AskServer& asked) {
  const auto* list = read::find_word(words, "gpu");
  const auto gpus = list == nullptr ? std::vector<std::string>() : compared(list->text, catalogue);
  if (gpus.size() < 2) {
    auto plans = counted_plans(words, asked);
    if (plans.counted) words = with_gpus(std::move(words), plans);
    return plans;
  }
  const bool any = list->text == "any";
  search::ServerPlans all;
  for (const auto& gpu : gpus) {
    words = with(std::move(words), "gpu", gpu);
    search::ServerPlans plans;
    try {
      plans = counted_plans(words, asked);
    } catch (const BadInput&) {  // of all there are, some run no such server
      if (!any) throw;
    }
    add_counts(plans, all);
    all.counted = all.counted || plans.counted;
    if (!plans.best.empty()) all.best.push_back(std::move(plans.best.front()));
  }
  std::ranges::stable_sort(all.best, {}, price_of);
  if (all.best.size() > best_servers) all.best.resize(best_servers);
  words = with(std::move(words), "gpu", all.best.empty() ? gpus.front() : all.best.front().question.gpu->id);
  if (all.counted) words = with_gpus(std::move(words), all);
  return all;
}

}  // namespace llmcalc::api
