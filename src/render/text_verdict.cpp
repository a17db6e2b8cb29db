#include "quantity/format.hpp"
#include "render/inner/style.hpp"
#include "render/inner/text_common.hpp"
#include "render/inner/text_sections.hpp"
#include "render/inner/wrap.hpp"

#include <fmt/format.h>

namespace llmcalc::render {
namespace {

using answer::Verdict;
using trust::VerdictKind;

/// "71.30 of 79.15 GiB (90 %)"
std::string need_of_capacity(const Verdict& verdict, const MemoryUnit& unit) {
  const auto amounts =
      fmt::format("{} of {} {}", in_unit(verdict.needed, unit), in_unit(verdict.capacity, unit), unit.name);
  if (verdict.needed > verdict.capacity || verdict.capacity == quantity::Bytes{}) return amounts;
  return fmt::format("{} ({})", amounts, share_text(verdict.needed / verdict.capacity));
}

std::string amounts(const Verdict& verdict, const MemoryUnit& unit) {
  switch (verdict.kind) {
    case VerdictKind::fits: return need_of_capacity(verdict, unit);
    case VerdictKind::tight: return need_of_capacity(verdict, unit) + ", inside the error bar";
    case VerdictKind::does_not_fit:
      if (verdict.needed <= verdict.capacity) return need_of_capacity(verdict, unit);
      return fmt::format("short by {}: needs {}", quantity::format_gib(verdict.needed - verdict.capacity),
                         need_of_capacity(verdict, unit));
    case VerdictKind::no_accelerator: break;
  }
  return fmt::format("needs {} {}, no accelerator was named", in_unit(verdict.needed, unit), unit.name);
}

/// ", a100-80-sxm x1"
std::string accelerators(const Report& report) {
  const auto gpu = echoed(report, "gpu");
  const auto gpus = echoed(report, "gpus");
  if (gpu.empty()) return {};
  return fmt::format(", {} x{}", gpu, gpus.empty() ? "1" : gpus);
}

/// "±6 %", or "-13 to +85 %" where the arms differ.
std::string arms(const trust::Spread& error) {
  if (error.below == error.above) return "±" + share_text(error.above);
  return fmt::format("-{:.0f} to +{}", 100.0 * error.below, share_text(error.above));
}

std::string error_bar(const Verdict& verdict, const MemoryUnit& unit) {
  if (verdict.error.above <= 0) return {};
  const auto source = verdict.error_source.empty() ? std::string() : fmt::format(" ({})", verdict.error_source);
  return fmt::format("error bar {}, {} to {} {}{}", arms(verdict.error), in_unit(verdict.low, unit),
                     in_unit(verdict.high, unit), unit.name, source);
}

}  // namespace

std::string verdict_section(const Report& report, const TextStyle& style) {
  const auto& verdict = report.estimate.verdict;
  constexpr std::size_t indent = 2;
  auto text = fmt::format("{}  {}{}\n  {}\n", verdict_word(verdict.kind, style),
                          amounts(verdict, memory_unit_of(report.estimate, style)), accelerators(report),
                          wrapped(peak_words(report.estimate.memory), indent, indent));
  if (const auto host = host_need_words(verdict); !host.empty()) text += fmt::format("  {}\n", host);
  const auto bar = error_bar(verdict, memory_unit_of(report.estimate, style));
  if (!bar.empty()) text += fmt::format("  {}\n", paint(wrapped(bar, indent, indent), Ink::dim, style));
  return text;
}

}  // namespace llmcalc::render
