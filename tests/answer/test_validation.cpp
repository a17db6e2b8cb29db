#include "catch.hpp"

#include "llmcalc/answer/validation.hpp"

#include <algorithm>

using namespace llmcalc;
using answer::Comparison;

namespace {

Comparison row(double measured, double predicted, double bar, std::string group) {
  Comparison c;
  c.measured = measured;
  c.predicted = predicted;
  c.bar_share = bar;
  c.groups = {std::move(group)};
  return c;
}

const std::vector<Comparison> rows{row(100, 110, 0.10, "a"), row(100, 98, 0.01, "a"), row(200, 200, 0.0, "b"),
                                   row(50, 45, 0.2, "b")};

}  // namespace

TEST_CASE("errors are percent of the measured value") {
  const auto s = answer::summarize(rows);
  CHECK(s.n == 4);
  CHECK(s.mean_abs_pct == Approx((10.0 + 2.0 + 0.0 + 10.0) / 4));
  CHECK(s.median_abs_pct == Approx(6.0));
  CHECK(s.p95_abs_pct == Approx(10.0));
  CHECK(s.max_abs_pct == Approx(10.0));
  CHECK(s.bias_pct == Approx((10.0 - 2.0 + 0.0 - 10.0) / 4));
  CHECK(s.inside_bar_pct == Approx(75.0));  // 98 +- 1 % does not reach 100
}

TEST_CASE("p95 is the nearest rank") {
  std::vector<Comparison> many;
  for (int i = 1; i <= 20; ++i) many.push_back(row(100, 100 + i, 0, "x"));
  CHECK(answer::summarize(many).p95_abs_pct == Approx(19.0));
}

TEST_CASE("groups partition the rows and the order of rows does not matter") {
  auto shuffled = rows;
  std::ranges::reverse(shuffled);
  const auto groups = answer::group(rows, {"quality"});
  REQUIRE(groups.size() == 2);
  CHECK(groups[0].value == "a");
  CHECK(groups[0].summary.n + groups[1].summary.n == 4);
  CHECK(answer::summarize(shuffled).mean_abs_pct == Approx(answer::summarize(rows).mean_abs_pct));
  CHECK(groups[1].summary.bias_pct == Approx(-5.0));
}

TEST_CASE("no rows give zeros, not a division by zero") {
  const auto s = answer::summarize({});
  CHECK(s.n == 0);
  CHECK(s.p95_abs_pct == 0.0);
}

TEST_CASE("a tight prediction is right either way") {
  answer::Verdicts v;
  v.count(true, answer::VerdictKind::tight);
  v.count(false, answer::VerdictKind::tight);
  v.count(true, answer::VerdictKind::does_not_fit);
  v.count(false, answer::VerdictKind::fits);
  v.count(false, answer::VerdictKind::does_not_fit);
  CHECK(v.true_fit == 1);
  CHECK(v.false_miss == 1);
  CHECK(v.false_fit == 1);
  CHECK(v.true_miss == 2);
}

TEST_CASE("equal reasons are counted together, the most frequent first") {
  answer::Validation v;
  v.skip("a");
  v.skip("b");
  v.skip("b");
  REQUIRE(v.skipped.size() == 2);
  CHECK(v.skipped[0].reason == "b");
  CHECK(v.skipped[0].count == 2);
}
