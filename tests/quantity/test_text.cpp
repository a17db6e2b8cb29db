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
