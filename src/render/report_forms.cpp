// A run as Markdown, for a pull request: the verdict, what is held, what would make it fit, and folded, what was
// assumed.

#include "render/foreign.hpp"
#include "render/inner/html.hpp"
#include "render/inner/json.hpp"
#include "render/inner/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::render {

namespace {

/// Text outside a table's cells: the same marks mean something there, and so do those of HTML and of emphasis.
std::string paragraph(std::string_view text) {
  std::string safe;
  for (const char c : shown(text, Medium::line)) {
    if (std::string_view("\\`*_[]#|").find(c) != std::string_view::npos) safe += '\\';
    const bool opens = c == '<' || c == '&';
    opens ? safe += c == '<' ? "&lt;" : "&amp;" : safe += c;
  }
  return safe;
}

std::string ledger_rows(const answer::MemoryAnswer& memory, const MemoryUnit& unit) {
  auto table = fmt::format("| at the peak | {} | share |\n|---|--:|--:|\n", unit.name);
  for (const auto& line : memory.ledger) {
    table += fmt::format("| {} | {} | {} |\n", paragraph(line.label), in_unit(line.size, unit),
                         share_text(line.size / memory.peak_needed));
  }
  return table + fmt::format("| total | {} | 100 % |\n", in_unit(memory.peak_needed, unit));
}

std::string folded(std::string_view summary, const std::vector<std::string>& items) {
  if (items.empty()) return {};
  auto text = fmt::format("\n<details><summary>{}</summary>\n\n", summary);
  for (const auto& item : items) text += "- " + paragraph(item) + "\n";
  return text + "\n</details>\n";
}

}  // namespace

std::string to_markdown(const Report& report, const TextStyle& style) {
  const auto& estimate = report.estimate;
  auto text = fmt::format("**{}** {}\n\n{}\n\n", verdict_word(report, {}), paragraph(run_words(report)),
                          paragraph(need_and_bar_words(estimate.verdict, style)));
  for (const auto& limit : report.broken_limits) text += paragraph(limit) + "\n\n";
  text += ledger_rows(estimate.memory, memory_unit_of(estimate, style));
  if (estimate.timed) {
    text +=
        "\n- step: " + paragraph(step_words(estimate.compute)) + "\n- run: " + paragraph(length_words(report)) + "\n";
  }
  const auto told = [](const search::Advice& advice) { return options_of(advice) + ": " + advice.change; };
  if (!report.advised.changes.empty()) {
    text += "\nWhat would make it fit:\n\n";
    for (const auto& change : report.advised.changes) text += "- " + paragraph(told(change)) + "\n";
  }
  return text + folded("warnings", estimate.warnings) + folded("assumed", sentences(report.assumptions)) +
         folded("notes", estimate.notes);
}

// A run as a picture of its own, for a README: the verdict, how much of the accelerator it takes, memory through a
// step.

namespace {

using quantity::Bytes;

// At 360 pixels, three quarters of its width, its text is still 10 pixels high.
constexpr int picture_width = 480;
constexpr int margin = 12;
constexpr int drawn_width = picture_width - 2 * margin;
constexpr int line_height = 20;
constexpr int step_height = 180;
constexpr std::size_t line_columns = 54;

constexpr std::string_view picture_style =
    "text{font:14px system-ui,sans-serif;fill:#1f2328}.dim{fill:#4b535d}.bold{font-weight:600}.bg{fill:#fff}"
    ".line{stroke:#1f2328;stroke-width:2;stroke-dasharray:5 3}.room{fill:#d0d7de}"
    "@media(prefers-color-scheme:dark){text{fill:#e6edf3}.dim{fill:#9da7b3}.bg{fill:#0d1117}.line{stroke:#e6edf3}.room{"
    "fill:#30363d}}";

/// Lines one under the other, of which it remembers where the next begins.
class Drawing {
 public:
  void line(std::string_view text, std::string_view style) {
    y_ += line_height;
    body_ += fmt::format("<text x=\"{}\" y=\"{}\" class=\"{}\">{}</text>\n", margin, y_ - 5, style,
                         shown(text, Medium::xml));
  }
  void gauge(const answer::Verdict& verdict, const std::vector<answer::LedgerLine>& ledger) {
    const Bytes full = std::max(verdict.capacity, verdict.needed);
    body_ += fmt::format("<rect class=\"room\" x=\"{}\" y=\"{}\" width=\"{}\" height=\"22\"/>\n", margin, y_ + 6,
                         drawn_width);
    double left = margin;
    for (const auto& part : ledger) {
      const double width = drawn_width * (std::max(part.size, Bytes{}) / full);
      body_ += fmt::format("<rect class=\"h{}\" x=\"{:.1f}\" y=\"{}\" width=\"{:.1f}\" height=\"22\"/>\n",
                           colour_of(part.holding), left, y_ + 6, width);
      left += width;
    }
    if (verdict.capacity > Bytes{}) mark(margin + drawn_width * (verdict.capacity / full), y_ + 3, 28);
    y_ += 36;
  }
  void step(const StepPicture& picture) {
    body_ += fmt::format("<g transform=\"translate({} {}) scale({:.3f} {:.3f})\">\n", margin, y_ + 6,
                         static_cast<double>(drawn_width) / StepPicture::units,
                         static_cast<double>(step_height) / StepPicture::units);
    body_ += picture.areas() + "</g>\n";
    if (const auto capacity = picture.capacity()) {
      const double y = y_ + 6 + step_height * (1.0 - *capacity);
      body_ += fmt::format("<path class=\"line\" d=\"M{} {:.1f}H{}\"/>\n", margin, y, margin + drawn_width);
    }
    y_ += step_height + 10;
  }
  void key(const std::vector<memory::Holding>& kinds) {
    constexpr int columns = 3;
    for (std::size_t i = 0; i < kinds.size(); ++i) {
      const int x = margin + static_cast<int>(i % columns) * drawn_width / columns;
      if (i % columns == 0) y_ += line_height;
      body_ += fmt::format(
          "<rect class=\"h{}\" x=\"{}\" y=\"{}\" width=\"11\" height=\"11\"/>"
          "<text x=\"{}\" y=\"{}\">{}</text>\n",
          colour_of(kinds[i]), x, y_ - 15, x + 16, y_ - 5, kind_name(kinds[i]));
    }
  }
  std::string take(std::string_view title) const {
    return fmt::format(
        "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 {0} {1}\" width=\"{0}\" height=\"{1}\" role=\"img\">\n"
        "<title>{2}</title><style>{3}{4}</style>\n<rect class=\"bg\" width=\"{0}\" height=\"{1}\"/>\n{5}</svg>\n",
        picture_width, y_ + margin, shown(title, Medium::xml), picture_style, holding_styles(), body_);
  }

 private:
  void mark(double x, int y, int height) {
    body_ += fmt::format("<path class=\"line\" d=\"M{:.1f} {}v{}\"/>\n", std::min(x, picture_width - margin - 1.0), y,
                         height);
  }

  std::string body_;
  int y_ = 4;
};

}  // namespace

std::string to_svg(const Report& report) {
  const auto& estimate = report.estimate;
  const TextStyle plain;
  const auto title = verdict_word(report, plain) + "  " + run_words(report);
  Drawing drawing;
  for (const auto& line : lines_of(wrapped(title, 0, 0, line_columns))) drawing.line(line, "bold");
  drawing.line(need_words(estimate.verdict, plain), "dim");
  drawing.gauge(estimate.verdict, estimate.memory.ledger);
  const StepPicture picture(estimate);
  if (!picture.empty()) {
    drawing.line(picture.is_timed() ? "memory through a step, by time" : "memory through a step, block by block",
                 "dim");
    drawing.step(picture);
    drawing.key(picture.kinds());
  }
  return drawing.take(title);
}

// A step as a trace, which Perfetto and chrome://tracing open: its phases, its blocks, where its time goes, and memory
// as a counter by kind ("Trace Event Format", Google,
// docs.google.com/document/d/1CvAClvFfyA5R-PhYUmn5OOQtYMH4h6I0nSsKchNAySU).

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
    args([&] { member("name", process_name); });
    for (const auto track : {Track::phases, Track::blocks, Track::parts}) {
      begin("thread_name", "M", {});
      member("tid", static_cast<std::int64_t>(track));
      args([&] { member("name", name_of(track)); });
    }
  }

  void span(Track track, std::string_view name, Seconds from, Seconds length) {
    begin(name, "X", from);
    member("dur", micros(length));
    member("tid", static_cast<std::int64_t>(track));
    json_.close('}');
  }

  void memory(const TimelinePoint& point, Seconds at) {
    begin("memory", "C", at);
    args([&] {
      for (const auto& [holding, size] : point.held) member(memory::id_of(holding), in_bytes(size));
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
    member("name", name);
    member("ph", phase);
    member("pid", process);
    member("ts", micros(at));
  }

  template <class Fill>
  void args(const Fill& fill) {
    json_.key("args");
    json_.open('{');
    fill();
    json_.close('}');
    json_.close('}');
  }

  template <class Value>
  void member(std::string_view key, Value value) {
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
