#include "catch.hpp"
#include "dialects/shell/shell.hpp"
#include "llmcalc/quantity/error.hpp"

#include <string>
#include <vector>

using namespace llmcalc;

namespace {

/// The words of the last command, those that hang on something unknown as "?NAME".
std::vector<std::string> last(std::string_view script) {
  const auto parsed = dialects::parse_shell(script, "s.sh");
  REQUIRE_FALSE(parsed.commands.empty());
  std::vector<std::string> words;
  for (const auto& word : parsed.commands.back().words) {
    words.push_back(word.unknown.empty() ? word.text : "?" + word.unknown);
  }
  return words;
}

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("A shell's words are split, quoted and continued as POSIX has them") {
  CHECK(last("a 'b c' \"d e\" f\\ g \\\n h # no\n") == Words{"a", "b c", "d e", "f g", "h"});
  CHECK(last("a --x='1 2' 2>&1 > out.txt < in") == Words{"a", "--x=1 2"});
  CHECK(last("a; b && c | d") == Words{"d"});
  CHECK(last("cat <<EOF\ntext \"\nEOF\nnext") == Words{"next"});
}

TEST_CASE("Assignments, arrays, defaults and integer arithmetic are expanded") {
  CHECK(last("N=4; M=${N}; a $N ${M} ${X:-7} ${N:-7}") == Words{"a", "4", "4", "7", "4"});
  CHECK(last("A=(x 'y z' $N)\na ${A[@]}") == Words{"a", "x", "y", "z", "?N"});
  CHECK(last("A=(x 'y z')\na \"${A[@]}\"") == Words{"a", "x", "y z"});
  CHECK(last("A=(--x 1)\nA+=(--y 2)\na ${A[@]}") == Words{"a", "--x", "1", "--y", "2"});
  CHECK(last("N=3\na $((N*(2+4)/3)) $(( $N % 2 )) $(expr 16 / $N)") == Words{"a", "6", "1", "5"});
  CHECK(last("O=\"--x 1 \\\n --y 2\"\na $O") == Words{"a", "--x", "1", "--y", "2"});
  CHECK(last("export N=2\na $N \"n=$N\"") == Words{"a", "2", "n=2"});
}

// POSIX.1-2017, Shell Command Language, 2.6.2, Parameter Expansion.
TEST_CASE("What stands before or behind a pattern is cut off a value") {
  const std::string name = "M=org/a/Qwen3-8B.tar.gz\n";
  CHECK(last(name + "a ${M##*/} ${M#*/} ${M%/*} ${M%%/*}") ==
        Words{"a", "Qwen3-8B.tar.gz", "a/Qwen3-8B.tar.gz", "org/a", "org"});
  CHECK(last(name + "a ${M%.gz} ${M#org/} ${M%.zip} ${M##x*}") ==
        Words{"a", "org/a/Qwen3-8B.tar", "a/Qwen3-8B.tar.gz", "org/a/Qwen3-8B.tar.gz", "?${M##x*}"});
  CHECK(last("a ${M##*/} ${1##*/}") == Words{"a", "?M", "?${1##*/}"});
}

TEST_CASE("What would have to be executed is marked with what it hangs on") {
  CHECK(last("a $1 $NAME $(date) `date`") == Words{"a", "?$1", "?NAME", "?$(date)", "?a command in backticks"});
  CHECK(last("if x; then N=1; fi\na $N") == Words{"a", "?N, which is set under a condition"});
  CHECK(last("a $((1/0)) $((2**3))") == Words{"a", "?$((1/0))", "?$((2**3))"});
  CHECK(last("a ${N/x/y}") == Words{"a", "?${N/x/y}"});
}

TEST_CASE("What is not known keeps its place in a value that splits") {
  CHECK(last("O=\"--x 1 --y $N --z\"\na $O") == Words{"a", "--x", "1", "--y", "?N", "--z"});
  CHECK(last("O=\"--x $N\"\nO=\"$O --y $M\"\na $O") == Words{"a", "--x", "?N", "--y", "?M"});
  CHECK(last("O=\"--x pre$N/post --y 2\"\nO+=\" --z ${M}\"\na $O") == Words{"a", "--x", "?N", "--y", "2", "--z", "?M"});
  CHECK(last("A=(--x $N --y 2)\na ${A[@]}") == Words{"a", "--x", "?N", "--y", "2"});
}

TEST_CASE("Unknowns that double do not outgrow their bound") {
  std::string script = "A=\"$N \"\n";
  for (int i = 0; i < 64; ++i) script += "A=\"$A$A\"\n";
  CHECK_THROWS_AS(dialects::parse_shell(script + "run $A", "s.sh"), quantity::BadInput);
}

TEST_CASE("Arithmetic knows its bounds") {
  CHECK(dialects::shell_arithmetic("9223372036854775807", {}).known);
  CHECK_FALSE(dialects::shell_arithmetic("9223372036854775807+1", {}).known);
  CHECK_FALSE(dialects::shell_arithmetic("-9223372036854775807-1-1", {}).known);
  CHECK_FALSE(dialects::shell_arithmetic(std::string(1000, '('), {}).known);
  CHECK_FALSE(dialects::shell_arithmetic("A", {{"A", {"A", 1, {}}}}).known);
  CHECK(dialects::shell_arithmetic("-3 + 5", {}).value == 2);
}

TEST_CASE("A quote or a list that is not closed has its line") {
  for (const auto* text : {"a\n'b", "a\n\"b", "a\nB=(c", "a\n${b"}) {
    CAPTURE(text);
    try {
      dialects::parse_shell(text, "s.sh");
      FAIL("accepted");
    } catch (const quantity::BadInput& error) {
      CHECK(error.place() == "s.sh:2");
    }
  }
}

TEST_CASE("Expansions that double do not outgrow their bound") {
  std::string script = "A=xxxxxxxxxxxxxxxx\n";
  for (int i = 0; i < 40; ++i) script += "A=$A$A\n";
  CHECK_THROWS_AS(dialects::parse_shell(script, "s.sh"), quantity::BadInput);
}

TEST_CASE("Files that a script writes are kept for the command that names them") {
  const auto files = [](std::string_view script) { return dialects::parse_shell(script, "s.sh").files; };
  CHECK(files("N=2\ncat <<EOF > a.json\n{\"n\": $N, 'x': \\$N}\nEOF\nnext").at("a.json") == "{\"n\": 2, 'x': $N}\n");
  CHECK(files("N=2\ncat > a.yaml <<'EOF'\nn: $N\nEOF\n").at("a.yaml") == "n: $N\n");
  CHECK(files("cat <<-EOF >a\n\tEOF\n").at("a").empty());
  CHECK(files("cat <<EOF > a\nn: $UNSET\nEOF\n").at("a") == "n: ${UNSET}\n");
  CHECK(files("echo '{\"a\": 1}' > b.json && next").at("b.json") == "{\"a\": 1}\n");
  CHECK(files("cat > \"$A/b\" <<E\nx\nE\necho y >> \"${A}/b\"\n").at("${A}/b") == "x\ny\n");
  CHECK(files("echo x > a\nif [ \"$A\" -gt 1 ]; then echo y >> a; fi\n").at("a") == "x\n");
  CHECK(files("cat <<EOF | tee a\nx\nEOF\nnext").empty());
  CHECK(files("cmd > log 2>&1; cat in > out; cat <<EOF\nx").empty());
}

TEST_CASE("Variables that hold each other twice end") {
  std::string script = "A0=1\n";
  for (int i = 0; i < 60; ++i)
    script += "A" + std::to_string(i + 1) + "='A" + std::to_string(i) + "+A" + std::to_string(i) + "'\n";
  CHECK(last(script + "a $((A5)) $((A31))") == Words{"a", "?$((A5))", "?$((A31))"});
}

TEST_CASE("A default sees the variables around it, and leaves them as they are") {
  CHECK(last("N=4\na ${X:-$N} \"${Y:-${Z:-b $N}}\" c") == Words{"a", "4", "b 4", "c"});
  CHECK(last("A=(x y)\na \"${X:-${A[@]}}\" d") == Words{"a", "x y", "d"});
}

TEST_CASE("Lists that are expanded again and again do not add up beyond any script") {
  std::string items;
  for (int i = 0; i < 10'000; ++i) items += "x ";
  for (const std::string use : {"echo ${A[@]}\n", "echo \"${A[@]}\"\n", "echo $A\n"}) {
    CAPTURE(use);
    std::string script = use == "echo $A\n" ? "A='" + items + "'\n" : "A=(" + items + ")\n";
    CHECK_NOTHROW(dialects::parse_shell(script + use, "s.sh"));
    for (int i = 0; i < 1000; ++i) script += use;
    CHECK_THROWS_AS(dialects::parse_shell(script, "s.sh"), quantity::BadInput);
  }
}

TEST_CASE("Variables in front of every command do not add up beyond any script") {
  std::string script;
  for (int i = 0; i < 2000; ++i) script += "export LLAMA_ARG_A" + std::to_string(i) + "=1\n";
  for (int i = 0; i < 2000; ++i) script += "echo\n";
  CHECK_THROWS_AS(dialects::parse_shell(script, "s.sh"), quantity::BadInput);
}

/// POSIX.1-2024, Shell Command Language 2.6.5: a blank, a tab and the end of a line each part fields, in no quotes.
TEST_CASE("What a variable holds is parted at blanks of any kind, and whole in quotes") {
  for (const std::string blanks : {" ", "\t", "\n", " \n", "\n\n", "\t \n"}) {
    CAPTURE(blanks);
    const std::string held = "x" + blanks + "y";
    CHECK(last("A='" + held + "'\na $A b") == Words{"a", "x", "y", "b"});
    CHECK(last("A='" + held + "'\na -$A- b") == Words{"a", "-x", "y-", "b"});
    CHECK(last("A='" + held + "'\na \"$A\" b") == Words{"a", held, "b"});
  }
}
