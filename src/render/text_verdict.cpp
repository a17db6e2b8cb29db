#include "llmcalc/quantity/format.hpp"
#include "render/style.hpp"
#include "render/text_common.hpp"
#include "render/text_sections.hpp"
#include "render/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::render {
namespace {

using answer::Verdict;
using answer::VerdictKind;

std::string headline(VerdictKind kind, const TextStyle& style) {
  switch (kind) {
    case VerdictKind::fits:
      return paint("FITS", Ink::good, style);
    case VerdictKind::tight:
      return paint("TIGHT", Ink::caution, style);
    case VerdictKind::does_not_fit:
      return paint("DOES NOT FIT", Ink::bad, style);
    case VerdictKind::no_accelerator:
      break;
  }
  return paint("NO VERDICT", Ink::caution, style);
}

/// "71.30 of 79.15 GiB (90 %)"
std::string need_of_capacity(const Verdict& verdict, const MemoryUnit& unit) {
  const auto of_capacity = memory_unit_for(verdict.capacity);
  const bool rounds_to_nothing = 100.0 * (verdict.capacity / unit.size) < 1.0;
  auto amounts = rounds_to_nothing ? fmt::format("{} {} of {} {}", in_unit(verdict.needed, unit), unit.name,
                                                 in_unit(verdict.capacity, of_capacity), of_capacity.name)
                                   : fmt::format("{} of {} {}", in_unit(verdict.needed, unit),
                                                 in_unit(verdict.capacity, unit), unit.name);
  if (verdict.needed > verdict.capacity || verdict.capacity == quantity::Bytes{}) return amounts;
  return fmt::format("{} ({})", amounts, share_text(verdict.needed / verdict.capacity));
}

std::string amounts(const Verdict& verdict, const MemoryUnit& unit) {
  switch (verdict.kind) {
    case VerdictKind::fits:
      return need_of_capacity(verdict, unit);
    case VerdictKind::tight:
      return need_of_capacity(verdict, unit) + ", inside the error bar";
    case VerdictKind::does_not_fit:
      return fmt::format("short by {}: needs {}", quantity::format_gib(verdict.needed - verdict.capacity),
                         need_of_capacity(verdict, unit));
    case VerdictKind::no_accelerator:
      break;
  }
  return fmt::format("needs {} {}, no accelerator was named", in_unit(verdict.needed, unit), unit.name);
}

std::string echoed(const Report& report, std::string_view term) {
  const auto line = std::ranges::find(report.question, term, &EchoLine::term);
  return line == report.question.end() ? std::string() : line->value;
}

/// ", a100-80-sxm x1"
std::string accelerators(const Report& report) {
  const auto gpu = echoed(report, "gpu");
  const auto gpus = echoed(report, "gpus");
  if (gpu.empty()) return {};
  return fmt::format(", {} x{}", gpu, gpus.empty() ? "1" : gpus);
}

/// "peak in backward of layer 31 of 32 on pipeline stage 0 of 4"
std::string peak(const answer::MemoryAnswer& memory) {
  const auto place = memory.peak_place.empty() ? std::string(memory::name_of(memory.peak_phase)) : memory.peak_place;
  if (memory.stages.size() < 2) return "peak in " + place;
  return fmt::format("peak in {} on pipeline stage {} of {}", place, memory.stage, memory.stages.size());
}

/// "±6 %", or "-13 to +85 %" where the arms differ.
std::string arms(const answer::Spread& error) {
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
  auto text =
      fmt::format("{}  {}{}\n  {}\n", headline(verdict.kind, style), amounts(verdict, memory_unit_of(report.estimate)),
                  accelerators(report), wrapped(peak(report.estimate.memory), indent, indent));
  const auto bar = error_bar(verdict, memory_unit_of(report.estimate));
  if (!bar.empty()) text += fmt::format("  {}\n", paint(wrapped(bar, indent, indent), Ink::dim, style));
  return text;
}

}  // namespace llmcalc::render
