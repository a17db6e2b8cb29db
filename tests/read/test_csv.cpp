#include "catch.hpp"

#include "llmcalc/quantity/error.hpp"
#include "llmcalc/read/csv.hpp"

using namespace llmcalc;
using Cells = std::vector<std::string>;

TEST_CASE("rows keep their line numbers, and quoted cells their commas, quotes and line breaks") {
  const auto rows = read::read_csv("a,b\r\n\"1,5\",\"say \"\"no\"\"\"\n\n\"two\nlines\",x\n", "f.csv");
  REQUIRE(rows.size() == 3);
  CHECK(rows[0].cells == Cells{"a", "b"});
  CHECK(rows[1].cells == Cells{"1,5", "say \"no\""});
  CHECK(rows[1].line == 2);
  CHECK(rows[2].cells == Cells{"two\nlines", "x"});
  CHECK(rows[2].line == 4);
}

TEST_CASE("a last line without a break, blank cells and a byte-order mark") {
  const auto rows = read::read_csv("\xEF\xBB\xBFid,,value\n,,", "f.csv");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].cells == Cells{"id", "", "value"});
  CHECK(rows[1].cells == Cells{"", "", ""});
}

TEST_CASE("a quote that is not closed or not alone is named with its line") {
  CHECK_THROWS_WITH(read::read_csv("a\n\"b\nc", "f.csv"), Catch::Matchers::Contains("f.csv:2"));
  CHECK_THROWS_WITH(read::read_csv("a\n\"b\"c\n", "f.csv"), Catch::Matchers::Contains("f.csv:2"));
}
