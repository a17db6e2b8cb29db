#include "catch.hpp"
#include "llmcalc/quantity/text.hpp"

using namespace llmcalc::quantity;

TEST_CASE("only ASCII letters have a lower case, whatever the locale") {
  CHECK(to_lower("H100-SXM") == "h100-sxm");
  CHECK(to_lower("@[`{ \xC3\x84") == "@[`{ \xC3\x84");
}

TEST_CASE("white space is taken away at both ends and nowhere else") {
  CHECK(trim(" \t 80 GB \r\n") == "80 GB");
  CHECK(trim(" \n ").empty());
  CHECK(trim("").empty());
}

TEST_CASE("what a terminal would obey is spelled out, letters of any script are not") {
  CHECK(printable("\x1B[31mred\n\x7F") == "\\x1B[31mred\\x0A\\x7F");
  CHECK(printable("h100 \xC3\xA4") == "h100 \xC3\xA4");
  CHECK(printable("a\xC2\x9B"
                  "31m\xC2\xA0") == "a\\xC2\\x9B31m\xC2\xA0");
}

TEST_CASE("a long text is quoted by its beginning, whole characters of it") {
  CHECK(llmcalc::quantity::quoted("8kk") == "'8kk'");
  CHECK(llmcalc::quantity::quoted(std::string(60, 'x')) == "'" + std::string(60, 'x') + "'");
  CHECK(llmcalc::quantity::quoted(std::string(61, 'x')) == "'" + std::string(60, 'x') + "...'");
  CHECK(llmcalc::quantity::quoted(std::string(59, 'x') + "\xC3\xA4\xC3\xA4") == "'" + std::string(59, 'x') + "...'");
}
