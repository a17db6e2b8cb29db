#include "catch.hpp"
#include "dialects/shell/shell.hpp"

#include <string>

using namespace llmcalc;

namespace {

/// What the last word of a script's last command expands to, "?" in front of what it hangs on.
std::string last_word(const std::string& script) {
  const auto parsed = dialects::parse_shell(script, "s.sh");
  REQUIRE_FALSE(parsed.commands.empty());
  const auto& word = parsed.commands.back().words.back();
  return word.unknown.empty() ? word.text : "?" + word.unknown;
}

constexpr auto maybe = "?N, which is set under a condition";

}  // namespace

TEST_CASE("A branch is taken where its test compares what is known") {
  const std::string sizes = "\nif [ $S = 7B ]; then\n N=1\nelif [[ \"$S\" == 13B ]]; then N=2\nelse N=3; fi\na $N";
  CHECK(last_word("S=7B" + sizes) == "1");
  CHECK(last_word("S=13B" + sizes) == "2");
  CHECK(last_word("S=70B" + sizes) == "3");
  CHECK(last_word("S=$(size)" + sizes) == maybe);
  CHECK(last_word("Z=2\nif [ $Z -gt 0 ]; then N=1; else N=0; fi\na $N") == "1");
  CHECK(last_word("Z=2\nif [[ $Z -le 1 ]]; then N=1; else N=0; fi\na $N") == "0");
  CHECK(last_word("if ! [ a != a ]; then N=1; fi\na $N") == "1");
  CHECK(last_word("if test -n x; then N=1; fi\na $N") == "1");
}

TEST_CASE("A variable that nobody set is empty in a test, as it is in a default") {
  CHECK(last_word("if [ -z ${X} ]; then X=4; fi\na $X") == "4");
  CHECK(last_word("if [ -n \"$X\" ]; then N=1; else N=2; fi\na $N") == "2");
  CHECK(last_word("X=5\nif [ -z \"$X\" ]; then X=4; fi\na $X") == "5");
  CHECK(last_word("a x${X:+--y $X}") == "x");
  CHECK(last_word("X=1; a ${X:+y$X}") == "y1");
}

TEST_CASE("What hangs on files, patterns and programs stays unknown in every branch that it may choose") {
  CHECK(last_word("if [ -f x ]; then N=1; fi\na $N") == maybe);
  CHECK(last_word("if nvidia-smi; then N=1; else N=2; fi\na $N") == maybe);
  CHECK(last_word("S=ab\nif [[ $S == a* ]]; then N=1; fi\na $N") == maybe);
  CHECK(last_word("if [ -f x ]; then M=1; elif [ a = a ]; then N=1; fi\na $N") == maybe);
  CHECK(last_word("for i in 1 2; do N=$i; done\na $N") == maybe);
}

TEST_CASE("Tests are joined, and decide about the command behind them") {
  CHECK(last_word("if [ a = a ] && [ b = c ]; then N=1; else N=2; fi\na $N") == "2");
  CHECK(last_word("if [ a = b ] || [ c = c ]; then N=1; else N=2; fi\na $N") == "1");
  CHECK(last_word("if [ a = b ] && program; then N=1; else N=2; fi\na $N") == "2");
  CHECK(last_word("N=1\n[ a = b ] && N=2\na $N") == "1");
  CHECK(last_word("N=1\n[ a = b ] || N=2\na $N") == "2");
  CHECK(last_word("N=1\n[ -f x ] && N=2\na $N") == maybe);
  CHECK(last_word("N=1\n[ a = b ] && N=2; N=3\na $N") == "3");
}

TEST_CASE("A case takes the first pattern that fits") {
  const std::string sizes = "\ncase \"$S\" in\n 7B|8B) N=1 ;;\n \"13B\")\n  N=2\n  ;;\n *) N=3 ;;\nesac\na $N";
  CHECK(last_word("S=8B" + sizes) == "1");
  CHECK(last_word("S=13B" + sizes) == "2");
  CHECK(last_word("S=70B" + sizes) == "3");
  CHECK(last_word("S=$1" + sizes) == maybe);
  CHECK(last_word("S=x\ncase $S in y*) N=1;; x) N=2;; esac\na $N") == maybe);
}

TEST_CASE("Branches that are not taken start nothing and write no file") {
  const auto parsed =
      dialects::parse_shell("if [ a = b ]; then\ncat > f <<E\ntext\nE\nvllm serve x\nelse\ny\nfi\n", "s.sh");
  CHECK(parsed.files.empty());
  for (const auto& command : parsed.commands) CHECK(command.words.front().text != "vllm");
}

TEST_CASE("Branches that nobody closes or opens are read to their end") {
  for (const std::string script :
       {"if", "case", "case x in", "case x in a", "case x in a)", "fi; esac; done; else a", "case x in esac; a b",
        "if [ a = a", "elif a; then b", ";; a", "case x in (a|b) c;;"}) {
    CHECK_NOTHROW(dialects::parse_shell(script, "s.sh"));
  }
}
