#include "answer/inner/parts.hpp"
#include "llmcalc/spec/question.hpp"
#include "spec/node.hpp"
#include "trust/error_bar.hpp"

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

std::string source_of(const trust::ErrorBar& bar) {
  if (bar.allocated_runs == 0) return fmt::format("{}: {}", bar.name, bar.source);
  return fmt::format("{}{}{}: {}, n = {}", bar.name, bar.kind.empty() ? "" : ", ", bar.kind, bar.source,
                     bar.allocated_runs);
}

}  // namespace

Verdict verdict(const spec::Question& question, const trust::Need& need) {
  const trust::ErrorBar bar = trust::error_bar(question);
  Verdict v;
  v.kind = trust::judge(question, need);
  v.capacity = trust::capacity_of(question).value_or(Bytes{});
  v.needed = need.accelerator;
  v.error = bar.allocated;
  v.error_source = source_of(bar);
  v.shown = bar.device;
  v.low = around(v.needed, 1.0 - bar.allocated.below);
  v.high = around(v.needed, 1.0 + bar.allocated.above);
  v.host_capacity = spec::host_capacity_of(question).value_or(Bytes{});
  v.host_needed = need.host;
  return v;
}

}  // namespace llmcalc::answer
