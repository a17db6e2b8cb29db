// A run on a page: memory through its step, what is alive, where the time goes.
#include "quantity/format.hpp"
#include "quantity/lists.hpp"
#include "render/inner/html.hpp"
#include "render/inner/text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace llmcalc::render {

using answer::HeldBytes;
using answer::TimelinePoint;
using memory::Holding;
using quantity::Bytes;
using quantity::Seconds;

namespace {

/// The kind of all that the runtime keeps beside the step: of what it keeps most.
constexpr auto beside_step = Holding::context;

bool are_timed(const std::vector<TimelinePoint>& points) {
  return std::ranges::any_of(points, [](const TimelinePoint& point) { return point.time && *point.time > Seconds{}; });
}

/// The least share of a picture that can be seen.
constexpr double least_width = 0.004;

/// As wide as they take time, all alike where nobody knows it.
std::vector<double> widths_of(const std::vector<TimelinePoint>& points) {
  const bool timed = are_timed(points);
  const auto time = [&](const TimelinePoint& point) {
    return timed ? in_seconds(point.time.value_or(Seconds{})) : 1.0;
  };
  const double all = quantity::sum_of(points, time);
  auto widths =
      quantity::mapped(points, [&](const TimelinePoint& point) { return std::max(time(point) / all, least_width); });
  const double sum = quantity::sum_of(widths, std::identity());
  for (double& width : widths) width /= sum;
  return widths;
}

Bytes held_of(const TimelinePoint& point, Holding kind) {
  const auto* held = quantity::find_or_null(point.held, kind, &HeldBytes::holding);
  return held == nullptr ? Bytes{} : held->size;
}

/// Whether the capacity is in the picture: a card that is far larger than the run would leave nothing to see of it.
bool is_seen(const answer::Verdict& verdict) {
  constexpr std::int64_t most = 3;
  return verdict.capacity > Bytes{} && verdict.capacity <= most * verdict.needed;
}

Bytes picture_height(const answer::Verdict& verdict) {
  return is_seen(verdict) ? std::max(verdict.capacity, verdict.needed) : verdict.needed;
}

int in_units(double share) { return static_cast<int>(std::lround(share * StepPicture::units)); }

/// A line over steps of these heights, forward or back.
class StepLine {
 public:
  void to(double x, double height) {
    const int across = in_units(x);
    const int down = StepPicture::units - in_units(height);
    if (down == down_) {
      across_ = across;
      return;
    }
    path_ += fmt::format("H{}V{}", across_, down);
    down_ = down;
    across_ = across;
  }
  std::string take() { return path_ + fmt::format("H{}", across_); }

 private:
  std::string path_;
  int across_ = 0;
  int down_ = -1;
};

std::string with_unit(Bytes size, const MemoryUnit& unit) { return in_unit(size, unit) + " " + std::string(unit.name); }

void add_key(Html& html, const StepPicture& picture) {
  html.open("ul class=\"key\"");
  for (const Holding kind : picture.kinds()) {
    html.open("li").open(fmt::format("u class=\"h{}\"", colour_of(kind))).close().text(kind_name(kind)).close();
  }
  html.close();
}

void add_mark(Html& html, double height, const std::string& label) {
  html.open(fmt::format("i style=\"bottom:{:.1f}%\"", 100 * height)).close();
  html.open(fmt::format("em style=\"bottom:{:.1f}%\"", std::min(100 * height, 92.0))).text(label).close();
}

void add_picture(Html& html, const StepPicture& picture, const answer::Estimate& estimate, const MemoryUnit& unit) {
  const auto& verdict = estimate.verdict;
  html.open("figure").open("div class=\"picture\"");
  html.open(
      "svg viewBox=\"0 0 1000 1000\" preserveAspectRatio=\"none\" role=\"img\" aria-label=\"memory through a step\" "
      "xmlns=\"http://www.w3.org/2000/svg\"");
  html.ours(picture.areas()).close();
  if (const auto capacity = picture.capacity()) {
    add_mark(html, *capacity, with_unit(verdict.capacity, unit) + " usable");
  }
  html.close().open("div class=\"phases\" aria-hidden=\"true\"");
  for (const auto& span : picture.phases()) {
    html.element(fmt::format("span style=\"width:{:.2f}%\"", 100 * span.share), memory::name_of(span.phase));
  }
  html.close();
  add_key(html, picture);
  html.element("figcaption",
               fmt::format("One micro-batch and the update of a step, {}; what is short is drawn wider. The highest "
                           "moment is the {} that the run needs: runtime is the context, communicators and the "
                           "allocator's slack.",
                           picture.is_timed() ? "across by the time that blocks take" : "block by block",
                           with_unit(verdict.needed, unit)));
  html.close().ours("\n");
}

void add_phases(Html& html, const StepPicture& picture, const answer::Estimate& estimate, const MemoryUnit& unit) {
  html.open_table({"phase, and what is alive at its highest", "time", std::string(unit.name)});
  for (const auto& span : picture.phases()) {
    const auto& point = *span.highest;
    html.open("tr").open("td").text(fmt::format("{}, {}", memory::name_of(span.phase), point.place));
    std::vector<BarPart> parts;
    std::string words;
    for (const auto& [kind, size] : point.held) {
      parts.push_back({colour_of(kind), std::string(kind_name(kind)), size});
      words += fmt::format("{}{} {}", words.empty() ? "" : ", ", kind_name(kind), in_unit(size, unit));
    }
    add_bar(html, parts, estimate.memory.peak_allocated, words);
    html.element("div class=\"dim\"", words).close();
    html.element("td class=\"n\"", span.time ? quantity::format_duration(*span.time) : "");
    html.element("td class=\"n\"", in_unit(point.allocated, unit)).close().ours("\n");
  }
  html.close().close();
}

void add_ledger(Html& html, const answer::MemoryAnswer& memory, const MemoryUnit& unit) {
  html.element("h2", "What is held at the peak").element("p class=\"dim\"", peak_words(memory));
  html.open_table({"", std::string(unit.name), "share"});
  for (const auto& line : memory.ledger) {
    html.open("tr").open("td");
    html.open(fmt::format("u class=\"h{}\"", colour_of(line.holding))).close();
    add_why(html, line.label, line.why);
    html.close().element("td class=\"n\"", in_unit(line.size, unit));
    html.element("td class=\"n\"", share_text(line.size / memory.peak_needed)).close().ours("\n");
  }
  html.row("td", {"total", in_unit(memory.peak_needed, unit), share_text(1.0)}).close().close();
}

void add_stages(Html& html, const answer::MemoryAnswer& memory, const MemoryUnit& unit) {
  if (memory.stages.size() < 2) return;
  html.element("h2", "Pipeline stages").open_table({"stage", std::string(unit.name)});
  for (const auto& stage : memory.stages) html.row("td", {std::to_string(stage.stage), in_unit(stage.allocated, unit)});
  html.close().close();
}

std::string_view mood_of(const Report& report) {
  if (!report.broken_limits.empty()) return "bad";
  switch (report.estimate.verdict.kind) {
    case trust::VerdictKind::fits: return "good";
    case trust::VerdictKind::does_not_fit: return "bad";
    case trust::VerdictKind::tight:
    case trust::VerdictKind::no_accelerator: break;
  }
  return "caution";
}

std::vector<BarPart> parts_of(const std::vector<answer::LedgerLine>& ledger) {
  return quantity::mapped(ledger, [](const answer::LedgerLine& line) {
    return BarPart{colour_of(line.holding), line.label, std::max(line.size, Bytes{})};
  });
}

void add_verdict(Html& html, const Report& report, const TextStyle& style) {
  const auto& verdict = report.estimate.verdict;
  html.open("h1").element(fmt::format("span class=\"{}\"", mood_of(report)), verdict_word(report, {}));
  html.text("  " + run_words(report)).close();
  for (const auto& line :
       {manner_words(report, style), need_and_bar_words(verdict, style), host_need_words(verdict, style)}) {
    if (!line.empty()) html.element("p", line);
  }
  for (const auto& limit : report.broken_limits) html.element("p class=\"bad\"", limit);
  add_bar(html, parts_of(report.estimate.memory.ledger), verdict.capacity, need_words(verdict, style));
}

void add_advice(Html& html, const Report& report, const TextStyle& style) {
  const auto& [changes, room, cards] = report.advised;
  if (!changes.empty()) {
    const auto unit = memory_unit_of(report.estimate, style);
    html.element("h2", "What would make it fit")
        .open_table({"change", "needs " + std::string(unit.name), "tokens/s"}, "table class=\"changes\"");
    for (const auto& change : changes) {
      html.open("tr");
      add_change(html, options_of(change), change.change + "; " + change.cost);
      html.element("td class=\"n\"", in_unit(change.needed, unit));
      html.element("td class=\"n\"", change.speed ? fmt::format("{:.2f} x", *change.speed) : "").close();
    }
    html.close().close();
  }
  if (room) {
    html.element("h2", "Room")
        .element("p", fmt::format("The micro-batch may be {}, or the sequence {} tokens.", room->micro_batch,
                                  quantity::format_count(room->seq)));
  }
  add_list(html, "On other accelerators", quantity::mapped(cards, [](const search::CardVerdict& card) {
             return card.gpu + ": " + verdict_word(card.verdict, {});
           }));
}

}  // namespace

std::string_view kind_name(Holding kind) { return kind == beside_step ? "runtime" : memory::name_of(kind); }

StepPicture::StepPicture(const answer::Estimate& estimate)
    : estimate_(estimate), kinds_{beside_step}, whole_(picture_height(estimate.verdict)) {
  const auto& points = estimate.memory.timeline;
  if (points.empty()) return;
  double end = 0.0;
  for (const double width : widths_of(points)) ends_.push_back(end += width);
  for (const auto& point : points) {
    for (const auto& held : point.held) {
      if (!quantity::contains(kinds_, held.holding)) kinds_.push_back(held.holding);
    }
  }
  const Bytes beside = estimate.memory.peak_needed - estimate.memory.peak_allocated;
  std::vector<Bytes> sums(points.size(), beside);
  tops_.push_back(std::vector<double>(points.size(), height_of(beside)));
  for (std::size_t kind = 1; kind < kinds_.size(); ++kind) {
    auto& tops = tops_.emplace_back();
    for (std::size_t i = 0; i < points.size(); ++i)
      tops.push_back(height_of(sums[i] += held_of(points[i], kinds_[kind])));
  }
}

std::optional<double> StepPicture::capacity() const {
  const auto& verdict = estimate_.verdict;
  return is_seen(verdict) ? std::optional(height_of(verdict.capacity)) : std::nullopt;
}

bool StepPicture::is_timed() const { return are_timed(estimate_.memory.timeline); }

double StepPicture::height_of(Bytes size) const { return whole_ > Bytes{} ? std::clamp(size / whole_, 0.0, 1.0) : 0.0; }

std::string StepPicture::area(std::size_t kind) const {
  const auto bottom = [&](std::size_t i) { return kind == 0 ? 0.0 : tops_[kind - 1][i]; };
  StepLine line;
  for (std::size_t i = 0; i < ends_.size(); ++i) line.to(ends_[i], tops_[kind][i]);
  for (std::size_t i = ends_.size(); i-- > 0;) {
    line.to(i == 0 ? 0.0 : ends_[i - 1], bottom(i));
  }
  return "M0 1000" + line.take() + "Z";
}

std::string StepPicture::areas() const {
  std::string paths;
  for (std::size_t kind = 0; kind < kinds_.size(); ++kind) {
    paths += fmt::format("<path class=\"h{}\" d=\"{}\"><title>{}</title></path>\n", colour_of(kinds_[kind]), area(kind),
                         kind_name(kinds_[kind]));
  }
  return paths;
}

std::vector<StepPicture::Span> StepPicture::phases() const {
  std::vector<Span> spans;
  const auto& points = estimate_.memory.timeline;
  for (std::size_t i = 0; i < ends_.size(); ++i) {
    const TimelinePoint& point = points[i];
    if (spans.empty() || spans.back().phase != point.phase) spans.push_back({point.phase, 0.0, {}, &point});
    Span& span = spans.back();
    span.share += ends_[i] - (i == 0 ? 0.0 : ends_[i - 1]);
    if (point.time) span.time = span.time.value_or(Seconds{}) + *point.time;
    if (point.allocated > span.highest->allocated) span.highest = &point;
  }
  return spans;
}

void add_memory(Html& html, const answer::Estimate& estimate, const TextStyle& style) {
  const auto unit = memory_unit_of(estimate, style);
  if (const StepPicture picture(estimate); !picture.empty()) {
    html.element("h2", "Memory through a step");
    add_picture(html, picture, estimate, unit);
    add_phases(html, picture, estimate, unit);
  }
  add_ledger(html, estimate.memory, unit);
  add_stages(html, estimate.memory, unit);
}

void add_time(Html& html, const answer::TimeAnswer& time) {
  html.element("h2", "Time");
  html.open_table({"of a step", "", "share"});
  for (const auto& part : time.step_parts) {
    html.open("tr").open("td");
    add_why(html, part.label, part.why);
    html.close().element("td class=\"n\"", quantity::format_duration(part.time));
    html.element("td class=\"n\"", share_text(part.time / time.step)).close().ours("\n");
  }
  html.row("td", {"step", quantity::format_duration(time.step), share_text(1.0)}).close().close();
  if (time.error.above > 0) {
    html.element("p class=\"dim\"", fmt::format("error bar {}, {}", spread_text(time.error), time.error_source));
  }
}

std::string to_html(const Report& report, const TextStyle& style) {
  const auto& estimate = report.estimate;
  const auto title = verdict_word(report, {}) + " " + run_words(report);
  return html_page(title, report.version, [&](Html& html) {
    add_verdict(html, report, style);
    add_list(html, "Warnings", estimate.warnings);
    add_advice(html, report, style);
    add_memory(html, estimate, style);
    if (estimate.timed) {
      add_time(html, estimate.compute);
      html.element("p", step_words(estimate.compute)).element("p", length_words(report));
    }
    add_list(html, "Assumed", sentences(report.assumptions));
    add_list(html, "Not modelled, and measured on", estimate.notes);
    add_question(html, report.question);
    TextStyle all = style;
    all.colour = all.bars = all.timeline = false;
    all.explain = true;
    add_folded(html, "every table with formula, numbers and source", to_text(report, all));
  });
}

}  // namespace llmcalc::render
