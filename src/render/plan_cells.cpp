#include "render/inner/plan_cells.hpp"

#include "quantity/lists.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <span>

namespace llmcalc::render {

bool is_switched_on(std::string_view term, std::string_view value) {
  return value == "1" && (term == "node_dispatch" || term == "expert_overlap");
}

constexpr std::array<std::string_view, 2> always_told{"micro_batch", "dp"};
constexpr std::array<std::string_view, 2> never_told{"gpu", "gpus"};
constexpr std::array<std::string_view, 6> unused_values{"", "0", "1", "none", "1f1b", "ring"};

bool is_told(std::string_view term, std::string_view value) {
  using quantity::contains;
  return contains(always_told, term) || is_switched_on(term, value) ||
         (!contains(never_told, term) && !contains(unused_values, value));
}

std::string short_name(std::string_view term) {
  if (term == "micro_batch") return "mb";
  if (term == "cuda_graph") return "graphs";
  return std::string(term);
}

std::string exact(double value) { return fmt::format("{}", value); }

}  // namespace llmcalc::render
