// Runs that need less than an accelerator has and die nevertheless.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::trust {

/// What the allocator of sharded layers would cache reaches the capacity, though what must fit does not: such runs have
/// died, because blocks of gathered weights are not given back in time.
bool saturates(const spec::Question& question, quantity::Bytes needed, quantity::Bytes capacity);

}  // namespace llmcalc::trust
