#include "answer/error_bar.hpp"
#include "answer/parts.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::answer {

using quantity::Bytes;
using quantity::in_bytes;

namespace {

/// A figure times a factor near one; a high end that no integer can hold is as high as they go.
Bytes around(Bytes needed, double factor) {
  constexpr double highest = 9.2e18;
  const double value = std::clamp(static_cast<double>(in_bytes(needed)) * factor, 0.0, highest);
  return quantity::bytes(static_cast<std::int64_t>(value));
}

std::string source_of(const ErrorBar& bar) {
  if (bar.allocated_runs == 0) return fmt::format("{}: {}", bar.name, bar.source);
  return fmt::format("{}: {}, n = {}", bar.name, bar.source, bar.allocated_runs);
}

}  // namespace

std::optional<Bytes> capacity_of(const spec::Question& question) {
  if (question.pricing.memory) return question.pricing.memory;
  if (question.gpu) return question.gpu->memory_usable;
  return std::nullopt;
}

double excess(const spec::Question& question, Bytes needed, Bytes capacity) {
  const double high = static_cast<double>(in_bytes(needed)) * (1.0 + error_bar(question).allocated.above);
  return high - static_cast<double>(in_bytes(capacity));
}

VerdictKind judge(const spec::Question& question, Bytes needed) {
  const auto capacity = capacity_of(question);
  if (!capacity) return VerdictKind::no_accelerator;
  if (needed > *capacity) return VerdictKind::does_not_fit;
  return excess(question, needed, *capacity) > 0.0 ? VerdictKind::tight : VerdictKind::fits;
}

Verdict verdict(const spec::Question& question, Bytes needed) {
  const ErrorBar& bar = error_bar(question);
  Verdict v;
  v.kind = judge(question, needed);
  v.capacity = capacity_of(question).value_or(Bytes{});
  v.needed = needed;
  v.error = bar.allocated;
  v.error_source = source_of(bar);
  v.shown = bar.device;
  v.low = around(needed, 1.0 - bar.allocated.below);
  v.high = around(needed, 1.0 + bar.allocated.above);
  return v;
}

}  // namespace llmcalc::answer
