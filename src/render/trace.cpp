// A step as a trace, which Perfetto and chrome://tracing open: its phases, its blocks, where its time goes, and memory
// as a counter by kind ("Trace Event Format", Google,
// docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).
#include "llmcalc/quantity/error.hpp"
#include "quantity/lists.hpp"
#include "render/inner/json.hpp"
#include "render/inner/text.hpp"

#include <cmath>

namespace llmcalc::render {
namespace {

using answer::TimelinePoint;
using quantity::Seconds;

enum class Track : std::int64_t { phases = 1, blocks, parts };

constexpr std::string_view name_of(Track track) {
  switch (track) {
    case Track::phases: return "phases of one micro-batch, and the update";
    case Track::blocks: return "blocks";
    case Track::parts: return "where the whole step's time goes, longest first, not in order";
  }
  return {};
}

constexpr std::int64_t process = 1;

class Trace {
 public:
  Trace() {
    json_.open('{');
    json_.key("displayTimeUnit");
    json_.scalar(std::string_view("ms"));
    json_.key("traceEvents");
    json_.open('[');
  }

  void name(std::string_view process_name) {
    begin("process_name", "M", {});
    args([&] { text("name", process_name); });
    for (const auto track : {Track::phases, Track::blocks, Track::parts}) {
      begin("thread_name", "M", {});
      whole("tid", static_cast<std::int64_t>(track));
      args([&] { text("name", name_of(track)); });
    }
  }

  void span(Track track, std::string_view name, Seconds from, Seconds length) {
    begin(name, "X", from);
    number("dur", micros(length));
    whole("tid", static_cast<std::int64_t>(track));
    json_.close('}');
  }

  void memory(const TimelinePoint& point, Seconds at) {
    begin("memory", "C", at);
    args([&] {
      for (const auto& [holding, size] : point.held) whole(memory::id_of(holding), in_bytes(size));
    });
  }

  std::string take() {
    json_.close(']');
    json_.close('}');
    return json_.take();
  }

 private:
  static double micros(Seconds time) { return 1e6 * in_seconds(time); }

  void begin(std::string_view name, std::string_view phase, Seconds at) {
    json_.item();
    json_.open('{');
    text("name", name);
    text("ph", phase);
    whole("pid", process);
    number("ts", micros(at));
  }

  template <class Fill>
  void args(const Fill& fill) {
    json_.key("args");
    json_.open('{');
    fill();
    json_.close('}');
    json_.close('}');
  }

  void text(std::string_view key, std::string_view value) {
    json_.key(key);
    json_.scalar(value);
  }
  void whole(std::string_view key, std::int64_t value) {
    json_.key(key);
    json_.scalar(value);
  }
  void number(std::string_view key, double value) {
    json_.key(key);
    json_.scalar(value);
  }

  JsonText json_;
};

/// Blocks one after the other, phases over them, and what is alive at the highest moment of each.
void add_blocks(const std::vector<TimelinePoint>& points, Trace& trace) {
  Seconds now, began;
  for (std::size_t i = 0; i < points.size(); ++i) {
    const Seconds time = points[i].time.value_or(Seconds{});
    trace.span(Track::blocks, points[i].place, now, time);
    trace.memory(points[i], now);
    now += time;
    if (i + 1 < points.size() && points[i + 1].phase == points[i].phase) continue;
    trace.span(Track::phases, memory::name_of(points[i].phase), began, now - began);
    began = now;
  }
}

}  // namespace

std::string to_trace(const Report& report) {
  const auto& [memory, time] = std::tie(report.estimate.memory, report.estimate.compute);
  if (memory.timeline.empty() || time.step_parts.empty()) {
    throw quantity::BadInput("--format trace", "needs a step that is timed by its program",
                             "name an accelerator with --gpu, and neither --mfu nor a rule of thumb");
  }
  Trace trace;
  trace.name(run_words(report));
  add_blocks(memory.timeline, trace);
  Seconds now;
  for (const auto& part : time.step_parts) {
    trace.span(Track::parts, part.label, now, part.time);
    now += part.time;
  }
  return trace.take();
}

}  // namespace llmcalc::render
