// RFC 4180, and what spreadsheets make of it.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/rows.hpp"

#include <cstdint>
#include <random>
#include <string>
#include <vector>

using namespace llmcalc;
using Catch::Matchers::Contains;
using Cells = std::vector<std::string>;

namespace {

std::vector<read::CsvRow> rows_of(std::string_view text) { return read::read_csv(text, "f.csv"); }

std::string in_quotes(const std::string& cell) {
  std::string text = "\"";
  for (const char c : cell) text.append(c == '"' ? 2 : 1, c);
  return text + "\"";
}

}  // namespace

TEST_CASE("rows keep their line numbers, and quoted cells their commas, quotes and line breaks") {
  const auto rows = rows_of("a,b\r\n\"1,5\",\"say \"\"no\"\"\"\n\n\"two\nlines\",x\nlast,y");
  REQUIRE(rows.size() == 4);
  CHECK(rows[0].cells == Cells{"a", "b"});
  CHECK(rows[1].cells == Cells{"1,5", "say \"no\""});
  CHECK(rows[1].line == 2);
  CHECK(rows[2].cells == Cells{"two\nlines", "x"});
  CHECK(rows[2].line == 4);
  CHECK(rows[3].cells == Cells{"last", "y"});
  CHECK(rows[3].line == 6);
}

TEST_CASE("a last line without a break, blank cells and a byte-order mark") {
  const auto rows = rows_of("\xEF\xBB\xBFid,,value\n,,");
  REQUIRE(rows.size() == 2);
  CHECK(rows[0].cells == Cells{"id", "", "value"});
  CHECK(rows[1].cells == Cells{"", "", ""});
  CHECK(rows_of("").empty());
  CHECK(rows_of("\r\n\n\r").empty());
  CHECK(rows_of("\"\"").front().cells == Cells{""});
}

TEST_CASE("lines end in LF, CR LF or CR") {
  for (const std::string end : {"\n", "\r\n", "\r"}) {
    const auto rows = rows_of("a,b" + end + "1,2" + end + "\"x" + end + "y\",z" + end + "3,4");
    CAPTURE(end.size());
    REQUIRE(rows.size() == 4);
    CHECK(rows[1].cells == Cells{"1", "2"});
    CHECK(rows[2].cells == Cells{"x" + end + "y", "z"});
    CHECK(rows[3].line == 5);
  }
}

TEST_CASE("a quote inside a cell that does not begin with one is a character like any other") {
  CHECK(rows_of("3.5\" disk,it's").front().cells == Cells{"3.5\" disk", "it's"});
}

TEST_CASE("a quote that is not closed or not alone is named with line and byte") {
  CHECK_THROWS_WITH(rows_of("a,b\n1,\"b\nc"), Contains("f.csv:2:3: a quote is never closed"));
  CHECK_THROWS_WITH(rows_of("a\n\"b\"c\n"), Contains("f.csv:2:4: text follows a closing quote"));
  CHECK_THROWS_WITH(rows_of("\"a\nb\"\"\nc\"d"), Contains("f.csv:3:3: text follows"));
}

TEST_CASE("whatever stands in quotes comes back") {
  std::mt19937 random(4180);
  const std::string alphabet = "a,\"\n\r\t ;\xC3\xA9";
  std::uniform_int_distribution<std::size_t> letter(0, alphabet.size() - 1);
  std::uniform_int_distribution<int> length(0, 6);
  for (int round = 0; round < 500; ++round) {
    std::string text;
    std::vector<Cells> written(3, Cells(4));
    for (auto& row : written) {
      for (auto& cell : row) {
        for (int i = length(random); i > 0; --i) cell += alphabet[letter(random)];
        text.append(&cell == &row.front() ? "" : ",").append(in_quotes(cell));
      }
      text += "\r\n";
    }
    const auto rows = rows_of(text);
    REQUIRE(rows.size() == written.size());
    for (std::size_t i = 0; i < rows.size(); ++i) REQUIRE(rows[i].cells == written[i]);
  }
}
