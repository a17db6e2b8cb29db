#include "render/style.hpp"
#include "render/summary.hpp"
#include "render/text_common.hpp"
#include "render/width.hpp"
#include "render/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <span>

namespace llmcalc::render {
namespace {

using search::Advice;
using trust::VerdictKind;

/// What it costs in a few words: the tables name the source, and what it is a cost in.
std::string_view cost_of(const Advice& advice) {
  std::string_view cost = advice.cost;
  cost = cost.substr(0, cost.find(" ("));
  for (const std::string_view kind : {"time: ", "money: ", "numerics: "}) {
    if (cost.starts_with(kind)) cost.remove_prefix(kind.size());
  }
  return cost;
}

/// The text, or its beginning where a line has no room for all of it.
std::string cut(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  const auto line = wrapped(text, 0, 0, columns - 4);
  return line.substr(0, line.find('\n')) + " ...";
}

/// "45.07  --gpu h100-sxm    $3.99 an hour each"
std::vector<std::string> change_lines(std::span<const Advice> advice, const MemoryUnit& unit, const TextStyle& style) {
  constexpr std::size_t gaps = 6;  // around the columns of a line
  constexpr std::size_t worth_saying = 12;
  std::size_t need_columns = 0;
  std::size_t flag_columns = 0;
  for (const Advice& change : advice) {
    need_columns = std::max(need_columns, in_unit(change.needed, unit).size());
    flag_columns = std::max(flag_columns, display_width(change.flag));
  }
  std::vector<std::string> lines;
  const auto column = need_columns + gaps - 2;
  const auto left = page_columns - std::min(page_columns, flag_columns + need_columns + gaps);
  for (const Advice& change : advice) {
    auto line =
        fmt::format("  {:>{}}  {}", in_unit(change.needed, unit), need_columns, wrapped(change.flag, column, column));
    if (left >= worth_saying) {
      line.append(flag_columns - display_width(change.flag) + 2, ' ');
      line += paint(cut(cost_of(change), left), Ink::dim, style);
    }
    std::ranges::move(lines_of(line), std::back_inserter(lines));
  }
  return lines;
}

Block changes(const Report& report, const TextStyle& style) {
  constexpr std::size_t most = 4;
  const std::span<const Advice> advice = report.advised.changes;
  if (advice.empty()) return {labelled("to fit", "no change that llmcalc knows is enough", style), 1};
  const auto unit = memory_unit_of(report.estimate);
  Block block{{"  " + paint(fmt::format("to make it fit, {} then", unit.name), Ink::heading, style)}, 2};
  std::ranges::move(change_lines(advice.first(std::min(most, advice.size())), unit, style),
                    std::back_inserter(block.lines));
  block.least = std::min<std::size_t>(3, block.lines.size());
  return block;
}

}  // namespace

Block summary_change(const Report& report, const TextStyle& style) {
  if (const auto& headroom = report.advised.headroom) {
    const auto words = fmt::format("up to --micro-batch {}, or --seq {}", headroom->micro_batch, headroom->seq);
    return {labelled("room", words, style), 1};
  }
  const auto kind = report.estimate.verdict.kind;
  if (kind == VerdictKind::does_not_fit || kind == VerdictKind::tight) return changes(report, style);
  return {};
}

}  // namespace llmcalc::render
