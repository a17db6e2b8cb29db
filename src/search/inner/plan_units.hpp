// The units of a search: every way to cut tensors, sequences, experts and batches that shares the prices of its blocks.
#pragma once

#include "search/plan.hpp"

#include <cstdint>
#include <vector>

namespace llmcalc::search {

std::vector<std::int64_t> divisors(std::int64_t n);

/// The stated values that divide `n`, or all divisors.
std::vector<std::int64_t> degrees(std::vector<std::int64_t> stated, std::int64_t n);

/// Appends the units of one base.
void add_units(std::uint32_t base, const spec::Question& question, const spec::RunChoices& choices,
               std::vector<PlanUnit>& units);

}  // namespace llmcalc::search
