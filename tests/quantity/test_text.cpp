#include "catch.hpp"
#include "quantity/text.hpp"

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
                  "31m\xC2\xA0") == "a\\u009B31m\xC2\xA0");
}

TEST_CASE("a long text is quoted by its beginning, whole characters of it") {
  CHECK(llmcalc::quantity::quoted("8kk") == "'8kk'");
  CHECK(llmcalc::quantity::quoted(std::string(60, 'x')) == "'" + std::string(60, 'x') + "'");
  CHECK(llmcalc::quantity::quoted(std::string(61, 'x')) == "'" + std::string(60, 'x') + "...'");
  CHECK(llmcalc::quantity::quoted(std::string(59, 'x') + "\xC3\xA4\xC3\xA4") == "'" + std::string(59, 'x') + "...'");
}

TEST_CASE("a text is taken apart at its separators, an empty piece at its end left out") {
  CHECK(pieces_of("a|b||c|", "|") == std::vector<std::string_view>{"a", "b", "", "c"});
  CHECK(pieces_of("", "|").empty());
  std::string_view rest = "dp 8, tp 2";
  CHECK(take_until(rest, ",") == "dp 8");
  CHECK(take_until(rest, ",") == " tp 2");
  CHECK(take_until(rest, ",").empty());
}

TEST_CASE("what a text begins or ends with is left out where it is there") {
  CHECK(without_start("torch.bfloat16", "torch.") == "bfloat16");
  CHECK(without_start("bfloat16", "torch.") == "bfloat16");
  CHECK(without_end("llama.gguf", ".gguf") == "llama");
  CHECK(without_end("llama", ".gguf") == "llama");
}

TEST_CASE("a number is digits alone, and at least one") {
  CHECK(is_number("2048"));
  CHECK_FALSE(is_number(""));
  CHECK_FALSE(is_number("-1"));
  CHECK_FALSE(is_number("1.5"));
}

TEST_CASE("a number is taken off the beginning of a text") {
  std::string_view text = "128GB";
  CHECK(take_number<int>(text) == 128);
  CHECK(text == "GB");
  CHECK_FALSE(take_number<int>(text));
  CHECK(text == "GB");
}
