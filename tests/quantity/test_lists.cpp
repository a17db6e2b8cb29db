#include "catch.hpp"
#include "llmcalc/quantity/quantity.hpp"
#include "quantity/lists.hpp"

#include <array>

using namespace llmcalc::quantity;

namespace {

struct Part {
  std::string_view name;
  std::int64_t held = 0;
};

constexpr std::array parts{Part{"weights", 3}, Part{"gradients", 2}, Part{"weights", 5}};

bool is_weights(const Part& part) { return part.name == "weights"; }

}  // namespace

TEST_CASE("a list is asked for a value, or for a row by one of its fields") {
  CHECK(contains(parts, "gradients", &Part::name));
  CHECK_FALSE(contains(parts, "states", &Part::name));
  CHECK(find_or_null(parts, "weights", &Part::name) == &parts[0]);
  CHECK(find_or_null(parts, 7, &Part::held) == nullptr);
}

TEST_CASE("the first and the last element of a kind are found") {
  CHECK(find_if_or_null(parts, is_weights) == &parts[0]);
  CHECK(find_last_if_or_null(parts, is_weights) == &parts[2]);
  CHECK(find_last_if_or_null(parts, [](const Part& part) { return part.held > 5; }) == nullptr);
}

TEST_CASE("a list is made of another one, whole or in part") {
  CHECK(mapped(parts, &Part::held) == std::vector<std::int64_t>{3, 2, 5});
  CHECK(mapped_if(parts, &Part::held, is_weights) == std::vector<std::int64_t>{3, 5});
}

TEST_CASE("a list is put behind another one") {
  std::vector<std::int64_t> all{1};
  append(all, std::array<std::int64_t, 2>{2, 3});
  CHECK(all == std::vector<std::int64_t>{1, 2, 3});
}

TEST_CASE("sums begin at nothing and keep the unit") {
  CHECK(sum_of(parts, &Part::held) == 10);
  CHECK(sum_of(std::vector<Part>(), [](const Part& part) { return bytes(part.held); }) == bytes(0));
}

TEST_CASE("texts are joined with what stands between them, empty ones too") {
  CHECK(joined(mapped(parts, &Part::name), ", ") == "weights, gradients, weights");
  CHECK(joined(std::array<std::string_view, 2>{}, "+") == "+");
  CHECK(joined(std::vector<std::string>(), ", ").empty());
}
