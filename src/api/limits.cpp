#include "api/inner/limits.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"
#include "read/vocabulary.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace llmcalc::api {
namespace {

using quantity::BadInput;

/// Whatever has no verdict, no price or no time has none to be limited.
void require(bool is_known, std::string_view limit, std::string_view why, std::string_view hint) {
  if (!is_known) throw BadInput("--" + std::string(limit), std::string(why), std::string(hint));
}

using nlohmann::json;

constexpr std::size_t most_lines = 5;
constexpr double most_figure = 0x1p63;  // bytes are counted in 64 bits

std::string gib_text(double bytes) { return quantity::format_gib(quantity::bytes(static_cast<std::int64_t>(bytes))); }
std::string time_text(double seconds) { return quantity::format_duration(quantity::seconds(seconds)); }
std::string money_text(double dollars) { return quantity::format_money(quantity::dollars(dollars)); }
std::string count_text(double count) { return quantity::format_count(static_cast<std::int64_t>(count)); }

/// A figure of answers, and which way is worse.
struct Figure {
  std::string_view label;
  std::string (*text)(double);
  bool is_worse_below;
  std::string_view of_one;  ///< its place in JSON
  std::string_view of_many = {};
  std::string_view of_plan = {};
};

constexpr Figure figures[] = {
#include "shown/figures.inc"
};

/// From good to bad, as the answers of all verbs spell them.
constexpr std::array<std::string_view, 5> verdicts{"fits", "tight", "no_accelerator", "does_not_fit", "error"};

/// Kinds of answers that have such figures.
constexpr std::array<std::string_view, 4> comparable{"fit", "serve", "plan", "runs"};

/// One line of what changed.
struct Change {
  std::string text;
  double worse = 0.0;  ///< by which share; infinite for a verdict, negative for what is better
};

std::optional<double> number_of(const Figure& figure, const json& answer) {
  for (const auto place : {figure.of_one, figure.of_many, figure.of_plan}) {
    const json::json_pointer pointer{std::string(place)};
    if (place.empty() || !answer.contains(pointer) || !answer.at(pointer).is_number()) continue;
    const auto number = answer.at(pointer).get<double>();
    if (std::abs(number) < most_figure) return number;
    throw BadInput("--baseline", fmt::format("holds {} at {}, which no answer has", number, place));
  }
  return std::nullopt;
}

std::string text_at(const json& answer, const char* key) {
  const bool is_there = answer.contains(key) && answer.at(key).is_string();
  return is_there ? answer.at(key).get<std::string>() : std::string();
}

std::optional<Change> change_of(const Figure& figure, const json& before, const json& now) {
  const auto [was, is] = std::pair(number_of(figure, before), number_of(figure, now));
  if (!was || !is || figure.text(*was) == figure.text(*is)) return std::nullopt;
  const double share = *was == 0.0 ? HUGE_VAL : (*is - *was) / *was;
  return Change{
      fmt::format("{} {} -> {} ({:+.1f} %)", figure.label, figure.text(*was), figure.text(*is), 100.0 * share),
      figure.is_worse_below ? -share : share};
}

std::optional<Change> change_of_verdict(const json& before, const json& now) {
  const auto [was, is] = std::pair(text_at(before, "verdict"), text_at(now, "verdict"));
  if (was == is || was.empty() || is.empty()) return std::nullopt;
  const bool is_worse = std::ranges::find(verdicts, is) > std::ranges::find(verdicts, was);
  return Change{fmt::format("verdict {} -> {}", was, is), is_worse ? HUGE_VAL : -HUGE_VAL};
}

std::vector<Change> changes_between(const json& before, const json& now, const std::string& name) {
  std::vector<Change> changes;
  const auto add = [&](std::optional<Change> change) {
    if (!change) return;
    if (!name.empty()) change->text = name + ": " + change->text;
    changes.push_back(std::move(*change));
  };
  add(change_of_verdict(before, now));
  for (const Figure& figure : figures) add(change_of(figure, before, now));
  return changes;
}

/// Lines of many runs are told apart by their names.
std::vector<Change> changes_of_runs(const json& before, const json& now) {
  std::vector<Change> changes;
  const auto named = [](const json& runs, const std::string& name) {
    return std::ranges::find_if(runs, [&](const json& run) { return text_at(run, "name") == name; });
  };
  for (const json& run : now) {
    const auto name = text_at(run, "name");
    const auto was = named(before, name);
    if (was == before.end()) {
      changes.push_back({name + ": new", 0.0});
    } else {
      quantity::append(changes, changes_between(*was, run, name));
    }
  }
  for (const json& run : before) {
    const auto name = text_at(run, "name");
    if (named(now, name) == now.end()) changes.push_back({name + ": no longer asked", 0.0});
  }
  return changes;
}

/// \throws quantity::BadInput for what is no answer of that kind
json read_baseline(const std::string& path, const Surroundings& around, const std::string& kind) {
  auto before = json::parse(around.text(path, "--baseline"), nullptr, false);
  const bool is_answer = before.is_object() && text_at(before, "kind") == kind;
  const bool has_runs = is_answer && (!before.contains("runs") || before.at("runs").is_array());
  if (has_runs) return before;
  throw BadInput("--baseline " + path, "holds no answer of this question",
                 "keep one with --format json, as the same command prints it");
}

/// The worst first, in a few lines: those that are worse by more than `allowed` are warnings, and the first of them a
/// failure.
void tell(const std::vector<Change>& changes, const std::string& since, double allowed, Reply& reply) {
  const auto is_beyond = [&](const Change& change) { return change.worse > allowed; };
  if (changes.empty()) reply.notes.push_back(since + "nothing changed that a figure shows");
  if (std::ranges::any_of(changes, is_beyond) && reply.code == ExitCode::fits) reply.code = ExitCode::does_not_fit;
  const auto told = changes.size() > most_lines ? most_lines - 1 : changes.size();
  const auto say = [&](const Change& change, std::string text) {
    (is_beyond(change) ? reply.warnings : reply.notes).push_back(since + std::move(text));
  };
  for (std::size_t n = 0; n < told; ++n) say(changes[n], changes[n].text);
  const auto rest = changes.size() - told;
  if (rest > 0) say(changes[told], fmt::format("{} more figures changed less", rest));
}

}  // namespace

search::PlanLimits limits_of(const Arguments& arguments) {
  search::PlanLimits limits;
  if (const auto* text = arguments.find("max-memory")) limits.memory = quantity::parse_capacity(*text, "--max-memory");
  if (const auto* text = arguments.find("max-days")) {
    limits.time = quantity::parse_days(*text, "--max-days");
  }
  if (const auto* text = arguments.find("max-cost")) {
    limits.cost = quantity::parse_money(*text, "--max-cost");
  }
  if (const auto* text = arguments.find("margin")) read::take_margin(*text, "--margin", limits);
  return limits;
}

std::vector<std::string> beyond(const search::PlanLimits& limits, const answer::Estimate& estimate, bool strict) {
  const auto& verdict = estimate.verdict;
  const bool has_card = verdict.kind != trust::VerdictKind::no_accelerator;
  const auto need = strict ? verdict.high : verdict.needed;
  const bool has_margin = limits.margin || limits.margin_share;
  require(has_card || !has_margin, "margin", "there is no accelerator on which something is left",
          "name one with --gpu");
  auto found = trust::beyond(limits, need, verdict.capacity);
  const auto& run = estimate.compute;
  if (limits.time) {
    require(estimate.timed, "max-days", "nothing is timed", "name an accelerator with --gpu");
    if (run.total > *limits.time) {
      found.push_back(fmt::format("--max-days: the run takes {}, {} are allowed", quantity::format_duration(run.total),
                                  quantity::format_duration(*limits.time)));
    }
  }
  if (limits.cost) {
    require(has_card, "max-cost", "nothing is timed", "name an accelerator with --gpu");
    require(run.cost.has_value(), "max-cost", "the accelerator's price is not known", "say it with --price");
    if (*run.cost > *limits.cost) {
      found.push_back(fmt::format("--max-cost: the run costs {}, {} are allowed", quantity::format_money(*run.cost),
                                  quantity::format_money(*limits.cost)));
    }
  }
  return found;
}

void compare_with_baseline(Reply& reply, const Arguments& arguments, const Surroundings& around) {
  const auto* path = arguments.find("baseline");
  const auto* most = arguments.find("worse-by");
  if (most != nullptr && path == nullptr) throw BadInput("--worse-by", "needs an answer to compare with", "--baseline");
  if (path == nullptr) return;
  const json now = json::parse(reply.show("json"));
  const auto kind = text_at(now, "kind");
  if (!quantity::contains(comparable, kind)) {
    throw BadInput("--baseline", "compares runs, servers and plans, and this answer is none of them");
  }
  const json before = read_baseline(*path, around, kind);
  const bool are_runs = now.contains("runs") && before.contains("runs");
  auto changes = are_runs ? changes_of_runs(before.at("runs"), now.at("runs")) : changes_between(before, now, {});
  std::ranges::stable_sort(changes, std::ranges::greater{}, &Change::worse);
  tell(changes, "since " + *path + ": ", most ? quantity::parse_share(*most, "--worse-by") : HUGE_VAL, reply);
}

}  // namespace llmcalc::api
