// Answers for browsers, reviews and tracing tools: whole, self-contained, and of what others wrote nothing is obeyed.
#include "catch.hpp"
#include "quantity/lists.hpp"
#include "render/answers.hpp"
#include "render/inner/html.hpp"
#include "render/sample_report.hpp"

#include <nlohmann/json.hpp>

#include <algorithm>
#include <cmath>
#include <functional>
#include <set>

namespace llmcalc::render {
namespace {

Report named(const std::string& text) {
  auto report = sample_report();
  for (auto& line : report.question) line.text = line.origin.where = line.term = text;
  report.question.push_back({"model", text, {spec::Source::flag, text}});
  report.assumptions = {{text}};
  report.estimate.notes = report.estimate.warnings = {text};
  report.estimate.memory.ledger.front().label = report.estimate.memory.ledger.front().why.numbers = text;
  report.estimate.memory.timeline.front().place = report.version = text;
  report.advised.changes = {{{{"recompute", text}}, text, text, quantity::gib(1)}};
  report.advised.cards = {{text, trust::VerdictKind::fits}};
  return report;
}

ServingReport server_named(const std::string& text) {
  ServingReport report;
  report.question = {{text, text, {spec::Source::flag, text}}};
  report.advice = {{text, text, true, 1, 1, true}};
  report.answer.reason = report.launch = report.version = text;
  report.assumptions = {{text}};
  report.answer.notes = {text};
  return report;
}

PlanReport plan_named(const std::string& text) {
  PlanReport report;
  report.warnings = {text};
  report.assumptions = {{text}};
  report.terms = {"gpus", "gpu", "micro_batch"};
  report.best = report.front = {{{"8", text, text}, {}}, {{"8", text, text}, {}}};
  for (auto* rows : {&report.best, &report.front}) {
    for (auto& row : *rows) row.run.memory = quantity::gib(1), row.run.step = row.run.total = quantity::seconds(1);
  }
  report.estimate = named(text).estimate;
  report.fit_command = report.version = text;
  return report;
}

struct Page {
  const char* name;
  std::function<std::string(const std::string&)> shown;
};

const Page pages[] = {
    {"fit, HTML", [](const auto& text) { return to_html(named(text), {}); }},
    {"fit, SVG", [](const auto& text) { return to_svg(named(text)); }},
    {"serve, HTML", [](const auto& text) { return to_html(server_named(text), {}); }},
    {"plan, HTML", [](const auto& text) { return to_html(plan_named(text), {}); }},
};

const std::string attacks[] = {"<script>alert(1)</script>",
                               "\"><script>alert(1)</script>",
                               "' onload='alert(1)",
                               "\" onmouseover=\"alert(1)",
                               "</title></style></pre><script>alert(1)</script>",
                               "]]><script>alert(1)</script><!--",
                               "&lt;script&gt;",
                               "<img src=x onerror=alert(1)>"};

/// The tags of a page with the names of their attributes, closed in the order in which they were opened.
class Tags {
 public:
  explicit Tags(std::string_view page) {
    for (auto at = page.find('<'); at != std::string_view::npos; at = page.find('<', at + 1)) {
      take(page.substr(at + 1, page.find('>', at) - at - 1));
    }
    whole_ = whole_ && open_.empty();
  }
  bool whole() const { return whole_; }
  const std::set<std::string>& kinds() const { return kinds_; }

 private:
  void take(std::string_view tag) {
    if (tag.starts_with("!DOCTYPE")) return;
    const auto name = tag.substr(0, tag.find_first_of(" /", 1));
    if (tag.front() == '/') {
      whole_ = whole_ && !open_.empty() && open_.back() == tag.substr(1);
      if (!open_.empty()) open_.pop_back();
      return;
    }
    kinds_.insert(std::string(name) + attributes_of(tag.substr(name.size())));
    if (!tag.ends_with('/')) open_.emplace_back(name);
  }

  /// Names alone; in quotes anything may stand.
  static std::string attributes_of(std::string_view text) {
    std::string names;
    bool quoted = false;
    for (const char c : text) {
      if (c == '"') quoted = !quoted;
      if (!quoted && c != '"' && c != '/') names += c;
    }
    return names;
  }

  std::vector<std::string> open_;
  std::set<std::string> kinds_;
  bool whole_ = true;
};

bool has(std::string_view text, std::string_view part) { return text.find(part) != std::string_view::npos; }

}  // namespace

TEST_CASE("a page has the elements and attributes that it has with a harmless name, whatever the name") {
  for (const auto& page : pages) {
    const Tags harmless(page.shown("llama"));
    CAPTURE(page.name);
    CHECK(harmless.whole());
    for (const auto& attack : attacks) {
      CAPTURE(attack);
      const Tags attacked(page.shown(attack));
      CHECK(attacked.whole());
      CHECK(attacked.kinds() == harmless.kinds());
    }
  }
}

TEST_CASE("a page fetches nothing and runs nothing") {
  for (const auto& page : pages) {
    CAPTURE(page.name);
    const auto text = page.shown("llama");
    for (const char* fetched : {"<script", "<link", "src=", "href=", "url(", "@import", "javascript:"}) {
      CAPTURE(fetched);
      CHECK_FALSE(has(text, fetched));
    }
  }
}

TEST_CASE("Markdown makes no element and no link of a name") {
  for (const auto& attack : attacks) {
    const auto text = to_markdown(named(attack), {});
    CAPTURE(attack, text);
    CHECK_FALSE(has(text, "<script"));
    CHECK_FALSE(has(text, "<img"));
  }
  CHECK(has(to_markdown(named("[a](b)"), {}), "\\[a\\](b)"));
  CHECK(has(to_markdown(sample_report(), {}), "**FITS** llama-3-8b"));
}

TEST_CASE("the picture of a step is as high as what the run needs, and as wide as the time that its phases take") {
  auto estimate = sample_report().estimate;
  auto& points = estimate.memory.timeline;
  for (auto& point : points) point.time = quantity::seconds(point.phase == memory::Phase::backward ? 2.0 : 1.0);
  const StepPicture picture(estimate);
  CHECK(picture.is_timed());
  const auto capacity = picture.capacity();
  REQUIRE(capacity);
  CHECK(*capacity == 1.0);  // it is the higher of both
  double width = 0.0;
  for (const auto& span : picture.phases()) {
    width += span.share;
    const auto in_phase = [&](const auto& point) { return point.phase == span.phase; };
    const auto blocks = static_cast<double>(std::ranges::count_if(points, in_phase));
    CHECK(span.share == Approx(blocks * (span.phase == memory::Phase::backward ? 2.0 : 1.0) / 13.0));
  }
  CHECK(width == Approx(1.0));
  const auto needed = estimate.verdict.needed / estimate.verdict.capacity;
  CHECK(has(picture.areas(), "V" + std::to_string(1000 - std::lround(1000 * needed))));
}

TEST_CASE("what a picture of a run shows stands between margins that are as wide on both sides") {
  const auto picture = to_svg(sample_report());
  const auto number = [](std::string_view tag, const std::string& name) {
    const auto at = tag.find(' ' + name + "=\"");
    return at == tag.npos ? 0.0 : std::stod(std::string(tag.substr(at + name.size() + 3)));
  };
  const double width = number(picture, "width");
  int bars = 0;
  double margin = 0;
  for (auto at = picture.find("<rect class=\""); at != picture.npos; at = picture.find("<rect class=\"", at + 1)) {
    const auto tag = std::string_view(picture).substr(at, picture.find('>', at) - at);
    if (has(tag, "\"bg\"")) continue;
    if (has(tag, "\"room\"")) margin = number(tag, "x");
    CAPTURE(tag);
    CHECK(number(tag, "x") >= margin);
    CHECK(number(tag, "x") + number(tag, "width") <= width - margin + 0.1);
    if (has(tag, "\"room\"")) CHECK(number(tag, "width") == width - 2 * margin);
    ++bars;
  }
  CHECK((margin > 0 && bars > 2));
}

TEST_CASE("a run without steps has a page without their picture") {
  CHECK_FALSE(has(to_html(empty_report(), {}), "<svg"));
  CHECK(has(to_html(sample_report(), {}), "<svg"));
  CHECK(Tags(to_html(report_that_does_not_fit(), {})).whole());
  CHECK(Tags(to_html(report_without_accelerator(), {})).whole());
}

TEST_CASE("a trace is what Trace Event Format says, its blocks fill its phases, and its counter is what is held") {
  auto report = sample_report();
  auto& points = report.estimate.memory.timeline;
  for (auto& point : points) point.time = quantity::seconds(0.5);
  CHECK_THROWS(to_trace(report));  // by a stated MFU nothing is known of the parts of a step
  report.estimate.compute.step_parts = {{"products", "matrix products", quantity::seconds(3), {}}};
  std::map<std::int64_t, double> spans;
  std::size_t counters = 0;
  const auto trace = nlohmann::json::parse(to_trace(report));
  for (const auto& event : trace["traceEvents"]) {
    CHECK(event.contains("name"));
    CHECK(event.contains("pid"));
    const auto kind = event["ph"].get<std::string>();
    if (kind == "X") spans[event["tid"].get<std::int64_t>()] += event["dur"].get<double>();
    if (kind != "C") continue;
    std::int64_t held = 0;
    for (const auto& size : event["args"]) held += size.get<std::int64_t>();
    CHECK(held == in_bytes(points[counters].allocated));
    CHECK(event["ts"].get<double>() == Approx(5e5 * static_cast<double>(counters)));
    ++counters;
  }
  CHECK(counters == points.size());
  REQUIRE(spans.size() == 3);
  CHECK(spans[1] == Approx(4.5e6));
  CHECK(spans[2] == Approx(4.5e6));
  CHECK(spans[3] == Approx(3e6));
}

}  // namespace llmcalc::render
