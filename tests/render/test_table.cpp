#include "catch.hpp"
#include "render/inner/page.hpp"

namespace llmcalc::render {

TEST_CASE("columns are as wide as their widest cell") {
  Table table({Align::left, Align::right, Align::left});
  table.add_row({"weights", "1.00", "first"});
  table.add_row({"optimizer states", "12.50", "second"});
  CHECK(table.render() ==
        "  weights            1.00  first\n"
        "  optimizer states  12.50  second\n");
}

TEST_CASE("a line across the table widens no column") {
  Table table({Align::left, Align::right}, "");
  table.add_row({"a", "1"});
  table.add_line("a line much longer than every row");
  table.add_row({"b", "22"});
  CHECK(table.render() ==
        "a   1\n"
        "a line much longer than every row\n"
        "b  22\n");
}

TEST_CASE("no row ends in spaces") {
  Table table({Align::left, Align::left, Align::right});
  table.add_row({"short", "", ""});
  table.add_row({"much longer", "x", "1"});
  table.add_row({"left", "last"});
  CHECK(table.render() ==
        "  short\n"
        "  much longer  x     1\n"
        "  left         last\n");
}

TEST_CASE("an empty cell keeps its column") {
  Table table({Align::left, Align::right, Align::left}, "");
  table.add_row({"a", "", "z"});
  table.add_row({"b", "10", "z"});
  CHECK(table.render() ==
        "a      z\n"
        "b  10  z\n");
}

TEST_CASE("tables without rows or cells are empty text") {
  CHECK(Table({Align::left}).render().empty());
  Table table({Align::left});
  table.add_row({});
  CHECK(table.render() == "\n");
}

TEST_CASE("width is counted in columns of the screen") {
  CHECK(display_width("") == 0);
  CHECK(display_width("GiB") == 3);
  CHECK(display_width("±8 %") == 4);
  CHECK(display_width("█▌") == 2);
  CHECK(display_width("模型") == 4);
  CHECK(display_width("한글") == 4);
  CHECK(display_width("e\u0301") == 1);
  CHECK(display_width("\U0001F600") == 2);
  CHECK(display_width("\x1b[1;32mFITS\x1b[0m") == 4);
}

TEST_CASE("bytes that are no UTF-8 count one column each") {
  CHECK(display_width("\xff\xfe") == 2);
  CHECK(display_width("\xe4\xbd") == 2);
  CHECK(display_width("\x80") == 1);
  CHECK(display_width("\x1b[31") == 4);
}

TEST_CASE("cells of wide characters and colours stay aligned") {
  Table table({Align::left, Align::right}, "");
  table.add_row({"模型", "1"});
  table.add_row({"\x1b[2mabc\x1b[0m", "2"});
  table.add_row({"abcde", "3"});
  CHECK(table.render() ==
        "模型   1\n"
        "\x1b[2mabc\x1b[0m    2\n"
        "abcde  3\n");
}

}  // namespace llmcalc::render
