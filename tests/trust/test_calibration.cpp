// What own runs say of estimates, against medians and quantiles worked out by hand.
#include "catch.hpp"
#include "trust/validation.hpp"

using namespace llmcalc;
using trust::Comparison;

namespace {

Comparison row(double measured, double predicted, spec::Measure measure = spec::Measure::nvidia_smi) {
  Comparison c;
  c.measured = measured;
  c.predicted = predicted;
  c.measure = measure;
  c.groups = {"hf"};
  return c;
}

}  // namespace

TEST_CASE("the factor is the median of measured over estimated, which a broken row does not move") {
  const std::vector<Comparison> rows{row(105, 100), row(110, 100), row(115, 100), row(110, 100), row(9000, 100)};
  const auto biases = trust::own_biases(rows);
  REQUIRE(biases.size() == 1);
  CHECK(biases[0].framework == "hf");
  CHECK(biases[0].calibration.memory.factor == Approx(1.10));
  CHECK(biases[0].calibration.memory.runs == 5);
  CHECK_FALSE(biases[0].calibration.time.is_known());
}

TEST_CASE("nine in ten of own runs lie within the bar around the factor") {
  std::vector<Comparison> rows;
  for (int off = 1; off <= 10; ++off) rows.push_back(row(100.0 + off, 100));  // factor: the root of 1.05 x 1.06
  const auto bias = trust::own_biases(rows)[0].calibration.memory;
  CHECK(bias.factor == Approx(1.05499).epsilon(1e-5));
  CHECK(bias.bar == Approx(1.0 - 1.01 / bias.factor).epsilon(1e-6));  // the ninth of ten by size: 1.01, before 1.10
}

TEST_CASE("four rows are too few, tokens a second are times upside down, and what rests says nothing of the peak") {
  std::vector<Comparison> rows(4, row(110, 100));
  CHECK_FALSE(trust::own_biases(rows)[0].calibration.memory.is_known());
  CHECK(trust::own_biases(rows)[0].memory_runs == 4);
  rows.assign(5, row(100, 80, spec::Measure::tokens_per_gpu));
  CHECK(trust::own_biases(rows)[0].calibration.time.factor == Approx(0.8));
  rows.assign(5, row(100, 80, spec::Measure::persistent));
  CHECK(trust::own_biases(rows)[0].memory_runs == 0);
}
