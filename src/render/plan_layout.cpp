#include "render/inner/plan_layout.hpp"

#include "quantity/lists.hpp"
#include "render/inner/plan_cells.hpp"

#include <algorithm>
#include <array>
#include <string_view>

namespace llmcalc::render {
namespace {

constexpr std::array<std::string_view, 6> unused{"", "0", "1", "none", "1f1b", "ring"};

/// Values that say by themselves what they are of.
constexpr std::array<std::string_view, 5> plain{"schedule", "cp_exchange", "sharding", "model", "gpu"};

std::string degree_words(std::string_view term, const std::string& value) {
  if (quantity::contains(plain, term)) return value;
  if (term == "sp") return "sp";
  if (term == "node_dispatch") return "dispatch by node";
  if (term == "expert_overlap") return "experts overlap";
  if (term == "gpus") return "x" + value;
  return short_name(term) + " " + value;
}

/// What belongs to the word before it: "tp 4 sp", "pp 4 vpp 2", "8 x a100-80".
bool is_part_of_last(std::string_view term) {
  constexpr std::array<std::string_view, 6> parts{"gpus", "sp", "vpp", "schedule", "cp_exchange", "etp"};
  return quantity::contains(parts, term);
}

}  // namespace

std::vector<std::size_t> telling_terms(const PlanReport& report) {
  std::vector<std::size_t> terms;
  const auto& first = report.best.front().values;
  for (std::size_t i = 0; i < report.terms.size(); ++i) {
    const auto differs = [&](const PlanRow& row) { return row.values[i] != first[i]; };
    const bool varies = std::ranges::any_of(report.best, differs) || std::ranges::any_of(report.each, differs) ||
                        std::ranges::any_of(report.front, differs);
    if (varies || is_told(report.terms[i], first[i])) terms.push_back(i);
  }
  return terms;
}

std::string layout_words(const PlanReport& report, const PlanRow& row, const std::vector<std::size_t>& terms) {
  std::string words;
  for (const std::size_t i : terms) {
    const auto& term = report.terms[i];
    const auto& value = row.values[i];
    const bool always = term == "micro_batch" || term == "gpus" || is_switched_on(term, value);
    if (!always && quantity::contains(unused, value)) continue;
    if (!words.empty()) words += is_part_of_last(term) ? " " : ", ";
    words += degree_words(term, value);
  }
  return words;
}

}  // namespace llmcalc::render
