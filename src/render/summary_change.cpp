#include "render/style.hpp"
#include "render/summary.hpp"
#include "render/text_common.hpp"
#include "render/width.hpp"
#include "render/wrap.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>

namespace llmcalc::render {
namespace {

using search::Advice;
using trust::VerdictKind;

/// "a third slower", "2.1 x as fast"; empty where the change is not to be seen.
std::string speed_of(const Advice& advice) {
  constexpr double noticed = 0.01;
  const double speed = advice.speed.value_or(1.0);
  if (std::abs(speed - 1.0) < noticed) return {};
  return speed < 1.0 ? fmt::format("{:.0f} % slower", 100.0 * (1.0 - speed)) : fmt::format("{:.3g} x as fast", speed);
}

/// What it costs in a few words: the tables name the source. What costs time alone says how much.
std::string cost_of(const Advice& advice) {
  std::string words = advice.verdict == trust::VerdictKind::tight ? "tight" : "";
  const auto add = [&](std::string_view more) {
    if (!more.empty()) words.append(words.empty() ? "" : ", ").append(more);
  };
  const auto speed = speed_of(advice);
  add(speed);
  std::string_view rest = advice.cost;
  while (!rest.empty()) {
    const auto end = std::min(rest.find("; "), rest.size());
    auto cost = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 2, rest.size()));
    cost = cost.substr(0, cost.find(" ("));
    const bool is_time = cost.starts_with("time: ") || cost.starts_with("nothing") || cost.starts_with("little");
    if (is_time && (advice.speed || rest.empty() == false)) continue;
    if (const auto kind = cost.find(": "); kind != std::string_view::npos && kind < cost.find(' ')) {
      cost.remove_prefix(kind + 2);
    }
    add(cost);
  }
  return words;
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
    flag_columns = std::max(flag_columns, display_width(options_of(change)));
  }
  std::vector<std::string> lines;
  const auto column = need_columns + gaps - 2;
  const auto left = page_columns - std::min(page_columns, flag_columns + need_columns + gaps);
  for (const Advice& change : advice) {
    const auto options = options_of(change);
    auto line =
        fmt::format("  {:>{}}  {}", in_unit(change.needed, unit), need_columns, wrapped(options, column, column));
    if (left >= worth_saying) {
      line.append(flag_columns - display_width(options) + 2, ' ');
      line += paint(cut(cost_of(change), left), Ink::dim, style);
    }
    std::ranges::move(lines_of(line), std::back_inserter(lines));
  }
  return lines;
}

bool is_tight(const Report& report) { return report.estimate.verdict.kind == VerdictKind::tight; }

/// "h100-nvl no, h200-sxm tight, b200-sxm yes"
std::string cards_of(const Report& report) {
  constexpr std::size_t most = 6;
  std::string words;
  std::size_t told = 0;
  for (const auto& [gpu, verdict] : report.advised.cards) {
    if (told++ == most) break;
    const std::string_view word = verdict == VerdictKind::fits ? "yes" : verdict == VerdictKind::tight ? "tight" : "no";
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", gpu, word);
  }
  return words;
}

Block changes(const Report& report, const TextStyle& style) {
  constexpr std::size_t most = 4;
  const std::span<const Advice> advice = report.advised.changes;
  if (advice.empty()) return {labelled("to fit", "no change that llmcalc knows is enough", style), 1};
  const auto unit = memory_unit_of(report.estimate);
  const std::string_view aim = is_tight(report) ? "to be sure that it fits" : "to make it fit";
  Block block{{"  " + paint(fmt::format("{}, {} then", aim, unit.name), Ink::heading, style)}, 2};
  std::ranges::move(change_lines(advice.first(std::min(most, advice.size())), unit, style),
                    std::back_inserter(block.lines));
  block.least = std::min<std::size_t>(2, block.lines.size());
  std::ranges::move(labelled("cards", cards_of(report), style), std::back_inserter(block.lines));
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
