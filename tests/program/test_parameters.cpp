// Every preset's parameter count against what was published for that model.

#include "catch.hpp"
#include "program/count.hpp"
#include "quantity/parse.hpp"
#include "questions.hpp"
#include "read/presets.hpp"

#include <cmath>
#include <cstdlib>
#include <string>

using namespace llmcalc;

namespace {

program::Size size_of(const spec::Shape& shape) {
  return program::count_parameters(test::program_of(test::ask(shape, 128, 1)));
}

/// True if `count` rounds to the digits that were printed: 174,604,259,328 is "174.6B" but not "175.0B".
bool rounds_to(std::int64_t count, const std::string& text) {
  const double printed = static_cast<double>(quantity::in_parameters(quantity::parse_parameters(text, "published")));
  const std::size_t point = text.find('.');
  const std::size_t decimals = point == std::string::npos ? 0 : text.size() - point - 2;
  const double unit = text.back() == 'M' ? 1e6 : 1e9;
  const double step = unit / std::pow(10.0, static_cast<double>(decimals));
  return std::abs(static_cast<double>(count) - printed) <= step / 2;
}

}  // namespace

TEST_CASE("computed parameter counts equal every published integer") {
  int exact = 0;
  for (const auto& preset : read::Catalogue().models()) {
    if (!preset.published.exact) continue;
    INFO(preset.id);
    const auto size = size_of(preset.shape);
    CHECK(size.total == *preset.published.exact);
    CHECK(size.active == preset.published.active.value_or(size.total));
    ++exact;
  }
  CHECK(exact == 297);
}

TEST_CASE("counts without a published integer round to the published number or state the cause") {
  int explained = 0;
  for (const auto& preset : read::Catalogue().models()) {
    if (preset.published.exact) continue;
    INFO(preset.id << ": " << preset.published.check);
    const auto total = size_of(preset.shape).total;
    CHECK(total == *preset.published.counted);
    const bool rounded = !preset.published.text.empty() && rounds_to(total, preset.published.text);
    const bool has_cause = preset.published.check.find("differs") != std::string::npos ||
                           preset.published.check.find("no published") != std::string::npos;
    CHECK((rounded || has_cause));
    ++explained;
  }
  CHECK(explained == 282);
}

// Elements of the published files that belong to the layers for further tokens alone, without copies of table and head.
TEST_CASE("a layer that predicts further has the parameters of the published one, once however often it is passed") {
  int exact = 0;
  for (const auto& preset : read::Catalogue().models()) {
    if (!preset.checkpoint.mtp_unique) continue;
    INFO(preset.id);
    spec::Question q = test::ask(preset.shape, 128, 1);
    const auto count = [&](std::int64_t passes, bool repeated) {
      q.training.mtp_num_layers = passes;
      q.training.mtp_use_repeated_layer = repeated;
      return program::count_parameters(test::program_of(q)).total;
    };
    const std::int64_t plain = count(0, false);
    const std::int64_t layer = count(1, false) - plain;
    CHECK(count(2, false) == plain + 2 * layer);
    CHECK(count(2, true) == plain + layer);
    CHECK(layer == *preset.checkpoint.mtp_unique);
    const auto work = [&](std::int64_t passes) {
      q.training.mtp_num_layers = passes;
      return quantity::in_flops(program::count_work(test::program_of(q)).model());
    };
    const double pass = work(1) - work(0);
    CHECK(pass > 6.0 * 128 * static_cast<double>(preset.shape.hidden * preset.shape.vocab));  // a head for each
    CHECK(work(2) == Approx(work(0) + 2 * pass).epsilon(1e-12));
    ++exact;
  }
  CHECK(exact == 11);
}

TEST_CASE("tables are counted apart from the layers") {
  const auto size = size_of(test::llama2_7b_shape());
  CHECK(size.total == 6'738'415'616);
  CHECK(size.tables == 2LL * 32000 * 4096);
}

TEST_CASE("a stated size is counted exactly, whatever the assumed shape has") {
  spec::Question q = test::ask(test::llama2_7b_shape(), 128, 1);
  q.stated_parameters = quantity::parameters(7'000'000'000);
  CHECK(program::count_parameters(test::program_of(q)).total == 7'000'000'000);
}
