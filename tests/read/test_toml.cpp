// Files of TOML that are none.
#include "catch.hpp"
#include "llmcalc/quantity/error.hpp"
#include "read/settings.hpp"

#include <string>

using namespace llmcalc;

TEST_CASE("letters beyond ASCII are text in quotes, and elsewhere refuse the file") {
  const auto quoted = read::parse_toml("name = \"\u00e9\u0300\"", "x.toml");
  CHECK(quoted.members.front().value.text == "\u00e9\u0300");
  for (const std::string text : {"\u00e9 = 1", "name = \u02cc 0", "name = 1 \u0499", "[\u00fc]"}) {
    CAPTURE(text);
    CHECK_THROWS_AS(read::parse_toml(text, "x.toml"), quantity::BadInput);
  }
}
