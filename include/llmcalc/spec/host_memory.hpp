// How much memory the machines of a run have beside their accelerators.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <optional>

namespace llmcalc::spec {

struct Question;

/// Of one machine: what the person said, else what its accelerators come with; empty without an accelerator.
std::optional<quantity::Bytes> host_capacity_of(const Question& question);

/// What the ranks on one machine need of its memory together.
quantity::Bytes host_need_of(const Question& question, quantity::Bytes of_rank);

/// Whether anything of the run rests in that memory.
bool uses_host(const Question& question);

}  // namespace llmcalc::spec
