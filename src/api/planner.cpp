#include "api/inner/planner.hpp"

#include "answer/figures.hpp"
#include "frameworks/table.hpp"
#include "llmcalc/answer/estimate.hpp"
#include "llmcalc/quantity/error.hpp"
#include "quantity/elementary.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "spec/names.hpp"
#include "spec/node.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <bit>
#include <cmath>
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

/// Whether it would take longer at the peak of its accelerators, of which no run does more (MFU is 1 at most), or cost
/// more.
bool is_out_of_reach(const spec::Question& question, const search::PlanLimits& limits) try {
  if (!limits.time && !limits.cost) return false;
  const auto run = answer::estimate(question).compute;
  const auto gpus = static_cast<double>(question.layout.gpus);
  const auto least = std::min(1.0, question.calibration.time.factor) * run.mfu * run.useful;
  const bool costs_more = limits.cost && run.price && gpus * quantity::in_hours(least) * *run.price > *limits.cost;
  return costs_more || (limits.time && least > *limits.time);
} catch (const BadInput&) {  // without a choice this run is none
  return false;
}

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

/// Framework, length, batch and data that nobody said go by the accelerators, their number and their trainer: runs that
/// are compared, be it while that number is sought, take those of the largest, as if they had been said.
std::vector<Given> said_alike(std::vector<Given> words, const spec::Question& like, const read::PlanWords& plan) {
  const auto id = [](const read::PlanBase& base) { return base.resolved.question.gpu->id; };
  if (says_any_gpu(words)) words = with(std::move(words), "gpu", quantity::joined(plan.bases, ",", id));
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
  const auto is_other_length = [&](const spec::Question& each) { return each.training.seq != like.training.seq; };
  if (!says_any(words, {"seq"}) && any(is_other_length))
    words = with(std::move(words), "seq", std::to_string(like.training.seq));
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

/// Everything about a run but its accelerator, as text.
std::string said_but_for_accelerator(const read::PlanBase& base) {
  std::string said;
  for (const Given& word : base.varied) {
    if (word.term != "gpu") said += word.term + ' ' + word.text + ' ';
  }
  for (const read::Term& term : read::vocabulary()) {
    const bool is_of_run = term.group != read::TermGroup::hardware && term.group != read::TermGroup::answer;
    if (is_of_run) said += term.show(base.resolved.question) + ' ';
  }
  return said;
}

}  // namespace

std::optional<std::int64_t> fewest_enough(Range range, std::int64_t node,
                                          const std::function<bool(std::int64_t)>& is_enough) {
  auto enough = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(range.too_few) + 1));
  for (enough = std::min(enough, range.most); !is_enough(enough); enough = std::min(2 * enough, range.most)) {
    if (enough == range.most) return std::nullopt;
  }
  constexpr std::int64_t steps = 100;
  const std::int64_t machines = std::max<std::int64_t>(1, enough / 2 / steps / node);
  const std::int64_t unit = std::min(machines * node, std::max<std::int64_t>(1, enough / 4));
  const std::int64_t below = std::max(range.too_few, enough / 2);
  for (std::int64_t count = (below / unit + 1) * unit; count < enough; count += unit) {
    if (is_enough(count)) return count;
  }
  return enough;
}

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

search::PlanSpace Planner::space(const read::PlanWords& plan) const {
  search::PlanQuestion question = options_.asked;
  for (const auto& base : plan.bases) {
    question.bases.push_back(base.resolved.question);
    question.kinds.push_back(said_but_for_accelerator(base));
  }
  question.choices = plan.choices;
  startable_.narrow(question);
  return search::PlanSpace(std::move(question));
}

bool Planner::fits(const read::PlanWords& plan) const {
  return sources_.around.search(space(plan), {.is_quiet = true, .stops_at_first = true}).findings.fitting > 0;
}

bool Planner::fits(const std::vector<Given>& words) const { return fits(bases(words)); }

bool Planner::fits_with(const std::vector<Given>& words, std::int64_t gpus) const {
  const read::PlanWords plan = resolve(with(words, "gpus", std::to_string(gpus)));
  return !is_out_of_reach(plan.bases.front().resolved.question, options_.asked.limits) && fits(plan);
}

/// Numbers within half as many machines are known to be too few.
std::optional<std::int64_t> Planner::fewest(const std::vector<Given>& words, std::int64_t machines) const {
  const std::int64_t node = spec::accelerators_per_node(resolve(words).bases.front().resolved.question.gpu);
  const Range range{machines < most_accelerators ? node * (machines / 2) : 0,
                    std::min(node * machines, most_accelerators)};
  return fewest_enough(range, node, [&](std::int64_t count) { return fits_with(words, count); });
}

/// Accelerators that the objective and the limits can be told of.
void Planner::leave_out_unknown(read::PlanWords& plan) const {
  const bool needs_price = options_.asked.objective == search::Objective::cost || options_.asked.limits.cost;
  const bool needs_power = options_.asked.objective == search::Objective::energy;
  const std::size_t all = plan.bases.size();
  std::erase_if(plan.bases, [&](const read::PlanBase& base) {
    const auto& question = base.resolved.question;
    const bool priced = question.pricing.price_per_hour || spec::rent_of(*question.gpu);
    return (needs_price && !priced) || (needs_power && !question.gpu->tdp_watts);
  });
  if (plan.bases.empty()) throw BadInput("--gpu", "of no accelerator is the price or power known that this needs");
  const std::size_t left_out = all - plan.bases.size();
  if (left_out == 0) return;
  const bool is_one = left_out == 1;
  const auto lacks = needs_price && needs_power ? "rent or power is" : needs_price ? "rent is" : "power is";
  plan.on_all.push_back({fmt::format("{} of {} accelerators {} left out: {} {} not known", left_out, all,
                                     is_one ? "is" : "are", is_one ? "its" : "their", lacks)});
}

namespace {

/// One accelerator of each whose number nobody said: of "h100,4090:2" one H100.
std::vector<Given> with_one_each(const std::vector<Given>& words) {
  const Given* list = read::find_word(words, "gpu");
  if (list == nullptr) return with(words, "gpus", "1");
  const auto has_number = [&](std::string_view piece) {
    return read::has_word(read::spelled_out({{list->term, std::string(quantity::trim(piece)), list->origin}}), "gpus");
  };
  const auto gpus = quantity::pieces_of(list->text, ",");
  if (std::ranges::none_of(gpus, has_number)) return with(words, "gpus", "1");
  const auto numbered = [&](std::string_view piece) { return std::string(piece) + (has_number(piece) ? "" : ":1"); };
  return with(words, "gpu", quantity::joined(quantity::mapped(gpus, numbered), ","));
}

}  // namespace

read::PlanWords Planner::bases(const std::vector<Given>& words) const {
  const bool grows = options_.largest != Largest::nothing || options_.asked.objective == search::Objective::micro_batch;
  read::PlanWords plan = known_bases(words);
  if (grows && !plan.counts_accelerators)
    plan = resolve(with_one_each(words));  // the fewest that are enough for anything hold what is wanted
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

std::vector<read::PlanBase> Planner::counted(const std::vector<Given>& words, const read::PlanWords& plan,
                                             std::int64_t machines) const {
  std::vector<read::PlanBase> enough;
  for (const auto& base : plan.bases) {
    if (read::has_word(read::spelled_out(base.varied), "gpus")) {  // "h100,4090:2" says it of one alone
      enough.push_back(base);
      continue;
    }
    std::vector<Given> own = words;
    for (const Given& word : base.varied) own = with(std::move(own), word.term, word.text);
    const auto fewest_of_it = fewest(own, machines);
    if (!fewest_of_it) continue;
    auto counted = resolve(with(std::move(own), "gpus", std::to_string(*fewest_of_it)));
    enough.push_back({base.varied, std::move(counted.bases.front().resolved)});
  }
  return enough;
}

/// Accelerators of all that there are that run it in the fewest machines are compared, those twice as many at most:
/// nobody gathers small cards by the hundred for what one holds, and their batch would be everybody's.
bool Planner::count(const std::vector<Given>& words, read::PlanWords& plan) const {
  if (plan.counts_accelerators) return true;
  std::int64_t machines = says_any_gpu(words) ? 1 : most_accelerators;
  auto enough = counted(words, plan, machines);
  for (; enough.empty() && machines < most_accelerators; enough = counted(words, plan, machines)) machines *= 2;
  if (enough.empty()) return false;
  const auto is_left_out = [&](const read::PlanBase& base) {
    return std::ranges::none_of(enough, [&](const read::PlanBase& each) { return each.varied == base.varied; });
  };
  auto left_out = quantity::mapped_if(plan.bases, &read::PlanBase::varied, is_left_out);
  if (says_any_gpu(words) && !left_out.empty()) {
    const auto how_many = machines == 1 ? "one machine" : fmt::format("{} machines", machines);
    plan.on_all.push_back({fmt::format(
        "{} left out: {} is not enough of them",
        left_out.size() == 1 ? "1 accelerator is" : fmt::format("{} accelerators are", left_out.size()), how_many)});
  } else {
    quantity::append(plan.unable, left_out);
  }
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
  return with(words, term, value(std::max<std::int64_t>(step, 1)));  // where not even that fits the search says so
}

}  // namespace llmcalc::api
