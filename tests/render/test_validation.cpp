// Every form of a validation, from one small value.
#include "catch.hpp"
#include "render/answers.hpp"

#include <nlohmann/json.hpp>

using namespace llmcalc;
using Catch::Matchers::Contains;
using nlohmann::json;
using trust::Judgement;

namespace {

/// Two rows, one of them 10 % too high; one verdict right and one wrong; one row left out.
trust::Validation sample() {
  trust::Validation v;
  v.rows = {{.id = "exact",
             .place = "runs.csv:2",
             .measure = spec::Measure::persistent,
             .measured = 20.0 * quantity::gibi,
             .predicted = 20.0 * quantity::gibi,
             .bar = {0.01, 0.01},
             .configuration = {},
             .groups = {"hf"}},
            {.id = "",
             .place = "runs|old.csv:3",
             .measure = spec::Measure::nvidia_smi,
             .measured = 40.0 * quantity::gibi,
             .predicted = 44.0 * quantity::gibi,
             .bar = {0.01, 0.01},
             .configuration = {},
             .groups = {""}}};
  v.summary = trust::summarize(v.rows);
  v.groups = trust::group(v.rows, {"framework"});
  v.judged = {{"ran", "runs.csv:4", Judgement::true_fit}, {"died", "runs.csv:5", Judgement::false_fit}};
  v.skipped = {{"model: no model is called 'x'", 2, "runs.csv:6"}};
  return v;
}

}  // namespace

TEST_CASE("the text has the rows, the summary, the verdicts and what was left out") {
  CHECK(render::to_text(sample()) ==
        "  row             quantity     measured  predicted  error %\n"
        "  exact           persistent  20.00 GiB  20.00 GiB     0.00\n"
        "  runs|old.csv:3  nvidia_smi  40.00 GiB  44.00 GiB   +10.00\n"
        "\n"
        "  by                  n  mean %  median %  p95 %  max %  bias %  in bar %\n"
        "  all                 2    5.00      5.00  10.00  10.00   +5.00     50.00\n"
        "  framework  (blank)  1   10.00     10.00  10.00  10.00  +10.00      0.00\n"
        "  framework  hf       1    0.00      0.00   0.00   0.00    0.00    100.00\n"
        "\n"
        "  verdicts: 1 true fit, 1 false fit (died), 0 true misses, 0 false misses\n"
        "  skipped 2: model: no model is called 'x' (first in runs.csv:6)\n");
}

TEST_CASE("without rows there is no table of zeros") {
  CHECK(render::to_text(trust::Validation{}) == "  no rows\n");
  CHECK(render::to_markdown(trust::Validation{}).empty());
  trust::Validation verdicts;
  verdicts.judged = {{"died", "runs.csv:5", Judgement::true_miss}};
  CHECK(render::to_text(verdicts) == "  verdicts: 0 true fits, 0 false fits, 1 true miss, 0 false misses\n");
  CHECK(render::to_markdown(verdicts) == "Verdicts: 0 true fits, 0 false fits, 1 true miss, 0 false misses.\n");
}

TEST_CASE("Markdown begins with the summary and ends with the rows that are furthest off") {
  const auto page = render::to_markdown(sample());
  CHECK_THAT(page, Catch::Matchers::StartsWith("| by |  | n | mean % |"));
  CHECK_THAT(page, Contains("| all |  | 2 | 5.00 | 5.00 | 10.00 | 10.00 | +5.00 | 50.00 |\n"));
  CHECK_THAT(page, Contains("\nVerdicts: 1 true fit, 1 false fit (died), 0 true misses, 0 false misses.\n"));
  CHECK_THAT(page, Contains("\nNot compared, 2: model: no model is called 'x' (first in runs.csv:6).\n"));
  const auto worst = page.find("| runs\\|old.csv:3 | nvidia_smi | 40.00 GiB | 44.00 GiB | +10.00 |");
  const auto best = page.find("| exact | persistent |");
  REQUIRE(worst != std::string::npos);
  REQUIRE(best != std::string::npos);
  CHECK(worst < best);
}

TEST_CASE("JSON has the figures as numbers and the bytes as integers") {
  const auto object = json::parse(render::to_json(sample(), "1.2.3"));
  CHECK(object["kind"] == "validate");
  CHECK(object["summary"]["n"] == 2);
  CHECK(object["summary"]["mean_abs_pct"].get<double>() == Approx(5.0));
  CHECK(object["groups"][1]["by"] == "framework");
  CHECK(object["groups"][1]["value"] == "hf");
  CHECK(object["verdicts"] == json({{"true_fit", 1}, {"false_fit", 1}, {"true_miss", 0}, {"false_miss", 0}}));
  CHECK(object["rows"][0]["measured"].is_number_integer());
  CHECK(object["rows"][1]["predicted"] == 44 * quantity::gibi);
  CHECK(object["rows"][1]["error_pct"].get<double>() == Approx(10.0));
  CHECK(object["rows"][1]["inside_bar"] == false);
  CHECK(object["judged"][1] == json({{"id", "died"}, {"place", "runs.csv:5"}, {"judgement", "false_fit"}}));
  CHECK(object["skipped"][0]["count"] == 2);
  CHECK(object["skipped"][0]["first_place"] == "runs.csv:6");
}

TEST_CASE("errors of no rows are null in JSON") {
  const auto object = json::parse(render::to_json(trust::Validation{}, "1.2.3"));
  CHECK(object["summary"]["n"] == 0);
  CHECK(object["summary"]["mean_abs_pct"].is_null());
  CHECK(object["rows"] == json::array());
}
