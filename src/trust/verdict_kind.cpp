#include "llmcalc/trust/verdict_kind.hpp"

#include "llmcalc/spec/question.hpp"
#include "llmcalc/spec/traits.hpp"
#include "llmcalc/trust/error_bar.hpp"

namespace llmcalc::trust {

using quantity::Bytes;
using quantity::in_bytes;

std::optional<Bytes> capacity_of(const spec::Question& question) {
  if (question.pricing.memory) return question.pricing.memory;
  if (question.gpu) return question.gpu->memory_usable;
  return std::nullopt;
}

double excess(const spec::Question& question, Bytes needed, Bytes capacity) {
  const double high = static_cast<double>(in_bytes(needed)) * (1.0 + error_bar(question).allocated.above);
  return high - static_cast<double>(in_bytes(capacity));
}

bool saturates(const spec::Question& question, Bytes needed, Bytes capacity) {
  if (!spec::is_fsdp(question.layout.sharding) || question.layout.dp == 1) return false;
  const double cached = question.runtime.reserved_ratio ? 0.0 : error_bar(question).cached;
  return needed <= capacity &&
         static_cast<double>(in_bytes(needed)) * cached >= static_cast<double>(in_bytes(capacity));
}

VerdictKind judge(const spec::Question& question, Bytes needed) {
  const auto capacity = capacity_of(question);
  if (!capacity) return VerdictKind::no_accelerator;
  if (needed > *capacity) return VerdictKind::does_not_fit;
  const bool open = excess(question, needed, *capacity) > 0.0 || saturates(question, needed, *capacity);
  return open ? VerdictKind::tight : VerdictKind::fits;
}

}  // namespace llmcalc::trust
