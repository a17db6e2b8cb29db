#include "api/inner/planner.hpp"

#include "answer/figures.hpp"
#include "dialects/launch.hpp"
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

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>
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

/// Whether the framework's own command says an option of the run, or the framework has no command at all.
bool says(const spec::Question& question, std::string_view option) {
  const auto launches = dialects::launches(question);
  const auto is_it = [&](const std::string& each) { return each.starts_with(option); };
  return std::ranges::all_of(launches, [&](const auto& launch) { return std::ranges::none_of(launch.beyond, is_it); });
}

/// Shardings that a command of the framework says, where nobody chose.
void leave_out_shardings(search::PlanQuestion& question) {
  const spec::Question& base = question.bases.front();
  const auto differs = [&](const spec::Question& each) { return each.training.framework != base.training.framework; };
  if (!question.choices.sharding.empty() || base.layout.gpus == 1 || std::ranges::any_of(question.bases, differs))
    return;
  const auto all = frameworks::row_of(base.training.framework).space.shardings.span();
  std::vector<spec::Sharding> said;
  for (const auto sharding : all) {
    spec::Question tried = base;
    tried.layout.sharding = sharding;
    if (says(tried, "--sharding ")) said.push_back(sharding);
  }
  if (said.size() < all.size()) question.choices.sharding = std::move(said);
}

bool says_recompute(spec::Question question, spec::RecomputePolicy policy) {
  question.training.recompute = {};
  question.training.recompute.policy = policy;
  return says(question, "--recompute ");
}

/// Whether it says what leaves the accelerator, however the states are shared.
bool says_offload(spec::Question question, spec::Offload offload) {
  question.training.offload = offload;
  const auto& shardings = frameworks::row_of(question.training.framework).space.shardings.span();
  return std::ranges::any_of(shardings, [&](spec::Sharding sharding) {
    question.layout.sharding = sharding;
    return says(question, "--offload ");
  });
}

/// Each of several frameworks may have what another has not.
void leave_out_offloads(search::PlanQuestion& question) {
  const auto framework = question.bases.front().training.framework;
  const auto differs = [&](const spec::Question& base) { return base.training.framework != framework; };
  if (!question.choices.offload.empty() || std::ranges::any_of(question.bases, differs)) return;
  for (const auto offload : frameworks::row_of(framework).space.offloads.span()) {
    if (says_offload(question.bases.front(), offload)) question.choices.offload.push_back(offload);
  }
}

/// Layouts that no command of any of the frameworks could start are not searched.
void leave_out_unsaid(search::PlanQuestion& question) {
  leave_out_shardings(question);
  leave_out_offloads(question);
  auto& chosen = question.choices.recompute;
  if (!chosen.empty()) return;
  for (const auto policy :
       {spec::RecomputePolicy::none, spec::RecomputePolicy::selective, spec::RecomputePolicy::full}) {
    const auto says = [&](const spec::Question& base) { return says_recompute(base, policy); };
    if (std::ranges::any_of(question.bases, says)) chosen.emplace_back().policy = policy;
  }
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
  leave_out_unsaid(question);
  return search::PlanSpace(std::move(question));
}

bool Planner::fits(const read::PlanWords& plan) const {
  return sources_.around.search(space(plan), {.is_quiet = true, .stops_at_first = true}).findings.fitting > 0;
}

bool Planner::fits(const std::vector<Given>& words) const { return fits(bases(words)); }

bool Planner::fits_with(const std::vector<Given>& words, std::int64_t gpus) const {
  return fits(resolve(with(words, "gpus", std::to_string(gpus))));
}

/// Powers of two up to the first that is enough, then what lies between it and the one before, node by node.
std::optional<std::int64_t> Planner::fewest(const std::vector<Given>& words) const {
  std::int64_t enough = 1;
  while (enough <= most_accelerators && !fits_with(words, enough)) enough *= 2;
  if (enough > most_accelerators) return std::nullopt;
  const auto base = resolve(words).bases.front().resolved.question;
  const std::int64_t node = spec::accelerators_per_node(base.gpu);
  const std::int64_t unit = std::min(node, std::max<std::int64_t>(1, enough / 4));
  for (std::int64_t count = enough / 2 + unit; count < enough; count += unit) {
    if (fits_with(words, count)) return count;
  }
  return enough;
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

/// The run that does most in a step, of those compared, by the framework that runs most of those. Of all accelerators
/// that there are those in one machine decide, where there are any: small ones by the hundred have another batch.
const read::Resolved& largest_of(const read::PlanWords& plan, bool of_any) {
  const auto training = [](const read::PlanBase& base) -> const spec::Training& {
    return base.resolved.question.training;
  };
  const auto rank = [&](const read::PlanBase& base) {
    const auto is_alike = [&](const read::PlanBase& other) {
      return training(other).step_tokens() == training(base).step_tokens() &&
             training(other).framework == training(base).framework;
    };
    const bool in_one_machine = base.resolved.question.layout.nodes == 1;
    return std::tuple(of_any && in_one_machine, training(base).step_tokens(),
                      std::ranges::count_if(plan.bases, is_alike));
  };
  return std::ranges::max_element(plan.bases, {}, rank)->resolved;
}

/// Framework, batch and data that nobody said go by the number of accelerators: runs that are compared, be it while
/// that number is sought, take those of the largest, as if they had been said.
std::vector<Given> said_alike(std::vector<Given> words, const spec::Question& like, const read::PlanWords& plan) {
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
  const read::Resolved like = largest_of(plan, says_any_gpu(words));
  const auto said = said_alike(words, like.question, plan);
  read::PlanWords alike = said.size() > words.size() ? known_bases(said) : read::PlanWords{};
  if (!alike.bases.empty() && count(said, alike)) {
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

/// Without a price behind all that have one.
double price_of(const search::ServerPlan& plan) {
  const auto& price = plan.speed.cost.all;
  return price ? quantity::in_dollars(*price) : std::numeric_limits<double>::infinity();
}

}  // namespace

search::ServerPlans plan_servers(std::vector<Given>& words, const read::Catalogue& catalogue, const AskServer& asked) {
  const auto* list = read::find_word(words, "gpu");
  const auto gpus = list == nullptr ? std::vector<std::string>() : compared(list->text, catalogue);
  if (gpus.size() < 2) return plans_for(words, asked(words));
  const bool any = list->text == "any";
  search::ServerPlans all;
  for (const auto& gpu : gpus) {
    words = with(std::move(words), "gpu", gpu);
    search::ServerPlans plans;
    try {
      plans = plans_for(words, asked(words));
    } catch (const BadInput&) {  // of all there are, some run no such server
      if (!any) throw;
    }
    all.layouts += plans.layouts;
    all.starting += plans.starting;
    all.estimates += plans.estimates;
    if (!plans.best.empty()) all.best.push_back(std::move(plans.best.front()));
  }
  std::ranges::stable_sort(all.best, {}, price_of);
  if (all.best.size() > best_servers) all.best.resize(best_servers);
  words = with(std::move(words), "gpu", all.best.empty() ? gpus.front() : all.best.front().question.gpu->id);
  return all;
}

}  // namespace llmcalc::api
