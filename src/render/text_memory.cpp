// The tables of memory: what is held at the peak, when it peaks, and a step as a picture.
#include "quantity/lists.hpp"
#include "render/inner/text.hpp"

#include <algorithm>
#include <array>
#include <iterator>

namespace llmcalc::render {
namespace {

using answer::LedgerLine;
using answer::MemoryAnswer;
using quantity::Bytes;

/// The part of the total, or 0 where there is no total.
double share_of(Bytes part, Bytes total) { return total == Bytes{} ? 0.0 : part / total; }

void add_ledger_line(Table& table, const LedgerLine& line, Bytes total, const MemoryUnit& unit,
                     const TextStyle& style) {
  const double share = share_of(line.size, total);
  table.add_row({line.label + (line.empirical ? " *" : ""), in_unit(line.size, unit), share_text(share),
                 style.bars ? paint(bar(share, bar_columns), Ink::dim, style) : std::string()});
  add_explanation(table, line.why, style);
}

using Stages = std::vector<memory::StagePeak>;

/// The first of several that peak alike, which is the one that an answer is about by default.
std::int64_t highest_of(const Stages& stages) {
  return std::ranges::max_element(stages, {}, &memory::StagePeak::allocated)->stage;
}

/// Which stages of a long pipeline are worth a line: its ends, the highest, the lowest and that of the answer.
Stages telling_stages(const MemoryAnswer& memory) {
  constexpr std::size_t shown_whole = 8;
  const Stages& stages = memory.stages;
  if (stages.size() <= shown_whole) return stages;
  const auto lowest = std::ranges::min_element(stages, {}, &memory::StagePeak::allocated)->stage;
  const std::array telling{stages.front().stage, stages.back().stage, lowest, highest_of(stages), memory.stage};
  Stages few;
  std::ranges::copy_if(stages, std::back_inserter(few),
                       [&](const memory::StagePeak& peak) { return quantity::contains(telling, peak.stage); });
  return few;
}

std::string stages(const MemoryAnswer& memory, const MemoryUnit& unit, const TextStyle& style) {
  if (memory.stages.size() < 2) return {};
  const auto highest = highest_of(memory.stages);
  Table table({Align::left, Align::right, Align::left});
  table.add_row({paint("pipeline stages", Ink::heading, style), std::string(unit.name)});
  for (const auto& [stage, allocated] : telling_stages(memory)) {
    std::string_view remark;
    if (stage == highest) remark = "allocated at its peak, the highest";
    if (stage == memory.stage && stage != highest) remark = "this answer";
    table.add_row({"pp=" + std::to_string(stage), in_unit(allocated, unit), paint(remark, Ink::dim, style)});
  }
  return table.render() + '\n';
}

/// Levels measured at the peak, by whom.
std::string levels(const MemoryAnswer& memory, const MemoryUnit& unit, const TextStyle& style) {
  Table table({Align::left, Align::right, Align::left});
  table.wrap_last_column();
  const auto add = [&](std::string_view label, Bytes size, std::string_view remark) {
    table.add_row({std::string(label), in_unit(size, unit), paint(remark, Ink::dim, style)});
  };
  table.add_row({paint("levels at the peak", Ink::heading, style), std::string(unit.name)});
  const bool caches = memory.peak_device > memory.peak_needed;
  add("allocated", memory.peak_allocated, "torch.cuda.max_memory_allocated");
  add("reserved", memory.peak_reserved,
      caches ? "max_memory_reserved, with blocks that are only cached" : "torch.cuda.max_memory_reserved");
  add("nvidia-smi", memory.peak_device, "reserved, NCCL's buffers and the CUDA context");
  if (caches) add("needed", memory.peak_needed, "without the cached blocks; the verdict goes by it");
  for (const auto& line : memory.host_ledger) add("host memory", line.size, line.label);
  if (memory.nvme > Bytes{}) add("NVMe", memory.nvme, "of this rank, for what is offloaded");
  return table.render();
}

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

std::string ledger_section(const Report& report, const TextStyle& style) {
  const MemoryAnswer& memory = report.estimate.memory;
  const auto unit = memory_unit_of(report.estimate, style);
  Table table({Align::left, Align::right, Align::right, Align::left});
  table.add_row({paint("memory at the peak", Ink::heading, style), std::string(unit.name), "share"});
  for (const auto& line : memory.ledger) add_ledger_line(table, line, memory.peak_needed, unit, style);
  table.add_row(
      {"total", in_unit(memory.peak_needed, unit), share_text(share_of(memory.peak_needed, memory.peak_needed))});
  if (std::ranges::any_of(memory.ledger, &LedgerLine::empirical)) {
    table.add_line(paint("  * measured constant of the runtime", Ink::dim, style));
  }
  return table.render();
}

std::string phases_section(const Report& report, const TextStyle& style) {
  const MemoryAnswer& memory = report.estimate.memory;
  const auto unit = memory_unit_of(report.estimate, style);
  Table table({Align::left, Align::right, Align::left});
  const auto add = [&](std::string_view label, Bytes size, std::string_view remark) {
    table.add_row({std::string(label), in_unit(size, unit), paint(remark, Ink::dim, style)});
  };
  table.add_row({paint("allocated", Ink::heading, style), std::string(unit.name)});
  for (const auto& phase : memory.phases) {
    if (phase.allocated == Bytes{}) continue;  // it runs on another stage
    const bool peak = phase.phase == memory.peak_phase;
    add(memory::name_of(phase.phase), phase.allocated, peak ? "peak" : "");
    if (peak) add_explanation(table, memory.peak_why, style);
  }
  add("between steps", memory.persistent, "");
  const auto trains = [](const answer::PhasePeak& peak) {
    return peak.phase == memory::Phase::optimizer && peak.allocated > Bytes{};
  };
  if (std::ranges::any_of(memory.phases, trains)) {
    add("first step", memory.peak_first_step, "before optimizer states exist");
  }
  return table.render() + '\n' + stages(memory, unit, style) + levels(memory, unit, style);
}

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
