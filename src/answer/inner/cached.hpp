// What the allocator of a framework holds at most, blocks included that fit nothing, while nothing presses it.
#pragma once

#include "frameworks/profile.hpp"
#include "memory/stage_walk.hpp"

namespace llmcalc::spec {
struct Question;
}

namespace llmcalc::answer {

/// A size times a measured factor, rounded up.
/// \throws quantity::Overflow
quantity::Bytes scaled(quantity::Bytes size, double factor);

/// Torch's max_memory_reserved where nothing but `room` limits it.
quantity::Bytes cached_level(const spec::Question& question, const frameworks::Profile& profile,
                             const memory::StepMemory& memory, quantity::Bytes room);

}  // namespace llmcalc::answer
