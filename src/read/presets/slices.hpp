// Instances of one accelerator that it was cut into (NVIDIA's Multi-Instance GPU).
#pragma once

#include "llmcalc/spec/accelerator.hpp"

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace llmcalc::read {

/// What a name says of a slice.
struct Slice {
  std::string whole;         ///< what stands before: the name of the accelerator, or nothing
  std::string profile;       ///< "3g.40gb"
  std::int64_t compute = 0;  ///< of the seven slices of the multiprocessors
  std::int64_t memory = 0;   ///< gigabytes as marketed
};

/// "h100-sxm-mig-3g.40gb", "NVIDIA A100-SXM4-80GB MIG 1g.10gb", "MIG 1g.10gb".
std::optional<Slice> find_slice(std::string_view name);

/// One such slice of an accelerator.
/// \throws quantity::BadInput at `place` where it has no slices of that size
spec::Accelerator cut(const spec::Accelerator& whole, const Slice& slice, std::string_view place);

}  // namespace llmcalc::read
