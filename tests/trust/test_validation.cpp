// Statistics of errors against values worked out by hand, and the rules that hold for any rows.
#include "catch.hpp"
#include "trust/validation.hpp"

#include <algorithm>
#include <cmath>
#include <random>

using namespace llmcalc;
using trust::Comparison;
using trust::Judgement;
using trust::VerdictKind;

namespace {

Comparison row(std::int64_t measured, std::int64_t predicted, double bar, std::string group) {
  Comparison c;
  c.measured = static_cast<double>(measured);
  c.predicted = static_cast<double>(predicted);
  c.bar = {bar, bar};
  c.groups = {std::move(group)};
  return c;
}

const std::vector<Comparison> rows{row(100, 110, 0.10, "a"), row(100, 98, 0.01, "a"), row(200, 200, 0.0, "b"),
                                   row(50, 45, 0.2, "b")};

std::vector<Comparison> random_rows(std::mt19937& random, int most) {
  std::uniform_int_distribution<int> count(1, most);
  std::uniform_int_distribution<std::int64_t> size(1, std::int64_t{1} << 40);
  std::uniform_real_distribution<double> factor(0.2, 3.0);
  std::uniform_int_distribution<int> group(0, 4);
  std::vector<Comparison> made;
  for (int i = count(random); i > 0; --i) {
    const auto measured = size(random);
    const auto predicted = static_cast<std::int64_t>(static_cast<double>(measured) * factor(random));
    made.push_back(row(measured, predicted, 0.1, std::string(1, static_cast<char>('a' + group(random)))));
  }
  return made;
}

}  // namespace

TEST_CASE("errors are percent of the measured value") {
  const auto s = trust::summarize(rows);
  CHECK(s.n == 4);
  CHECK(s.mean_abs_pct == Approx((10.0 + 2.0 + 0.0 + 10.0) / 4));
  CHECK(s.median_abs_pct == Approx(6.0));
  CHECK(s.p95_abs_pct == Approx(10.0));
  CHECK(s.max_abs_pct == Approx(10.0));
  CHECK(s.bias_pct == Approx((10.0 - 2.0 + 0.0 - 10.0) / 4));
  CHECK(s.inside_bar_pct == Approx(75.0));  // 98 +- 1 % does not reach 100
}

TEST_CASE("the arms of an error bar are asked apart") {
  Comparison c = row(150, 100, 0.0, "a");
  c.bar = {0.1, 0.5};
  CHECK(c.inside_bar());
  c.measured = 151;
  CHECK_FALSE(c.inside_bar());
  c.measured = 90;
  CHECK(c.inside_bar());
  c.measured = 89;
  CHECK_FALSE(c.inside_bar());
}

TEST_CASE("p95 is the nearest rank") {
  std::vector<Comparison> many;
  for (int i = 1; i <= 20; ++i) many.push_back(row(100, 100 + i, 0, "x"));
  CHECK(trust::summarize(many).p95_abs_pct == Approx(19.0));
  many.push_back(row(100, 121, 0, "x"));  // 0.95 * 21 = 19.95
  CHECK(trust::summarize(many).p95_abs_pct == Approx(20.0));
  CHECK(trust::summarize({many.data(), 1}).p95_abs_pct == Approx(1.0));
}

TEST_CASE("no rows give zeros, not a division by zero") {
  const auto s = trust::summarize({});
  CHECK(s.n == 0);
  CHECK(s.p95_abs_pct == 0.0);
  CHECK(trust::group({}, {"quality"}).empty());
}

TEST_CASE("every value of every column has its group") {
  auto grouped = rows;
  for (auto& r : grouped) r.groups.push_back(r.predicted > r.measured ? "high" : "");
  const auto groups = trust::group(grouped, {"quality", "method"});
  REQUIRE(groups.size() == 4);
  CHECK(groups[0].by == "quality");
  CHECK(groups[0].value == "a");
  CHECK(groups[1].summary.bias_pct == Approx(-5.0));
  CHECK(groups[2].by == "method");
  CHECK(groups[2].value.empty());
  CHECK(groups[2].summary.n == 3);
  CHECK(groups[3].summary.mean_abs_pct == Approx(10.0));
}

TEST_CASE("groups partition the rows, and the order of rows does not matter") {
  std::mt19937 random(2203);
  for (int round = 0; round < 200; ++round) {
    auto some = random_rows(random, 60);
    const auto all = trust::summarize(some);
    std::int64_t n = 0;
    double sum = 0.0;
    double bias = 0.0;
    double largest = 0.0;
    for (const auto& group : trust::group(some, {"method"})) {
      const auto share = static_cast<double>(group.summary.n);
      n += group.summary.n;
      sum += share * group.summary.mean_abs_pct;
      bias += share * group.summary.bias_pct;
      largest = std::max(largest, group.summary.max_abs_pct);
    }
    REQUIRE(n == all.n);
    REQUIRE(sum == Approx(all.mean_abs_pct * static_cast<double>(n)));
    REQUIRE(bias == Approx(all.bias_pct * static_cast<double>(n)).margin(1e-6));
    REQUIRE(largest == all.max_abs_pct);

    std::ranges::shuffle(some, random);
    const auto shuffled = trust::summarize(some);
    REQUIRE(shuffled.mean_abs_pct == all.mean_abs_pct);
    REQUIRE(shuffled.median_abs_pct == all.median_abs_pct);
    REQUIRE(shuffled.p95_abs_pct == all.p95_abs_pct);
    REQUIRE(shuffled.inside_bar_pct == all.inside_bar_pct);
  }
}

TEST_CASE("figures of a summary are ordered, and at least 95 % of the errors are within p95") {
  std::mt19937 random(95);
  for (int round = 0; round < 200; ++round) {
    const auto some = random_rows(random, 60);
    const auto s = trust::summarize(some);
    REQUIRE(s.median_abs_pct <= s.p95_abs_pct);
    REQUIRE(s.p95_abs_pct <= s.max_abs_pct);
    REQUIRE(std::abs(s.bias_pct) <= s.mean_abs_pct + 1e-9);
    const auto within =
        std::ranges::count_if(some, [&](const Comparison& r) { return std::abs(r.error_pct()) <= s.p95_abs_pct; });
    REQUIRE(100 * within >= 95 * s.n);
  }
}

TEST_CASE("rows that repeat a configuration count once, with their median") {
  std::vector<Comparison> repeated{row(100, 110, 0.1, "a"), row(200, 260, 0.1, "a"), row(100, 100, 0.1, "a"),
                                   row(100, 150, 0.1, "a")};
  for (std::size_t i = 0; i < 3; ++i) repeated[i].configuration = "one run";
  const auto rows_of = trust::by_configuration(repeated);
  REQUIRE(rows_of.size() == 2);
  CHECK(rows_of[0].error_pct() == Approx(50.0));
  CHECK(rows_of[1].error_pct() == Approx(10.0));
}

TEST_CASE("a tight prediction is right either way") {
  CHECK(trust::judgement_on(true, VerdictKind::fits) == Judgement::true_fit);
  CHECK(trust::judgement_on(true, VerdictKind::tight) == Judgement::true_fit);
  CHECK(trust::judgement_on(true, VerdictKind::does_not_fit) == Judgement::false_miss);
  CHECK(trust::judgement_on(false, VerdictKind::fits) == Judgement::false_fit);
  CHECK(trust::judgement_on(false, VerdictKind::tight) == Judgement::true_miss);
  CHECK(trust::judgement_on(false, VerdictKind::does_not_fit) == Judgement::true_miss);
}

TEST_CASE("judgements are counted apart") {
  const std::vector<trust::JudgedRun> judged{
      {"a", "", Judgement::false_fit}, {"b", "", Judgement::true_fit}, {"c", "", Judgement::false_fit}};
  CHECK(count(judged, Judgement::false_fit) == 2);
  CHECK(count(judged, Judgement::true_fit) == 1);
  CHECK(count(judged, Judgement::false_miss) == 0);
}

TEST_CASE("equal reasons are counted together, the most frequent first") {
  trust::SkippedRows rows_left_out;
  rows_left_out.add("a", "f:2");
  rows_left_out.add("b", "f:3");
  rows_left_out.add("b", "f:4");
  const auto skipped = rows_left_out.most_frequent_first();
  REQUIRE(skipped.size() == 2);
  CHECK(skipped[0].reason == "b");
  CHECK(skipped[0].count == 2);
  CHECK(skipped[0].first_place == "f:3");
  CHECK(skipped[1].count == 1);
}
