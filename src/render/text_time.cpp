#include "quantity/format.hpp"
#include "render/inner/style.hpp"
#include "render/inner/text_common.hpp"
#include "render/inner/text_sections.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace llmcalc::render {
namespace {

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
  return fmt::format("{} an hour each, {}", quantity::format_money(*time.price), time.price_source);
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

}  // namespace

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

}  // namespace llmcalc::render
