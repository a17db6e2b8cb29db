#include "llmcalc/trust/verdict_kind.hpp"

#include "llmcalc/spec/question.hpp"
#include "quantity/format.hpp"
#include "spec/node.hpp"
#include "spec/traits.hpp"
#include "trust/error_bar.hpp"

#include <algorithm>
#include <limits>

namespace llmcalc::trust {

using quantity::Bytes;
using quantity::in_bytes;

std::optional<Bytes> capacity_of(const spec::Question& question) {
  if (question.pricing.memory) return question.pricing.memory;
  if (question.gpu) return question.gpu->memory_usable;
  return std::nullopt;
}

std::vector<std::string> beyond(const spec::MemoryLimits& limits, Bytes need, Bytes capacity) {
  std::vector<std::string> found;
  const auto left = capacity > need ? capacity - need : Bytes{};
  const auto margin = limits.margin_of(capacity);
  if (limits.memory && need > *limits.memory) {
    found.push_back("--max-memory: " + quantity::format_gib(need) + " are needed, " +
                    quantity::format_gib(*limits.memory) + " allowed");
  }
  if (left < margin) {
    found.push_back("--margin: " + quantity::format_gib(left) + " are left, " + quantity::format_gib(margin) +
                    " asked for");
  }
  return found;
}

double excess(const spec::Question& question, Bytes needed, Bytes capacity) {
  const double high = static_cast<double>(in_bytes(needed)) * (1.0 + error_bar(question).allocated.above);
  return high - static_cast<double>(in_bytes(capacity));
}

namespace {

/// Such runs have died, because blocks of gathered weights are not given back in time.
bool saturates(const spec::Question& question, Bytes needed, Bytes capacity) {
  if (!spec::is_fsdp(question.layout.sharding) || question.layout.dp == 1) return false;
  const double cached = question.runtime.reserved_ratio ? 0.0 : error_bar(question).cached;
  return needed <= capacity &&
         static_cast<double>(in_bytes(needed)) * cached >= static_cast<double>(in_bytes(capacity));
}

constexpr double with_buffers = 1.5;

}  // namespace

double host_excess(const spec::Question& question, Bytes of_machine) {
  const auto capacity = spec::host_capacity_of(question);
  if (!capacity || of_machine == Bytes{}) return -std::numeric_limits<double>::infinity();
  return with_buffers * static_cast<double>(in_bytes(of_machine)) - static_cast<double>(in_bytes(*capacity));
}

VerdictKind judge_accelerator(const spec::Question& question, Bytes needed, Bytes capacity) {
  if (needed > capacity) return VerdictKind::does_not_fit;
  const bool open = excess(question, needed, capacity) > 0.0 || saturates(question, needed, capacity);
  return open ? VerdictKind::tight : VerdictKind::fits;
}

VerdictKind judge_host(const spec::Question& question, Bytes of_machine) {
  const auto capacity = spec::host_capacity_of(question);
  if (!capacity || of_machine == Bytes{}) return VerdictKind::fits;
  if (of_machine > *capacity) return VerdictKind::does_not_fit;
  return host_excess(question, of_machine) > 0.0 ? VerdictKind::tight : VerdictKind::fits;
}

VerdictKind judge(const spec::Question& question, const Need& need) {
  const auto capacity = capacity_of(question);
  if (!capacity) return VerdictKind::no_accelerator;
  static_assert(VerdictKind::fits < VerdictKind::tight && VerdictKind::tight < VerdictKind::does_not_fit);
  return std::max(judge_accelerator(question, need.accelerator, *capacity), judge_host(question, need.host));
}

Doubt doubt_of(const spec::Question& question, const Need& need) {
  if (judge(question, need) != VerdictKind::tight) return Doubt::none;
  const auto capacity = capacity_of(question).value_or(Bytes{});
  if (excess(question, need.accelerator, capacity) > 0.0) return Doubt::error_bar;
  return saturates(question, need.accelerator, capacity) ? Doubt::cached : Doubt::host;
}

}  // namespace llmcalc::trust
