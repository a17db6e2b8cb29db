// One unit for all the memory figures of an answer, so that they can be compared and summed by eye.
#pragma once

#include "llmcalc/quantity/quantity.hpp"

#include <optional>
#include <string>
#include <string_view>

namespace llmcalc::render {

struct MemoryUnit {
  std::string_view name;
  quantity::Bytes size;
};

/// The largest binary unit of MiB, GiB, TiB, PiB and EiB that is not larger than `largest`; MiB at the least.
MemoryUnit memory_unit_for(quantity::Bytes largest);

/// The unit of that name, binary or decimal: "GiB" is 2^30 bytes, "GB" 10^9. Empty where there is none.
std::optional<MemoryUnit> find_memory_unit(std::string_view name);

/// "71.30" of that unit.
std::string in_unit(quantity::Bytes value, const MemoryUnit& unit);

/// A share of a whole in words: "21 %", "<1 %" when it would round to nothing, "0 %" when it is nothing.
std::string share_text(double share);

}  // namespace llmcalc::render
