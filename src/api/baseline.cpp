#include "api/inner/baseline.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "quantity/parse.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <algorithm>
#include <array>
#include <cmath>
#include <optional>
#include <string>
#include <utility>

namespace llmcalc::api {
namespace {

using nlohmann::json;
using quantity::BadInput;

constexpr std::size_t most_lines = 5;

std::string gib_text(double bytes) { return quantity::format_gib(quantity::bytes(static_cast<std::int64_t>(bytes))); }
std::string time_text(double seconds) { return quantity::format_duration(quantity::seconds(seconds)); }
std::string money_text(double dollars) { return quantity::format_money(quantity::dollars(dollars)); }
std::string count_text(double count) { return quantity::format_count(static_cast<std::int64_t>(count)); }

/// A figure that an answer of some verb has, and which way is worse.
struct Figure {
  std::string_view place;  ///< in the answer's JSON (RFC 6901)
  std::string_view label;
  std::string (*text)(double);
  bool is_worse_below = false;
};

constexpr Figure figures[] = {
    {"/needed_bytes", "memory", gib_text},
    {"/memory/held_bytes", "memory", gib_text},
    {"/best/0/figures/needed_bytes", "memory", gib_text},
    {"/time/step_seconds", "step", time_text},
    {"/step_seconds", "step", time_text},
    {"/best/0/figures/step_seconds", "step", time_text},
    {"/time/cost_usd", "cost", money_text},
    {"/cost_usd", "cost", money_text},
    {"/best/0/figures/cost_usd", "cost", money_text},
    {"/capacity/max_concurrency", "requests at once", count_text, true},
    {"/at_once", "requests at once", count_text, true},
    {"/capacity/max_context", "longest context", count_text, true},
    {"/speed/ttft_s", "first token", time_text},
    {"/first_token_seconds", "first token", time_text},
    {"/speed/tpot_s", "a token", time_text},
    {"/token_seconds", "a token", time_text},
    {"/speed/cost/output_with_prompts_usd_per_million", "a million tokens", money_text},
    {"/token_cost_usd", "a million tokens", money_text},
    {"/model/parameters_total", "parameters", count_text},
};

/// From good to bad, as the answers of all verbs spell them.
constexpr std::array<std::string_view, 7> verdicts{"fits",       "tight",        "no_accelerator", "no accelerator",
                                                   "over_limit", "does_not_fit", "error"};

/// One line of what changed.
struct Change {
  std::string text;
  double worse = 0.0;  ///< by which share; infinite for a verdict, negative for what is better
};

std::optional<double> number_at(const json& answer, std::string_view place) {
  const json::json_pointer pointer{std::string(place)};
  const bool is_there = answer.contains(pointer) && answer.at(pointer).is_number();
  return is_there ? std::optional(answer.at(pointer).get<double>()) : std::nullopt;
}

std::string text_at(const json& answer, const char* key) {
  const bool is_there = answer.contains(key) && answer.at(key).is_string();
  return is_there ? answer.at(key).get<std::string>() : std::string();
}

std::optional<Change> change_of(const Figure& figure, const json& before, const json& now) {
  const auto [was, is] = std::pair(number_at(before, figure.place), number_at(now, figure.place));
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
  const bool has_runs = !before.is_object() || !before.contains("runs") || before.at("runs").is_array();
  if (is_answer && has_runs) return before;
  throw BadInput("--baseline " + path, "holds no answer of this question",
                 "keep one with --format json, as the same command prints it");
}

}  // namespace

std::vector<Flag> baseline_flags() {
  return {{"baseline", "file", "an answer kept as JSON: say what changed since", "Output"},
          {"worse-by", "percent", "with --baseline, a figure worse by more is a failure (exit 1)", "Output"}};
}

void compare_with_baseline(Reply& reply, const Arguments& arguments, const Surroundings& around) {
  const auto* path = arguments.find("baseline");
  const auto* most = arguments.find("worse-by");
  if (most != nullptr && path == nullptr) throw BadInput("--worse-by", "needs an answer to compare with", "--baseline");
  if (path == nullptr) return;
  const json now = json::parse(reply.show("json"));
  const json before = read_baseline(*path, around, text_at(now, "kind"));
  const bool are_runs = now.contains("runs") && before.contains("runs");
  auto changes = are_runs ? changes_of_runs(before.at("runs"), now.at("runs")) : changes_between(before, now, {});
  std::ranges::stable_sort(changes, std::ranges::greater{}, &Change::worse);
  const auto since = "since " + *path + ": ";
  if (changes.empty()) reply.notes.push_back(since + "nothing changed that a figure shows");
  const double allowed = most == nullptr ? HUGE_VAL : quantity::parse_share(*most, "--worse-by");
  for (std::size_t n = 0; n < changes.size(); ++n) {
    const Change& change = changes[n];
    const bool fails = most != nullptr && change.worse > allowed;
    if (fails && reply.code == ExitCode::fits) reply.code = ExitCode::does_not_fit;
    const bool is_last = n + 1 == most_lines && changes.size() > most_lines;
    if (n >= most_lines) continue;
    const auto more = is_last ? fmt::format("{} more figures changed less", changes.size() - n) : change.text;
    (fails ? reply.warnings : reply.notes).push_back(since + more);
  }
}

}  // namespace llmcalc::api
