// A run as a picture of its own, for a README: the verdict, how much of the accelerator it takes, memory through a
// step.
#include "quantity/lists.hpp"
#include "render/foreign.hpp"
#include "render/inner/html.hpp"
#include "render/inner/text.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace llmcalc::render {
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

}  // namespace llmcalc::render
