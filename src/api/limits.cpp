#include "api/inner/limits.hpp"

#include "llmcalc/quantity/error.hpp"
#include "quantity/format.hpp"
#include "quantity/parse.hpp"

#include <fmt/format.h>

namespace llmcalc::api {
namespace {

using quantity::BadInput;

/// Whatever has no verdict, no price or no time has none to be limited.
void require(bool is_known, std::string_view limit, std::string_view why, std::string_view hint) {
  if (!is_known) throw BadInput("--" + std::string(limit), std::string(why), std::string(hint));
}

quantity::Bytes margin_of(const RunLimits& limits, quantity::Bytes capacity) {
  if (limits.margin) return *limits.margin;
  return quantity::bytes(static_cast<std::int64_t>(*limits.margin_share * static_cast<double>(in_bytes(capacity))));
}

}  // namespace

std::vector<Flag> limit_flags(std::string_view group) {
  return {{"max-memory", "size, as 70GiB", "no more of an accelerator", group},
          {"max-days", "number", "no run that takes longer", group},
          {"max-cost", "dollars", "no run that costs more", group}};
}

search::PlanLimits limits_of(const Arguments& arguments) {
  search::PlanLimits limits;
  if (const auto* text = arguments.find("max-memory")) limits.memory = quantity::parse_capacity(*text, "--max-memory");
  if (const auto* text = arguments.find("max-days")) {
    limits.time = quantity::days(quantity::parse_number(*text, "--max-days"));
  }
  if (const auto* text = arguments.find("max-cost")) {
    limits.cost = quantity::dollars(quantity::parse_number(*text, "--max-cost"));
  }
  return limits;
}

RunLimits run_limits_of(const Arguments& arguments) {
  RunLimits limits{.most = limits_of(arguments), .strict = arguments.has("strict")};
  const auto* margin = arguments.find("margin");
  if (margin == nullptr) return limits;
  if (margin->ends_with('%')) {
    limits.margin_share = quantity::parse_share(*margin, "--margin");
  } else {
    limits.margin = quantity::parse_capacity(*margin, "--margin");
  }
  return limits;
}

std::vector<std::string> beyond(const RunLimits& limits, const answer::Estimate& estimate) {
  const auto& [memory, time, cost] = limits.most;
  const auto& verdict = estimate.verdict;
  const bool has_card = verdict.kind != trust::VerdictKind::no_accelerator;
  const auto need = limits.strict ? verdict.high : verdict.needed;
  std::vector<std::string> found;
  if (memory && need > *memory) {
    found.push_back(fmt::format("--max-memory: {} are needed, {} allowed", quantity::format_gib(need),
                                quantity::format_gib(*memory)));
  }
  if (limits.margin || limits.margin_share) {
    require(has_card, "margin", "there is no accelerator on which something is left", "name one with --gpu");
    const auto left = verdict.capacity > need ? verdict.capacity - need : quantity::Bytes{};
    const auto margin = margin_of(limits, verdict.capacity);
    if (left < margin) {
      found.push_back(
          fmt::format("--margin: {} are left, {} asked for", quantity::format_gib(left), quantity::format_gib(margin)));
    }
  }
  const auto& run = estimate.compute;
  if (time) {
    require(estimate.timed, "max-days", "nothing is timed", "name an accelerator with --gpu");
    if (run.total > *time) {
      found.push_back(fmt::format("--max-days: the run takes {}, {} are allowed", quantity::format_duration(run.total),
                                  quantity::format_duration(*time)));
    }
  }
  if (cost) {
    require(has_card, "max-cost", "nothing is timed", "name an accelerator with --gpu");
    require(run.cost.has_value(), "max-cost", "the accelerator's price is not known", "say it with --price");
    if (*run.cost > *cost) {
      found.push_back(fmt::format("--max-cost: the run costs {}, {} are allowed", quantity::format_money(*run.cost),
                                  quantity::format_money(*cost)));
    }
  }
  return found;
}

}  // namespace llmcalc::api
