// The units of a search, every way to cut tensors, sequences and experts, and the ways to run what is cut.
#pragma once

#include "search/plan.hpp"

#include <cstdint>
#include <vector>

namespace llmcalc::search {

std::vector<std::int64_t> divisors(std::int64_t n);

/// The stated values that divide `n`, or all divisors, in ascending order.
std::vector<std::int64_t> degrees(std::vector<std::int64_t> stated, std::int64_t n);

/// How tokens reach their experts and who hands kernels over: it changes the time of a layout and not its memory.
struct Variant {
  bool node_dispatch = false;
  bool expert_overlap = false;
  spec::CudaGraph cuda_graph = spec::CudaGraph::none;
};

/// Appends the units of one base.
void add_units(std::uint32_t base, const spec::Question& question, const spec::RunChoices& choices,
               std::vector<PlanUnit>& units);

/// The ways to run a unit; no more than 12, and those that share kernels stand together.
void list_variants(const PlanUnit& unit, const spec::Question& question, const spec::RunChoices& choices,
                   std::vector<Variant>& variants);

}  // namespace llmcalc::search
