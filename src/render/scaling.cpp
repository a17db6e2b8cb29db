// `llmcalc scale` for people.

#include "quantity/format.hpp"
#include "render/foreign.hpp"
#include "render/inner/described.hpp"

#include <algorithm>

namespace llmcalc::render {

namespace {

using laws::FrontierPoint;

constexpr int digits = 4;

/// Figures known and following of one section; of the run, whence.
Paragraph section_of(const laws::ScaleAnswer& answer, laws::ScaleSection section, const TextStyle& style) {
  const bool marked = section == laws::ScaleSection::run;
  Table table({Align::left, Align::left, Align::left}, marked ? "" : "  ");
  bool empty = true;
  for (const auto& line : answer.lines) {
    if (line.section != section) continue;
    empty = false;
    table.add_row({std::string(line.label), line.text, marked ? std::string(word_of(line.origin)) : ""});
    if (line.origin != laws::Standing::given) add_explanation(table, line.why, style);
  }
  if (empty) return {};
  Paragraph block;
  if (!marked) block.lines.emplace_back(words_of(section).heading);
  add_lines(block, lines_of(table.render()));
  block.least = block.lines.size();
  return block;
}

constexpr int loss_columns = 24;

/// A bar from the lowest loss of the table (none) to the highest (full).
std::string loss_bar(const FrontierPoint& point, const std::vector<FrontierPoint>& points) {
  const auto [least, most] = std::ranges::minmax(points, {}, [](const auto& p) { return p.loss.value_or(0.0); });
  if (!point.loss || !(*most.loss > *least.loss)) return {};
  return bar((*point.loss - *least.loss) / (*most.loss - *least.loss), loss_columns);
}

struct Column {
  std::string_view heading;
  std::string (*cell)(const FrontierPoint& point);
};

std::string params_cell(const FrontierPoint& point) {
  return quantity::format_parameters(quantity::parameters(std::llround(point.split.params)));
}
std::string tokens_cell(const FrontierPoint& point) {
  return quantity::format_tokens(quantity::tokens(point.split.tokens));
}
std::string ratio_cell(const FrontierPoint& point) {
  return quantity::format_number(point.split.tokens / point.split.params, digits);
}
std::string compute_cell(const FrontierPoint& point) {
  return quantity::format_flops(quantity::flops(point.split.compute()));
}
std::string loss_cell(const FrontierPoint& point) {
  return point.loss ? quantity::format_number(*point.loss, digits) : "";
}
std::string same_loss_cell(const FrontierPoint& point) {
  return point.same_loss_compute ? quantity::format_number(*point.same_loss_compute, digits) + "x" : "never";
}
std::string best_cell(const FrontierPoint& point) { return point.best ? "best" : ""; }

constexpr Column size_columns[] = {{"parameters", params_cell},
                                   {"tokens", tokens_cell},
                                   {"tokens/param", ratio_cell},
                                   {"loss", loss_cell},
                                   {"compute for the best's loss", same_loss_cell},
                                   {"", best_cell}};
constexpr Column budget_columns[] = {{"compute", compute_cell},    {"parameters", params_cell}, {"tokens", tokens_cell},
                                     {"tokens/param", ratio_cell}, {"loss", loss_cell},         {"", best_cell}};

std::string frontier_text(const laws::FrontierTable& frontier, const TextStyle& style) {
  const bool sizes = frontier.kind == laws::Frontier::sizes;
  const auto columns = sizes ? std::span<const Column>(size_columns) : std::span<const Column>(budget_columns);
  std::vector<Align> alignment(columns.size(), Align::right);
  alignment.push_back(Align::left);
  Table table(std::move(alignment), "");
  std::vector<std::string> headings;
  for (const auto& column : columns) headings.emplace_back(column.heading);
  table.add_row(std::move(headings));
  for (const auto& point : frontier.points) {
    auto cells = quantity::mapped(columns, [&](const Column& column) { return column.cell(point); });
    if (style.bars) cells.push_back(loss_bar(point, frontier.points));
    table.add_row(std::move(cells));
  }
  return table.render();
}

}  // namespace

std::string to_text(const laws::ScaleAnswer& answer, const TextStyle& style) {
  std::vector<Paragraph> blocks;
  for (int section = 0; section <= static_cast<int>(laws::ScaleSection::batch); ++section)
    blocks.push_back(section_of(answer, static_cast<laws::ScaleSection>(section), style));
  if (answer.frontier) {
    Paragraph table{lines_of(frontier_text(*answer.frontier, style)), 0};
    table.ends = {0, table.lines.size()};
    table.least = answer.frontier->asked ? table.lines.size() : 0;
    blocks.push_back(std::move(table));
  }
  const auto told = [&](const laws::Assumed& assumed) {
    return spec::Assumption{style.explain ? in_full(assumed) : assumed.words};
  };
  blocks.push_back(assumed_block(quantity::mapped(answer.assumptions, told), style));
  constexpr std::size_t any_number = 1000;
  const auto screen = style.lines - std::min(style.lines, lines_of_warnings(answer.warnings));
  return on_screen(on_a_screen(blocks, style.explain ? any_number : screen), style);
}

}  // namespace llmcalc::render
