#include "quantity/lists.hpp"
#include "render/inner/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

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

/// A need far below the card's memory may be tight all the same.
std::string_view tightness(const Advice& advice) {
  if (advice.verdict != VerdictKind::tight) return "";
  return advice.doubt == trust::Doubt::host ? "tight in host memory" : "tight";
}

/// Without its source, and without the word in front that says what kind of cost it is.
std::string_view plain_cost(std::string_view cost) {
  cost = cost.substr(0, cost.find(" ("));
  const auto kind = cost.find(": ");
  return kind != std::string_view::npos && kind < cost.find(' ') ? cost.substr(kind + 2) : cost;
}

/// The price of a change in a few words: the tables name the source. What costs time alone says how much.
std::vector<std::string> costs_of(const Advice& advice) {
  std::vector<std::string> words{std::string(tightness(advice)), speed_of(advice)};
  std::string_view rest = advice.cost;
  while (!rest.empty()) {
    const auto end = std::min(rest.find("; "), rest.size());
    const auto cost = rest.substr(0, end);
    rest.remove_prefix(std::min(end + 2, rest.size()));
    const bool says_enough = advice.speed || !rest.empty();
    if (!costs_time(cost) || !says_enough) words.emplace_back(plain_cost(cost));
  }
  std::erase(words, std::string());
  return words;
}

/// As many of them, from the first, as the line has room for.
std::string fitting(std::span<const std::string> pieces, std::size_t columns) {
  std::string line;
  for (const auto& piece : pieces) {
    const auto longer = line.empty() ? piece : line + ", " + piece;
    if (display_width(longer) > columns) break;
    line = longer;
  }
  return line;
}

/// The price of a change behind its options, `least_column` columns in at least, where the line has room for it.
void add_cost(const Advice& change, std::size_t least_column, std::string& lines, const TextStyle& style) {
  constexpr std::size_t gap = 2;
  const auto width = display_width(lines.substr(lines.rfind('\n') + 1));
  const auto start = std::max(width + gap, least_column);
  const auto cost = fitting(costs_of(change), page_columns - std::min(start, page_columns));
  if (!cost.empty()) lines += std::string(start - width, ' ') + paint(cost, Ink::dim, style);
}

/// "45.07  --gpu h100-sxm    $3.99 an hour each": costs in a column where all options leave room for it.
void add_changes(std::span<const Advice> advice, const MemoryUnit& unit, const TextStyle& style, Paragraph& block) {
  std::size_t need_columns = 0;
  std::size_t flag_columns = 0;
  for (const Advice& change : advice) {
    need_columns = std::max(need_columns, in_unit(change.needed, unit).size());
    flag_columns = std::max(flag_columns, display_width(options_of(change)));
  }
  constexpr std::size_t worth_saying = 12;  // columns: less of a cost says nothing
  const auto column = need_columns + 4;
  const auto costs_at = column + flag_columns + 2;
  for (const Advice& change : advice) {
    auto line = fmt::format("  {:>{}}  {}", in_unit(change.needed, unit), need_columns,
                            wrapped(options_of(change), column, column));
    add_cost(change, costs_at + worth_saying <= page_columns ? costs_at : 0, line, style);
    add_lines(block, lines_of(line));
    block.ends.push_back(block.lines.size());
  }
}

bool is_tight(const Report& report) { return report.estimate.verdict.kind == VerdictKind::tight; }

/// "h200-sxm tight, b200-sxm yes": those that take it.
std::vector<std::string> cards_of(const Report& report) {
  const std::span<const search::CardVerdict> cards = report.advised.cards;
  const auto is_too_small = [](const search::CardVerdict& card) { return card.verdict == VerdictKind::does_not_fit; };
  const auto fits = static_cast<std::size_t>(std::ranges::find_if_not(cards, is_too_small) - cards.begin());
  if (!cards.empty() && fits == cards.size()) return {"no larger one takes it unchanged, up to " + cards.back().gpu};
  return quantity::mapped(cards.subspan(fits), [](const search::CardVerdict& card) {
    return card.gpu + (card.verdict == VerdictKind::fits    ? " yes"
                       : card.verdict == VerdictKind::tight ? " tight"
                                                            : " no");
  });
}

Paragraph changes(const Report& report, const TextStyle& style) {
  constexpr std::size_t most = 4;
  const std::span<const Advice> advice = report.advised.changes;
  constexpr std::size_t label_and_indent = 12;
  if (advice.empty()) return {labelled("to fit", "no change that llmcalc knows is enough", style), 1};
  const auto unit = unit_of(report.estimate.verdict.capacity, style);
  const std::string_view aim = is_tight(report) ? "to be sure that it fits" : "to make it fit";
  Paragraph block{labelled("cards", fitting(cards_of(report), page_columns - label_and_indent), style)};
  block.lines.push_back("  " +
                        paint(fmt::format("{}: {} with it, and what to type", aim, unit.name), Ink::heading, style));
  add_changes(advice.first(std::min(most, advice.size())), unit, style, block);
  block.least = block.ends.front();
  return block;
}

}  // namespace

Paragraph summary_change(const Report& report, const TextStyle& style) {
  const auto kind = report.estimate.verdict.kind;
  if (const auto& headroom = report.advised.headroom; headroom && kind == VerdictKind::fits) {
    const bool takes_more = headroom->micro_batch > 1;
    const auto batch = takes_more ? fmt::format("--micro-batch {}, or ", headroom->micro_batch) : std::string();
    return {labelled("room", fmt::format("up to {}--seq {}", batch, headroom->seq), style), 1};
  }
  if (kind == VerdictKind::does_not_fit || kind == VerdictKind::tight) return changes(report, style);
  return {};
}

}  // namespace llmcalc::render
