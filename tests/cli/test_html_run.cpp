// Pages for browsers show the answer's numbers, all of its lists and no other: each table, bar, area and dot of a page
// is computed anew from the JSON of the same question, over presets and verbs.
#include "catch.hpp"
#include "cli/html.hpp"
#include "memory/step_walk.hpp"
#include "read/presets.hpp"

namespace llmcalc::html_law {

namespace {

/// Points of the timeline that follow each other in one phase.
struct Span {
  std::string phase;
  std::vector<json> points;
};

std::vector<Span> spans_of(const json& timeline) {
  std::vector<Span> spans;
  for (const json& point : timeline) {
    const auto phase = point.at("phase").get<std::string>();
    if (spans.empty() || spans.back().phase != phase) spans.push_back({phase, {}});
    spans.back().points.push_back(point);
  }
  return spans;
}

/// What keys call a kind, by its id: the runtime's parts go by one name.
std::string name_of(const std::string& id) {
  for (int i = 0; i <= static_cast<int>(memory::Holding::calibration); ++i) {
    const auto kind = static_cast<memory::Holding>(i);
    if (memory::id_of(kind) == id)
      return kind == memory::Holding::context ? "runtime" : std::string(memory::name_of(kind));
  }
  return "unknown";
}

void check_phases(const Both& both) {
  const json& memory = both.answer.at("memory");
  const auto& section = both.page["Memory through a step"];
  const auto spans = spans_of(memory.at("timeline"));
  if (spans.empty()) {
    CHECK(section.rows.empty());
    return;
  }
  REQUIRE(section.rows.size() == spans.size() + 1);
  REQUIRE(section.bars.size() == spans.size());
  const auto unit = section.rows.front().back().text;
  for (std::size_t i = 0; i < spans.size(); ++i) {
    const auto& points = spans[i].points;
    const json& highest =
        *std::ranges::max_element(points, {}, [](const json& p) { return bytes(p.at("allocated_bytes")); });
    double seconds = 0.0;
    for (const json& point : points) seconds += point.at("seconds").is_null() ? 0.0 : point.at("seconds").get<double>();
    const bool timed = !points.front().at("seconds").is_null();
    std::string held;
    std::vector<double> parts;
    for (const auto& [id, size] : highest.at("held_bytes").items()) {
      held += (held.empty() ? "" : ", ") + name_of(id) + " " + sized(size, unit);
      parts.push_back(bytes(size));
    }
    auto phase = spans[i].phase;
    std::ranges::replace(phase, '_', ' ');
    const Row& row = section.rows[i + 1];
    CHECK(row.at(0).text == phase + ", " + highest.at("place").get<std::string>());
    CHECK(row.at(0).small == held);
    CHECK(row.at(1).text == (timed ? time_of(seconds) : ""));
    CHECK(row.at(2).text == sized(highest.at("allocated_bytes"), unit));
    check_bar(section.bars[i], parts, bytes(memory.at("peak_allocated_bytes")));
    CHECK(both.page.phases().at(i).first == phase);
  }
}

/// The corners of an area: pairs of across and down.
std::vector<std::pair<int, int>> corners_of(const std::string& path) {
  std::vector<std::pair<int, int>> corners;
  int across = 0, down = 1000;
  for (std::size_t at = path.find_first_of("HV"); at != path.npos; at = path.find_first_of("HV", at + 1)) {
    const int value = std::stoi(path.substr(at + 1));
    (path[at] == 'H' ? across : down) = value;
    corners.emplace_back(across, down);
  }
  return corners;
}

/// The areas lie one on the other: the highest of all is what the run needs, and the lowest what the runtime keeps
/// beside a step, everywhere.
void check_areas(const Both& both) {
  const json& memory = both.answer.at("memory");
  const auto& areas = both.page.areas();
  if (memory.at("timeline").empty()) {
    CHECK(areas.empty());
    return;
  }
  const double needed = bytes(both.answer.at("needed_bytes"));
  const double capacity = both.answer.at("capacity_bytes").is_null() ? 0.0 : bytes(both.answer.at("capacity_bytes"));
  const double whole = capacity > 0.0 && capacity <= 3.0 * needed ? std::max(capacity, needed) : needed;
  const double beside = bytes(memory.at("peak_needed_bytes")) - bytes(memory.at("peak_allocated_bytes"));
  double peak = 0.0;
  std::vector<std::string> kinds{"context"};
  for (const json& point : memory.at("timeline")) {
    peak = std::max(peak, bytes(point.at("allocated_bytes")));
    for (const auto& [id, size] : point.at("held_bytes").items()) {
      if (!quantity::contains(kinds, id)) kinds.push_back(id);
    }
  }
  CHECK(areas.size() == kinds.size());
  const auto height = [&](double size) { return 1000.0 - 1000.0 * std::clamp(size / whole, 0.0, 1.0); };
  const auto highest = [](const std::string& path) {
    return std::ranges::min(corners_of(path), {}, &std::pair<int, int>::second).second;
  };
  int top = 1000;
  int right = 0;
  for (const auto& area : areas) {
    top = std::min(top, highest(area));
    right = std::max(right, std::ranges::max(corners_of(area), {}, &std::pair<int, int>::first).first);
  }
  CHECK(right == 1000);
  CHECK(std::abs(top - height(beside + peak)) <= 1.0);
  CHECK(std::abs(highest(areas.front()) - height(beside)) <= 1.0);
  // Each point's sum up to a kind is a height of that kind's area.
  for (std::size_t kind = 1; kind < kinds.size(); ++kind) {
    for (const json& point : memory.at("timeline")) {
      double sum = beside;
      for (std::size_t below = 1; below <= kind; ++below)
        sum += bytes(point.at("held_bytes").value(kinds[below], json(0)));
      const auto is_near = [&](const auto& corner) { return std::abs(corner.second - height(sum)) <= 0.51; };
      if (!std::ranges::any_of(corners_of(areas[kind]), is_near)) FAIL_CHECK("a moment is missing: " << kinds[kind]);
    }
  }
}

void check_ledger(const Both& both) {
  const json& memory = both.answer.at("memory");
  const auto& section = both.page["What is held at the peak"];
  const double needed = bytes(memory.at("peak_needed_bytes"));
  const auto unit = section.rows.at(0).at(1).text;
  auto expected = quantity::mapped(memory.at("ledger"), [&](const json& line) {
    return Words{line.at("label"), sized(line.at("bytes"), unit), share_of(bytes(line.at("bytes")) / needed)};
  });
  expected.push_back({"total", sized(memory.at("peak_needed_bytes"), unit), "100 %"});
  check_rows(section, expected);
}

void check_stages(const Both& both) {
  const json& stages = both.answer.at("memory").at("stages");
  const auto& section = both.page["Pipeline stages"];
  if (stages.size() < 2) {
    CHECK(section.rows.empty());
    return;
  }
  const auto unit = section.rows.at(0).at(1).text;
  check_rows(section, quantity::mapped(stages, [&](const json& stage) {
               return Words{stage.at("stage").dump(), sized(stage.at("peak_allocated_bytes"), unit)};
             }));
}

void check_time(const Both& both) {
  const json& time = both.answer.at("time");
  const auto& section = both.page["Time"];
  if (time.at("step_seconds").is_null()) {
    CHECK(section.rows.empty());
    return;
  }
  auto expected = quantity::mapped(time.at("step_parts"), [&](const json& part) {
    return Words{part.at("label"), time_of(part.at("seconds")), share_of(part.at("share"))};
  });
  expected.push_back({"step", time_of(time.at("step_seconds")), "100 %"});
  check_rows(section, expected);
}

void check_changes(const Both& both) {
  const json& advice = both.answer.at("advice");
  const auto& section = both.page["What would make it fit"];
  if (advice.empty()) {
    CHECK(section.rows.empty());
    return;
  }
  const auto unit = section.rows.at(0).at(1).text;
  check_rows(section, quantity::mapped(advice, [&](const json& change) {
               const json& speed = change.at("speed_ratio");
               return Words{change.at("flag"), sized(change.at("needed_bytes"), unit),
                            speed.is_null() ? "" : fmt::format("{:.2f} x", speed.get<double>())};
             }));
}

std::string headline_of(const json& answer) {
  const auto verdict = answer.at("verdict").get<std::string>();
  const bool over = verdict != "does_not_fit" && !answer.at("broken_limits").empty();
  if (over) return "OVER LIMIT";
  return verdict == "does_not_fit"     ? "DOES NOT FIT"
         : verdict == "no_accelerator" ? ""
         : verdict == "tight"          ? "TIGHT"
                                       : "FITS";
}

void check_run(const Words& words) {
  CAPTURE(words);
  const auto both = asked(words);
  if (!both) return;
  CHECK(both->page.headline().starts_with(headline_of(both->answer)));
  const json& capacity = both->answer.at("capacity_bytes");
  check_bar(both->page[""].bars.at(0), sizes_of(both->answer.at("memory").at("ledger"), "bytes"),
            capacity.is_null() ? 0.0 : bytes(capacity));
  check_question(*both);
  check_phases(*both);
  check_areas(*both);
  check_ledger(*both);
  check_stages(*both);
  check_time(*both);
  check_changes(*both);
}

}  // namespace

TEST_CASE("a page of a run shows what its JSON says, list by list", "[long]") {
  std::size_t turn = 0;
  const std::vector<Words> ways{{"--gpu", "rtx-4090"},
                                {"--gpu", "h100-sxm:16", "--framework", "megatron", "--pp", "2", "--seq", "4k"},
                                {},
                                {"--gpu", "a100-80:8", "--zero", "3", "--mfu", "0.4"},
                                {"--gpu", "h200-sxm", "--method", "lora", "--seq", "8k", "--max-memory", "60GiB"}};
  const auto models = read::Catalogue().models();
  for (std::size_t i = 0; i < models.size(); i += 3) {
    Words words{"fit", "--model", models[i].id};
    const auto& way = ways[turn++ % ways.size()];
    words.insert(words.end(), way.begin(), way.end());
    check_run(words);
  }
  check_run({"fit", "--params", "7e9", "--gpu", "rtx-4090"});
  check_run({"fit", "llama-3-8b", "--gpu", "h100-sxm:8", "--zero", "3", "--eval-batch", "4"});
}

}  // namespace llmcalc::html_law
