// The memory of a step as a picture:
//
//   timeline                     GiB
//   forward   embedding         8.21  ████▎
//             layer 1 to 4     12.75  ██████▋
//   loss      head             51.33  ██████████████████████████▉  peak
#include "render/inner/bar.hpp"
#include "render/inner/style.hpp"
#include "render/inner/text_common.hpp"
#include "render/inner/text_sections.hpp"

#include <algorithm>

namespace llmcalc::render {
namespace {

using answer::TimelinePoint;

constexpr std::size_t most_rows = 40;
constexpr int timeline_columns = 28;
constexpr std::string_view layer_prefix = "layer ";

/// Neighbouring layers of one phase, drawn as one row as high as the highest of them.
struct GraphRow {
  const TimelinePoint* first;
  const TimelinePoint* last;
  quantity::Bytes highest;
  std::size_t points = 1;
};

bool is_layer(const TimelinePoint& point) { return point.place.starts_with(layer_prefix); }

std::vector<GraphRow> rows_of(const std::vector<TimelinePoint>& points, std::size_t group) {
  std::vector<GraphRow> rows;
  for (const auto& point : points) {
    const bool joins = !rows.empty() && rows.back().points < group && is_layer(point) && is_layer(*rows.back().last) &&
                       rows.back().last->phase == point.phase;
    if (!joins) {
      rows.push_back({&point, &point, point.allocated});
      continue;
    }
    GraphRow& row = rows.back();
    row.last = &point;
    row.highest = std::max(row.highest, point.allocated);
    ++row.points;
  }
  return rows;
}

std::vector<GraphRow> few_rows_of(const std::vector<TimelinePoint>& points) {
  std::size_t group = 1;
  auto rows = rows_of(points, group);
  while (rows.size() > most_rows && group < points.size()) rows = rows_of(points, ++group);
  return rows;
}

std::string place_of(const GraphRow& row) {
  if (row.points == 1) return row.first->place;
  return row.first->place + " to " + row.last->place.substr(layer_prefix.size());
}

}  // namespace

std::string timeline_section(const Report& report, const TextStyle& style) {
  const auto& memory = report.estimate.memory;
  if (!style.timeline || memory.timeline.empty()) return {};
  const auto unit = memory_unit_of(report.estimate, style);
  Table table({Align::left, Align::left, Align::right, Align::left});
  table.add_row({paint("timeline", Ink::heading, style), "", std::string(unit.name)});
  const auto highest = std::ranges::max(memory.timeline, {}, &TimelinePoint::allocated).allocated;
  bool marked = false;
  const TimelinePoint* before = nullptr;
  for (const GraphRow& row : few_rows_of(memory.timeline)) {
    const bool peak = row.highest == highest && !marked;
    marked = marked || peak;
    const bool new_phase = before == nullptr || before->phase != row.first->phase;
    const double share = highest == quantity::Bytes{} ? 0.0 : row.highest / highest;
    table.add_row(
        {new_phase ? std::string(memory::name_of(row.first->phase)) : std::string(), place_of(row),
         in_unit(row.highest, unit),
         paint(bar(share, timeline_columns), Ink::dim, style) + (peak ? "  " + paint("peak", Ink::bad, style) : "")});
    before = row.last;
  }
  return table.render();
}

}  // namespace llmcalc::render
