#include "api/inner/planner.hpp"

#include "answer/figures.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/elementary.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "read/vocabulary.hpp"
#include "spec/names.hpp"
#include "spec/node.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace llmcalc::api {

using quantity::BadInput;
using read::Given;

namespace {

/// More than any published run had.
constexpr std::int64_t most_accelerators = 131'072;

/// Sequences grow in steps that kernels and context parallelism like.
constexpr std::int64_t sequence_unit = 1024;
constexpr std::int64_t longest_sequence = std::int64_t{1} << 24;

/// Sizes grow in steps of a hundredth of a power of ten, 2.3 %, from 10 million to 100 trillion parameters.
constexpr std::int64_t size_steps = 700;
constexpr double smallest_exponent = 7.0;
constexpr double steps_of_ten = 100.0;

std::int64_t size_of(std::int64_t step) {
  const double exact = quantity::pow(10.0, smallest_exponent + static_cast<double>(step) / steps_of_ten);
  const double digits = quantity::pow(10.0, std::floor(quantity::log10(exact)) - 2.0);
  return static_cast<std::int64_t>(std::llround(exact / digits) * std::llround(digits));
}

/// The largest of `most` steps that is good, 0 if none is; good ones come before bad ones.
std::int64_t last_good(std::int64_t most, const std::function<bool(std::int64_t)>& is_good) {
  std::int64_t good = 0;
  std::int64_t bad = 1;
  while (bad <= most && is_good(bad)) good = std::exchange(bad, 2 * bad);
  bad = std::min(bad, most + 1);
  while (bad - good > 1) {
    const std::int64_t middle = good + (bad - good) / 2;
    (is_good(middle) ? good : bad) = middle;
  }
  return good;
}

/// Powers of two up to the first that is enough, then what lies between it and the one before, node by node.
std::optional<std::int64_t> fewest_enough(std::int64_t most, std::int64_t node,
                                          const std::function<bool(std::int64_t)>& is_enough) {
  std::int64_t enough = 1;
  while (enough <= most && !is_enough(enough)) enough *= 2;
  if (enough > most) return std::nullopt;
  const std::int64_t unit = std::min(node, std::max<std::int64_t>(1, enough / 4));
  for (std::int64_t count = enough / 2 + unit; count < enough; count += unit) {
    if (is_enough(count)) return count;
  }
  return enough;
}

}  // namespace

std::span<const std::string_view> chosen_terms() {
  static const auto terms = [] {
    std::vector<std::string_view> all{"framework", "gpu", "gpus"};
    quantity::append(all, read::names_of_choices());
    return all;
  }();
  return terms;
}

std::vector<Given> with(std::vector<Given> words, const std::string& term, const std::string& text) {
  std::erase_if(words, [&](const Given& word) { return word.term == term; });
  words.push_back({term, text, {read::Source::flag, spec::option_of(term)}});
  return words;
}

read::PlanWords Planner::resolve(const std::vector<Given>& words) const {
  return read::resolve_plan(words, config_, sources_.catalogue);
}

search::PlanSpace Planner::space(const read::PlanWords& plan, bool strict) const {
  search::PlanQuestion question = options_.asked;
  question.strict = strict;
  for (const auto& base : plan.bases) question.bases.push_back(base.resolved.question);
  question.choices = plan.choices;
  startable_.narrow(question);
  return search::PlanSpace(std::move(question));
}

bool Planner::fits(const read::PlanWords& plan) const {
  return sources_.around.search(space(plan), {.is_quiet = true, .stops_at_first = true}).findings.fitting > 0;
}

bool Planner::fits(const std::vector<Given>& words) const { return fits(bases(words)); }

bool Planner::fits_with(const std::vector<Given>& words, std::int64_t gpus) const {
  return fits(resolve(with(words, "gpus", std::to_string(gpus))));
}

std::optional<std::int64_t> Planner::fewest(const std::vector<Given>& words) const {
  const std::int64_t node = spec::accelerators_per_node(resolve(words).bases.front().resolved.question.gpu);
  return fewest_enough(most_accelerators, node, [&](std::int64_t count) { return fits_with(words, count); });
}

/// Accelerators that the objective and the limits can be told of.
void Planner::leave_out_unknown(read::PlanWords& plan) const {
  const bool needs_price = options_.asked.objective == search::Objective::cost || options_.asked.limits.cost;
  const bool needs_power = options_.asked.objective == search::Objective::energy;
  const std::size_t all = plan.bases.size();
  std::erase_if(plan.bases, [&](const read::PlanBase& base) {
    const auto& question = base.resolved.question;
    const bool priced = question.pricing.price_per_hour || question.gpu->price_per_hour;
    return (needs_price && !priced) || (needs_power && !question.gpu->tdp_watts);
  });
  if (plan.bases.empty()) throw BadInput("--gpu", "of no accelerator is the price or power known that this needs");
  const std::size_t left_out = all - plan.bases.size();
  if (left_out == 0) return;
  plan.on_all.push_back({std::to_string(left_out) + " of " + std::to_string(all) +
                         " accelerators are left out: their price or power is not known"});
}

namespace {

bool says_any(const std::vector<Given>& words, std::initializer_list<std::string_view> terms) {
  return std::ranges::any_of(terms, [&](std::string_view term) { return read::has_word(words, term); });
}

bool says_any_gpu(const std::vector<Given>& words) {
  const Given* gpu = read::find_word(words, "gpu");
  return gpu != nullptr && gpu->text == "any";
}

/// The run that does most in a step, of those compared, by the framework that runs most of those.
const read::Resolved& largest_of(const read::PlanWords& plan) {
  const auto training = [](const read::PlanBase& base) -> const spec::Training& {
    return base.resolved.question.training;
  };
  const auto rank = [&](const read::PlanBase& base) {
    const auto is_alike = [&](const read::PlanBase& other) {
      return training(other).step_tokens() == training(base).step_tokens() &&
             training(other).framework == training(base).framework;
    };
    return std::pair(training(base).step_tokens(), std::ranges::count_if(plan.bases, is_alike));
  };
  return std::ranges::max_element(plan.bases, {}, rank)->resolved;
}

/// Accelerators of all that there are that run it in one machine are compared, where some do: nobody gathers small
/// cards by the hundred for what one holds, and their batch would be everybody's.
void leave_out_clusters(read::PlanWords& plan) {
  const auto in_one = [](const read::PlanBase& base) { return base.resolved.question.layout.nodes == 1; };
  if (std::ranges::none_of(plan.bases, in_one)) return;
  if (const std::size_t left_out = std::erase_if(plan.bases, std::not_fn(in_one)))
    plan.on_all.push_back({std::to_string(left_out) + " accelerators are left out: they need more than one machine"});
}

/// Framework, batch and data that nobody said go by the number of accelerators: runs that are compared, be it while
/// that number is sought, take those of the largest, as if they had been said.
std::vector<Given> said_alike(std::vector<Given> words, const spec::Question& like, const read::PlanWords& plan) {
  const auto id = [](const read::PlanBase& base) { return base.resolved.question.gpu->id; };
  if (says_any_gpu(words))
    words = with(std::move(words), "gpu", fmt::format("{}", fmt::join(quantity::mapped(plan.bases, id), ",")));
  bool again = !plan.counts_accelerators;  // other words may be enough with other numbers and have other defaults
  const auto any = [&](const auto& is_it) {
    return std::ranges::any_of(plan.bases, [&](const auto& base) { return is_it(base.resolved.question); });
  };
  const auto framework = like.training.framework;
  const auto is_run_otherwise = [&](const spec::Question& each) { return each.training.framework != framework; };
  const auto has_no = [&](const spec::Question& each) { return !frameworks::unable_to(framework, each).empty(); };
  if (!says_any(words, {"framework"}) && (again || any(is_run_otherwise)) && !any(has_no)) {
    words = with(std::move(words), "framework", std::string(spec::name_of(framework)));
    again = true;
  }
  const std::int64_t tokens = like.training.step_tokens();
  const auto does_less = [&](const spec::Question& each) { return each.training.step_tokens() != tokens; };
  if (!says_any(words, {"global_batch"}) && (again || any(does_less)))
    words = with(std::move(words), "global_batch", std::to_string(like.training.global_batch));
  const auto& steps = like.pricing.data.steps;
  const auto has_other_data = [&](const spec::Question& each) { return each.pricing.data.steps != steps; };
  if (says_any(words, {"tokens", "steps", "samples"}) || !(again || any(has_other_data))) return words;
  return steps ? with(std::move(words), "steps", read::find_term("steps")->show(like))
               : with(std::move(words), "tokens", fmt::format("{}x", answer::compute_optimal_ratio));
}

/// Each by its own, where one framework cannot run all.
void say_that_frameworks_differ(read::PlanWords& plan) {
  auto& assumptions = plan.bases.front().resolved.assumptions;
  std::erase_if(assumptions, [](const spec::Assumption& each) { return each.term == "framework"; });
  plan.on_all.push_back({"each run by the framework that most use for it: name yours", "framework"});
}

}  // namespace

read::PlanWords Planner::bases(const std::vector<Given>& words) const {
  const bool grows = options_.largest != Largest::nothing || options_.asked.objective == search::Objective::micro_batch;
  read::PlanWords plan = known_bases(words);
  if (grows && !plan.counts_accelerators)
    plan = resolve(with(words, "gpus", "1"));  // the fewest that are enough for anything hold what is wanted
  if (!count(words, plan) || (plan.bases.size() < 2 && plan.counts_accelerators)) return plan;
  const read::Resolved like = largest_of(plan);
  const auto said = said_alike(words, like.question, plan);
  read::PlanWords alike = said.size() > words.size() ? resolve(said) : read::PlanWords{};
  if (!alike.bases.empty() && count(said, alike)) {
    quantity::append(alike.unable, plan.unable);
    alike.on_all = std::move(plan.on_all);
    plan = std::move(alike);
    plan.bases.front().resolved.assumptions = like.assumptions;
  }
  const auto is_run_otherwise = [&](const read::PlanBase& base) {
    return base.resolved.question.training.framework != like.question.training.framework;
  };
  if (!says_any(words, {"framework"}) && std::ranges::any_of(plan.bases, is_run_otherwise))
    say_that_frameworks_differ(plan);
  return plan;
}

read::PlanWords Planner::known_bases(const std::vector<Given>& words) const {
  read::PlanWords plan = resolve(words);
  if (says_any_gpu(words)) leave_out_unknown(plan);
  return plan;
}

bool Planner::count(const std::vector<Given>& words, read::PlanWords& plan) const {
  if (plan.counts_accelerators) return true;
  std::vector<read::PlanBase> enough;
  for (auto& base : plan.bases) {
    if (read::has_word(read::spelled_out(base.varied), "gpus")) {  // "h100,4090:2" says it of one alone
      enough.push_back(std::move(base));
      continue;
    }
    std::vector<Given> own = words;
    for (const Given& word : base.varied) own = with(std::move(own), word.term, word.text);
    const auto fewest_of_it = fewest(own);
    if (!fewest_of_it) plan.unable.push_back(base.varied);
    if (!fewest_of_it) continue;
    auto counted = resolve(with(std::move(own), "gpus", std::to_string(*fewest_of_it)));
    enough.push_back({std::move(base.varied), std::move(counted.bases.front().resolved)});
  }
  if (enough.empty()) plan.unable.clear();
  if (enough.empty()) return false;
  plan.bases = std::move(enough);
  if (says_any_gpu(words)) leave_out_clusters(plan);
  return true;
}

std::vector<Given> Planner::grown(const std::vector<Given>& words) const {
  const bool by_length = options_.largest == Largest::seq;
  const std::string term = by_length ? "seq" : "params";
  const auto* model = read::find_word(words, "model");
  if (!by_length && model != nullptr)
    throw BadInput("--largest params", "grows a Llama-like model, and '" + model->text + "' has its size",
                   "leave the model out, or say --largest seq");
  const auto value = [&](std::int64_t step) {
    return by_length ? std::to_string(step * sequence_unit)
                     : quantity::format_parameters(quantity::parameters(size_of(step)));
  };
  const std::int64_t most = by_length ? longest_sequence / sequence_unit : size_steps;
  const std::int64_t step = last_good(most, [&](std::int64_t n) { return fits(with(words, term, value(n))); });
  if (step == 0) throw BadInput("--largest", "not even --" + term + " " + value(1) + " is within the limits");
  return with(words, term, value(step));
}

namespace {

/// Those that a search compares: of "any" all that have a price, by which they are told apart.
std::vector<std::string> compared(const std::string& list, const read::Catalogue& catalogue) {
  using Preset = read::AcceleratorPreset;
  const auto id = [](const Preset& preset) { return preset.accelerator.id; };
  const auto has_price = [](const Preset& preset) { return preset.accelerator.price_per_hour.has_value(); };
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
                              .copies = open("copies")},
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
  const bool counted = says_any(read::spelled_out(words), {"gpus", "tp", "pp", "ep", "attention_dp", "copies"});
  if (counted || !plans.best.empty()) return plans;
  const auto keeps = [&](std::int64_t count) {
    const auto own = with(words, "gpus", std::to_string(count));
    search::ServerPlans of_count = plans_for(own, asked(own));
    add_counts(of_count, plans);
    if (of_count.best.empty()) return false;
    plans.best = std::move(of_count.best);
    return plans.counted = true;
  };
  fewest_enough(most_serving, spec::accelerators_per_node(question.gpu), keeps);
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
