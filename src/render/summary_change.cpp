#include "quantity/lists.hpp"
#include "render/inner/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>
#include <span>
#include <vector>

namespace llmcalc::render {

namespace {

using search::Advice;
using trust::VerdictKind;

constexpr double noticed = 0.01;

/// "a third slower", "2.1 x as fast"; empty where the change is not to be seen.
std::string speed_of(const Advice& advice) {
  const double speed = advice.speed.value_or(1.0);
  if (std::abs(speed - 1.0) < noticed) return {};
  return speed < 1.0 ? fmt::format("{:.0f} % slower", 100.0 * (1.0 - speed)) : fmt::format("{:.3g} x as fast", speed);
}

bool costs_time(std::string_view cost) {
  return cost.starts_with("time: ") || cost.starts_with("nothing") || cost.starts_with("little");
}

/// Without its source, and without the word in front that says what kind of cost it is.
std::string_view plain_cost(std::string_view cost) {
  cost = cost.substr(0, cost.find(" ("));
  const auto kind = cost.find(": ");
  return kind != std::string_view::npos && kind < cost.find(' ') ? cost.substr(kind + 2) : cost;
}

/// What it costs in a few words: the tables name the source. What costs time alone says how much.
std::string cost_of(const Advice& advice) {
  std::vector<std::string> words{advice.verdict == trust::VerdictKind::tight ? "tight" : "", speed_of(advice)};
  std::string_view rest = advice.cost;
  while (!rest.empty()) {
    const auto end = std::min(rest.find("; "), rest.size());
    const auto cost = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 2, rest.size()));
    const bool says_enough = advice.speed || !rest.empty();
    if (!costs_time(cost) || !says_enough) words.emplace_back(plain_cost(cost));
  }
  std::erase(words, std::string());
  return quantity::joined(words, ", ");
}

/// The text, or its beginning where a line has no room for all of it.
std::string cut(std::string_view text, std::size_t columns) {
  if (display_width(text) <= columns) return std::string(text);
  const auto line = wrapped(text, 0, 0, columns - 4);
  return line.substr(0, line.find('\n')) + " ...";
}

constexpr std::size_t worth_saying = 12;  // columns: less of a cost says nothing

/// What a change costs behind its options, `least_column` columns in at least, where the line has room for it.
void add_cost(const Advice& change, std::size_t least_column, std::string& lines, const TextStyle& style) {
  constexpr std::size_t gap = 2;
  const auto width = display_width(lines.substr(lines.rfind('\n') + 1));
  const auto start = std::max(width + gap, least_column);
  if (start + worth_saying > page_columns) return;
  const auto cost = cut(cost_of(change), page_columns - start);
  if (!cost.empty()) lines += std::string(start - width, ' ') + paint(cost, Ink::dim, style);
}

/// "45.07  --gpu h100-sxm    $3.99 an hour each": costs in a column where all options leave room for it.
std::vector<std::string> change_lines(std::span<const Advice> advice, const MemoryUnit& unit, const TextStyle& style) {
  std::size_t need_columns = 0;
  std::size_t flag_columns = 0;
  for (const Advice& change : advice) {
    need_columns = std::max(need_columns, in_unit(change.needed, unit).size());
    flag_columns = std::max(flag_columns, display_width(options_of(change)));
  }
  const auto column = need_columns + 4;
  const auto costs_at = column + flag_columns + 2;
  const bool aligned = costs_at + worth_saying <= page_columns;
  std::vector<std::string> lines;
  for (const Advice& change : advice) {
    auto line = fmt::format("  {:>{}}  {}", in_unit(change.needed, unit), need_columns,
                            wrapped(options_of(change), column, column));
    add_cost(change, aligned ? costs_at : 0, line, style);
    std::ranges::move(lines_of(line), std::back_inserter(lines));
  }
  return lines;
}

bool is_tight(const Report& report) { return report.estimate.verdict.kind == VerdictKind::tight; }

/// "h100-nvl no, h200-sxm tight, b200-sxm yes": of those that are too small the largest alone.
std::string cards_of(const Report& report) {
  constexpr std::size_t most = 5;
  const std::span<const search::CardVerdict> cards = report.advised.cards;
  const auto is_too_small = [](const search::CardVerdict& card) { return card.verdict == VerdictKind::does_not_fit; };
  const auto fits = static_cast<std::size_t>(std::ranges::find_if_not(cards, is_too_small) - cards.begin());
  if (!cards.empty() && fits == cards.size()) return fmt::format("none as it is, up to {}", cards.back().gpu);
  std::string words;
  for (const auto& [gpu, verdict] : cards.subspan(fits - std::min<std::size_t>(fits, 1))) {
    const std::string_view word = verdict == VerdictKind::fits ? "yes" : verdict == VerdictKind::tight ? "tight" : "no";
    words += fmt::format("{}{} {}", words.empty() ? "" : ", ", gpu, word);
    if (static_cast<std::size_t>(std::ranges::count(words, ',')) + 1 == most) break;
  }
  return words;
}

Paragraph changes(const Report& report, const TextStyle& style) {
  constexpr std::size_t most = 4;
  const std::span<const Advice> advice = report.advised.changes;
  constexpr std::size_t label_and_indent = 12;
  if (advice.empty()) return {labelled("to fit", "no change that llmcalc knows is enough", style), 1};
  const auto unit = memory_unit_of(report.estimate, style);
  const std::string_view aim = is_tight(report) ? "to be sure that it fits" : "to make it fit";
  Paragraph block{labelled("cards", cut(cards_of(report), page_columns - label_and_indent), style), 0};
  block.lines.push_back("  " + paint(fmt::format("{}, {} then", aim, unit.name), Ink::heading, style));
  const auto lead = block.lines.size();
  std::ranges::move(change_lines(advice.first(std::min(most, advice.size())), unit, style),
                    std::back_inserter(block.lines));
  block.least = lead + 1;
  return block;
}

}  // namespace

Paragraph summary_change(const Report& report, const TextStyle& style) {
  const auto kind = report.estimate.verdict.kind;
  if (const auto& headroom = report.advised.headroom; headroom && kind == VerdictKind::fits) {
    const auto words = fmt::format("up to --micro-batch {}, or --seq {}", headroom->micro_batch, headroom->seq);
    return {labelled("room", words, style), 1};
  }
  if (kind == VerdictKind::does_not_fit || kind == VerdictKind::tight) return changes(report, style);
  return {};
}

}  // namespace llmcalc::render
