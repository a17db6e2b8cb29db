// The answer for people: on one screen (summary.hpp), or every table of it: verdict, ledger, phases, timeline, advice,
// compute, time, notes.
//
//   FITS  71.30 of 79.15 GiB (90 %), a100-80-sxm x1, peak in backward of layer 31 of 32
//
//     memory at the peak    GiB  share
//     weights (bf16)      14.96   21 %  █████
//     ...
//     total               71.30  100 %
#include "render/inner/text.hpp"

#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/foreign.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>

namespace llmcalc::render {
namespace {

std::string amount(quantity::Bytes size, const MemoryUnit& unit) {
  return in_unit(size, unit) + " " + std::string(unit.name);
}

std::string_view doubt_words(trust::Doubt doubt) {
  switch (doubt) {
    case trust::Doubt::none: break;
    case trust::Doubt::error_bar: return ", within the error bar";
    case trust::Doubt::cached: return ", which blocks that the allocator keeps may fill";
    case trust::Doubt::host: return "; tight in the memory of its machine";
  }
  return "";
}

constexpr std::size_t explanation_indent = 6;

constexpr double whole_from = 1e3;    // below, decimals carry information
constexpr double whole_until = 1e15;  // from there on an exponent reads better than six groups of figure_digits
constexpr int figure_digits = 3;

using answer::Verdict;
using trust::VerdictKind;

/// ", a100-80-sxm x1"
std::string accelerators(const Report& report) {
  const auto gpu = echoed(report.question, "gpu");
  const auto gpus = echoed(report.question, "gpus");
  if (gpu.empty()) return {};
  return fmt::format(", {} x{}", gpu, gpus.empty() ? "1" : gpus);
}

std::string error_bar(const Verdict& verdict, const MemoryUnit& unit) {
  if (verdict.error.above <= 0) return {};
  const auto source = verdict.error_source.empty() ? std::string() : fmt::format(" ({})", verdict.error_source);
  return fmt::format("error bar {}, {} to {} {}{}", spread_text(verdict.error), in_unit(verdict.low, unit),
                     in_unit(verdict.high, unit), unit.name, source);
}

/// One line that answers the question, and one with the error bar.
std::string verdict_section(const Report& report, const TextStyle& style) {
  const auto& verdict = report.estimate.verdict;
  constexpr std::size_t indent = 2;
  auto text = fmt::format("{}  {}{}\n  {}\n", verdict_word(report, style), need_words(verdict, style),
                          accelerators(report), wrapped(peak_words(report.estimate.memory), indent, indent));
  if (const auto host = host_need_words(verdict, style); !host.empty()) text += fmt::format("  {}\n", host);
  for (const auto& limit : report.broken_limits) text += fmt::format("  {}\n", wrapped(limit, indent, indent));
  const auto bar = error_bar(verdict, unit_of(verdict.high, style));
  if (!bar.empty()) text += fmt::format("  {}\n", paint(wrapped(bar, indent, indent), Ink::dim, style));
  return text;
}

std::string room_left(const search::Headroom& headroom, const TextStyle& style) {
  Table table({Align::left, Align::right, Align::left});
  table.add_row({paint("room left", Ink::heading, style), "", paint("one change at a time", Ink::dim, style)});
  table.add_row({"--micro-batch", std::to_string(headroom.micro_batch), "sequences at once"});
  table.add_row({"--seq", std::to_string(headroom.seq), "tokens a sequence"});
  return table.render();
}

std::string advised_changes(const Report& report, const TextStyle& style) {
  const auto unit = unit_of(report.estimate.verdict.capacity, style);
  Table table({Align::right, Align::left});
  table.wrap_last_column();
  table.add_line("  " + paint(std::string("what would make it fit (").append(unit.name) + ")", Ink::heading, style));
  for (const auto& advice : report.advised.changes) {
    const bool tight = advice.verdict == VerdictKind::tight;
    table.add_row({in_unit(advice.needed, unit), options_of(advice) + (tight ? "  (tight)" : "")});
    table.add_row({"", advice.change});
    table.add_row({"", paint("costs " + advice.cost, Ink::dim, style)});
  }
  if (report.advised.changes.empty()) table.add_line("  no change, and no four of them together, that llmcalc knows");
  return table.render();
}

/// How much room is left, or what would make it fit.
std::string advice_section(const Report& report, const TextStyle& style) {
  const auto kind = report.estimate.verdict.kind;
  const auto& headroom = report.advised.headroom;
  if (headroom && kind == VerdictKind::fits) return room_left(*headroom, style);
  if (kind == VerdictKind::does_not_fit || kind == VerdictKind::tight) return advised_changes(report, style);
  return {};
}

std::string parameters_table(const answer::SizeAnswer& size, const TextStyle& style) {
  Table table({Align::left, Align::right, Align::right});
  const auto add = [&](std::string label, quantity::Parameters count) {
    table.add_row(
        {std::move(label), quantity::format_parameters(count), quantity::format_count(quantity::in_parameters(count))});
  };
  table.add_row({paint("parameters", Ink::heading, style)});
  add("total", size.total);
  add("active for a token", size.active);
  add("trainable", size.trainable);
  add("embedding and head", size.embedding);
  return table.render();
}

std::string flops_table(const answer::TimeAnswer& compute, const TextStyle& style) {
  Table table({Align::left, Align::right, Align::right, Align::right});
  const bool timed = std::ranges::any_of(compute.flops, [](const auto& figure) { return figure.utilization > 0; });
  table.add_row({paint("compute", Ink::heading, style), "per token", "whole run", timed ? "of peak" : ""});
  for (const auto& figure : compute.flops) {
    table.add_row({figure.label, quantity::format_flops(figure.per_token), quantity::format_flops(figure.total),
                   figure.utilization > 0 ? quantity::format_percent(figure.utilization) : std::string()});
    add_explanation(table, figure.why, style);
  }
  table.add_row({"PFLOP-days (6PD)", "", figure_text(compute.pflop_days)});
  return table.render();
}

/// Parameters, and FLOPs under three conventions.
std::string compute_section(const Report& report, const TextStyle& style) {
  return parameters_table(report.estimate.size, style) + '\n' + flops_table(report.estimate.compute, style);
}

/// Where the time of a step goes.
std::string step_section(const Report& report, const TextStyle& style) {
  const answer::TimeAnswer& time = report.estimate.compute;
  if (time.step_parts.empty()) return {};
  Table table({Align::left, Align::right, Align::right, Align::left});
  table.add_row({paint("time of a step", Ink::heading, style), "", "share"});
  for (const auto& part : time.step_parts) {
    const double share = part.time / time.step;
    table.add_row({part.label, quantity::format_duration(part.time), share_text(share),
                   style.bars ? paint(bar(share, bar_columns), Ink::dim, style) : std::string()});
    add_explanation(table, part.why, style);
  }
  table.add_row({"total", quantity::format_duration(time.step), share_text(1.0)});
  table.add_prose(2,
                  paint(fmt::format("error bar {}, {}", spread_text(time.error), time.error_source), Ink::dim, style));
  return table.render();
}

using quantity::format_duration;

/// From here on the three digits of the run's length show what failures take.
constexpr double unnoticed_goodput = 0.995;

class TimeTable {
 public:
  explicit TimeTable(const TextStyle& style) : style_(style) {
    table_.wrap_last_column();
    table_.add_row({paint("time", Ink::heading, style)});
  }

  void add(std::string label, std::string value, std::string_view remark = {}) {
    table_.add_row({std::move(label), std::move(value), paint(remark, Ink::dim, style_)});
  }
  void explain(const answer::Explanation& why) { add_explanation(table_, why, style_); }
  void add_line(std::string text) { table_.add_line(std::move(text)); }
  std::string render() const { return table_.render(); }

 private:
  const TextStyle& style_;
  Table table_{{Align::left, Align::right, Align::left}};
};

std::string story_of(const answer::Goodput& goodput, quantity::Seconds useful) {
  const std::string failures = std::isinf(in_seconds(goodput.mtbf))
                                   ? "nothing fails"
                                   : fmt::format("a failure every {}, {} to restart", format_duration(goodput.mtbf),
                                                 format_duration(goodput.restart));
  const std::string when = goodput.interval < useful ? "every " + format_duration(goodput.interval) : "at the end";
  return fmt::format("{}; a checkpoint of {} in {} {}", failures, quantity::format_gigabytes(goodput.checkpoint),
                     format_duration(goodput.save), when);
}

/// "$3.99 an hour each, Lambda on-demand"
std::string price_of(const answer::TimeAnswer& time) {
  if (!time.price) return time.price_source;
  return fmt::format("{} an hour each, {}", quantity::format_rate_of_money(*time.price), time.price_source);
}

void add_run(const answer::TimeAnswer& time, const TextStyle& style, TimeTable& table) {
  const auto& goodput = time.goodput;
  const bool noticed = goodput && goodput->share < unnoticed_goodput;
  if (noticed || (goodput && (goodput->stated || style.explain))) {
    table.add("goodput", quantity::format_percent(goodput->share), story_of(*goodput, time.useful));
    table.explain(goodput->why);
  }
  if (goodput && !goodput->makes_progress()) {
    table.add("run", "never", "failures come faster than it restarts");
    return;
  }
  table.add("run", format_duration(time.total), noticed ? format_duration(time.useful) + " of steps" : "");
  table.add("GPU-hours", figure_text(time.gpu_hours));
  if (time.cost) {
    table.add("cost", quantity::format_money(*time.cost), price_of(time));
  } else {
    table.add("cost", "unknown", "no price is known (give one with --price)");
  }
}

void add_footprint(const answer::Footprint& footprint, TimeTable& table) {
  table.add("energy", quantity::format_energy(footprint.energy),
            fmt::format("{} CO2e at {} g/kWh, {}", quantity::format_mass(footprint.carbon),
                        in_grams_per_kilowatt_hour(footprint.intensity), footprint.intensity_source));
  table.explain(footprint.why_energy);
  table.explain(footprint.why_carbon);
}

/// Tokens, utilization, duration and cost.
std::string time_section(const Report& report, const TextStyle& style) {
  const answer::TimeAnswer& time = report.estimate.compute;
  TimeTable table(style);
  table.add("tokens", quantity::format_tokens(time.tokens), time.tokens_source);
  if (!report.estimate.timed) {
    table.add_line("  no accelerator was named, so there is no time and no cost (name one with --gpu)");
    return table.render();
  }
  table.add("MFU", quantity::format_percent(time.mfu), time.mfu_source);
  table.add("peak", quantity::format_rate(time.peak), "of one accelerator");
  table.add("step", format_duration(time.step));
  table.add("tokens/s", figure_text(time.tokens_per_gpu), "on each accelerator");
  add_run(time, style, table);
  if (time.footprint) add_footprint(*time.footprint, table);
  return table.render();
}

std::string list(std::string_view heading, const std::vector<std::string>& items, const TextStyle& style) {
  if (items.empty()) return {};
  auto text = "  " + paint(heading, Ink::heading, style) + '\n';
  constexpr std::size_t indent = 4;
  for (const auto& item : items) text.append("  - ").append(wrapped(item, indent, indent)).append("\n");
  return text;
}

/// Terms that were assumed, and parts that are not modelled.
std::string notes_section(const Report& report, const TextStyle& style) {
  auto text = list("assumed", sentences(report.assumptions), style);
  const auto notes = list("notes", report.estimate.notes, style);
  if (!text.empty() && !notes.empty()) text += '\n';
  return text + notes;
}

}  // namespace

MemoryUnit unit_of(quantity::Bytes size, const TextStyle& style) {
  return find_memory_unit(style.unit).value_or(memory_unit_for(size));
}

MemoryUnit memory_unit_of(const answer::Estimate& estimate, const TextStyle& style) {
  return unit_of(std::max(estimate.verdict.capacity, estimate.verdict.needed), style);
}

std::string need_words(const answer::Verdict& verdict, const TextStyle& style) {
  const auto [capacity, needed] = std::pair(verdict.capacity, verdict.needed);
  const auto unit = unit_of(std::max(needed, quantity::gib(1)), style);
  if (verdict.kind == trust::VerdictKind::no_accelerator) return "needs " + amount(needed, unit);
  const auto whole = unit_of(capacity, style);
  const auto of = fmt::format("needs {} of {}", unit.name == whole.name ? in_unit(needed, unit) : amount(needed, unit),
                              amount(capacity, whole));
  if (needed > capacity) {
    const auto short_of = needed - capacity;
    return fmt::format("{}, {} short", of, unit.name == whole.name ? in_unit(short_of, unit) : amount(short_of, unit));
  }
  return fmt::format("{} ({}), {} free{}", of, share_text(needed / capacity), in_unit(capacity - needed, whole),
                     doubt_words(verdict.doubt));
}

void add_explanation(Table& table, const answer::Explanation& why, const TextStyle& style) {
  if (!style.explain) return;
  const auto add = [&](std::string_view lead, std::string_view text) {
    if (!text.empty()) table.add_prose(explanation_indent, paint(std::string(lead).append(text), Ink::dim, style));
  };
  add("", why.formula);
  add("= ", why.numbers);
  add("source: ", why.source);
}

std::string figure_text(double value) {
  if (value >= whole_from && value < whole_until) return quantity::format_count(std::llround(value));
  return quantity::format_number(value, figure_digits);
}

std::string verdict_word(trust::VerdictKind kind, const TextStyle& style) {
  switch (kind) {
    case trust::VerdictKind::fits: return paint("FITS", Ink::good, style);
    case trust::VerdictKind::tight: return paint("TIGHT", Ink::caution, style);
    case trust::VerdictKind::does_not_fit: return paint("DOES NOT FIT", Ink::bad, style);
    case trust::VerdictKind::no_accelerator: break;
  }
  return paint("NO VERDICT", Ink::caution, style);
}

std::string verdict_word(trust::VerdictKind kind, const std::vector<std::string>& broken_limits,
                         const TextStyle& style) {
  const bool fits = kind != trust::VerdictKind::does_not_fit;
  return fits && !broken_limits.empty() ? paint("OVER LIMIT", Ink::bad, style) : verdict_word(kind, style);
}

std::string verdict_word(const Report& report, const TextStyle& style) {
  return verdict_word(report.estimate.verdict.kind, report.broken_limits, style);
}

std::string echoed(const std::vector<spec::Word>& question, std::string_view term) {
  const auto* line = quantity::find_or_null(question, term, &spec::Word::term);
  return line == nullptr ? std::string() : shown(line->text, Medium::line);
}

std::string host_need_words(const answer::Verdict& verdict, const TextStyle& style) {
  const auto [capacity, needed] = std::pair(verdict.host_capacity, verdict.host_needed);
  if (needed == quantity::Bytes{}) return {};
  const auto unit = unit_of(std::max(needed, quantity::gib(1)), style);
  auto words = "host needs " + in_unit(needed, unit);
  if (capacity == quantity::Bytes{}) return fmt::format("{} {} a machine", words, unit.name);
  const auto all = unit_of(std::max(capacity, quantity::gib(1)), style);
  if (unit.name != all.name) words += fmt::format(" {}", unit.name);
  words += fmt::format(" of {} {} a machine", in_unit(capacity, all), all.name);
  return needed > capacity ? fmt::format("{}, {} short", words, in_unit(needed - capacity, unit)) : words;
}

std::string peak_words(const answer::MemoryAnswer& memory) {
  const auto place = memory.peak_place.empty() ? std::string(memory::name_of(memory.peak_phase)) : memory.peak_place;
  if (memory.stages.size() < 2) return "peak in " + place;
  return fmt::format("peak in {} on pipeline stage {} of {}", place, memory.stage, memory.stages.size());
}

std::string to_text(const Report& report, const TextStyle& style) {
  if (!style.full && !style.explain && !style.timeline) return on_screen(summary(report, style), style);
  constexpr std::array sections{verdict_section, ledger_section, phases_section, timeline_section, advice_section,
                                compute_section, step_section,   time_section,   notes_section};
  std::string text;
  for (const auto section : sections) {
    const auto part = section(report, style);
    if (!text.empty() && !part.empty()) text += '\n';
    text += part;
  }
  text += '\n';
  for (const auto& line : summary_last(report, style).lines) text.append(line).append("\n");
  return on_screen(text, style);
}

}  // namespace llmcalc::render
