// What a script means to us is what bash makes of it: a product of settings and of what is done with them, asked of
// both.
#include "catch.hpp"
#include "cli/folder.hpp"
#include "dialects/shell/shell.hpp"

#include <algorithm>
#include <cstdio>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <vector>

using namespace llmcalc;

namespace {

constexpr const char* settings[] = {
    "",
    "N=4",
    "N=4; M=${N}x",
    "export N='two words'",
    "N=org/a/name.tar.gz",
    "N=",
    "N=3; N=$((N*2+1))",
    "A=(x 'y z' 3)",
    "A=(p q)\nA+=(r)",
    "N=\"--x 1 \\\n --y 2\"",
    "if [ 1 = 1 ]; then N=1; else N=2; fi",
    "if [ 1 = 2 ]; then N=1; else N=2; fi",
};

constexpr const char* uses[] = {
    "a $N",
    "a \"$N\" '$N' \\$N \"\\$N\"",
    "a pre$N-post ${N}post",
    "a --x=\"$N\"'q'\\ z",
    "a ${N:-7} ${M:-8} ${X:-9}",
    "a ${N##*/} ${N#*/} ${N%%.*} ${N%.*} ${N%/*}",
    "a \"${A[@]}\"",
    "a ${A[@]}",
    "a $((2+3*4)) $((7/2)) $((7%4)) $(((1+2)*3)) $((9%-1)) $((0-7/2)) $((8-3-2)) $((24/4/3))",
    "a x # a remark",
    "a x \\\n y",
    "a one; a two",
    "a one && a two",
    "a '' \"\" z",
    "N=9 a \"$N\"",
    "a \"a \\\"quoted\\\" word\" 'it'\"'\"'s'",
    "bash -c 'a $N z'",
    "bash -c \"a '$N' z\"",
    "nice bash -c 'a \"${N}\" z'",
    "[ 1 = 2 ] && a never\na ever",
    "for i in 1 2; do a $i; break; done; a $i",
    "for i in 1,p 2; do IFS=, read -r N M <<< \"$i\"; a \"$N\" \"$M\"; break; done",
    ": \"${Q:=$N}\" ${N:=z}; a \"$Q\" $N",
    "IFS=',' read -r X Y <<< \"$N,b c,d\"; a \"$X\" \"$Y\"",
    "read -r X Y <<< \" x  y z \"; a \"$X\" \"$Y\"",
};

constexpr const char* documents[] = {"END", "\\END", "'END'", "\"END\""};

/// Ends of words, commands and scripts, which none of these holds.
constexpr char word_end = '\x1f', command_end = '\x1e', script_end = '\x1d';

/// What the commands `a` of a script are given; nothing where something is unknown to us.
std::optional<std::string> given(const std::string& script) {
  std::string text;
  for (const auto& command : dialects::parse_shell(script, "s.sh").commands) {
    const auto is_unknown = [](const dialects::ShellWord& word) { return !word.unknown.empty(); };
    if (std::ranges::any_of(command.words, is_unknown)) return std::nullopt;
    const auto shell = std::ranges::find(command.words, "bash", &dialects::ShellWord::text);
    if (shell != command.words.end()) {
      const auto inner = given((shell + 2)->text);
      if (!inner) return std::nullopt;
      text += *inner;
    } else if (command.words.front().text == "a") {
      for (std::size_t i = 1; i < command.words.size(); ++i) text += command.words[i].text + word_end;
      text += command_end;
    }
  }
  return text;
}

std::optional<std::string> printed_by(const std::string& command) {
  const std::unique_ptr<FILE, int (*)(FILE*)> pipe(popen(command.c_str(), "r"), pclose);
  if (!pipe) return std::nullopt;
  std::string text;
  for (int c = std::fgetc(pipe.get()); c != EOF; c = std::fgetc(pipe.get())) text += static_cast<char>(c);
  return text;
}

/// What bash prints for each script. Variables are handed to what a script starts, as trainers' launchers hand them on.
std::vector<std::string> of_bash(const std::vector<std::string>& scripts) {
  std::string all = "a() { local w; for w; do printf '%s\\x1f' \"$w\"; done; printf '\\x1e'; }; export -f a\n";
  for (const auto& script : scripts) all += "(set -a\n" + script + "\n)\nprintf '\\x1d'\n";
  const test::Folder folder;
  all = "cd '" + folder.path() + "'\n" + all;
  const auto printed = printed_by("bash " + folder.write("all.sh", all) + " 2>/dev/null").value_or("");
  std::vector<std::string> each;
  for (std::size_t at = 0, end = 0; (end = printed.find(script_end, at)) != printed.npos; at = end + 1) {
    each.push_back(printed.substr(at, end - at));
  }
  return each;
}

}  // namespace

TEST_CASE("commands get the words that bash gives them") {
  std::vector<std::string> scripts;
  for (const std::string setting : settings) {
    for (const char* use : uses) scripts.push_back(setting + "\n" + use);
  }
  const auto expected = of_bash(scripts);
  REQUIRE(expected.size() == scripts.size());  // needs bash, as the project's own scripts do
  std::size_t known = 0;
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    const auto words = given(scripts[i]);
    if (!words) continue;
    INFO(scripts[i]);
    CHECK(*words == expected[i]);
    ++known;
  }
  CHECK(known > scripts.size() / 2);
}

namespace {

/// Draws what means the same in every shell that has it: letters, quotes, what stands behind a backslash, variables.
class Draw {
 public:
  explicit Draw(unsigned seed) : random_(seed) {}

  /// Pieces of a word, or of what stands between quotes or in a document.
  std::string some(const std::vector<std::string>& pieces) {
    std::string text;
    for (auto left = random_() % 6 + 1; left > 0; --left) text += pieces[random_() % pieces.size()];
    return text;
  }

  std::string word() {
    static const std::vector<std::string> plain{"a",   "-x=",  "/",   ".",  "\\\\", "\\$",    "\\ ",
                                                "\\'", "\\\"", "\\b", "$N", "${M}", "${X:-d}"};
    static const std::vector<std::string> within{"b",   " ",   "'",  "\\\\",  "\\$",       "\\\"",
                                                 "\\`", "\\q", "$N", "${M}z", "${X:-e f}", "#"};
    static const std::vector<std::string> raw{"c", " ", "\"", "\\", "$N", "`", "#", "${M}"};
    switch (random_() % 3) {
      case 0: return some(plain);
      case 1: return '"' + some(within) + '"';
      default: return '\'' + some(raw) + '\'';
    }
  }

  std::string words() {
    std::string line = "a";
    for (auto left = random_() % 4 + 1; left > 0; --left) line += (random_() % 3 == 0 ? "" : " ") + word();
    return line;
  }

  std::string document() {
    static const std::vector<std::string> pieces{"k: ", "v",    "'",    "\"",      "\\\\", "\\$", "\\`",
                                                 "\\n", "${N}", "${M}", "${X:-g}", "\n",   "#"};
    return some(pieces) + some(pieces);
  }

 private:
  std::mt19937 random_;
};

constexpr const char* drawn_settings = "N=4\nM='m n'\n";

}  // namespace

TEST_CASE("drawn commands get the words that bash gives them") {
  Draw draw(11);
  std::vector<std::string> scripts;
  for (int i = 0; i < 800; ++i) scripts.push_back(drawn_settings + draw.words());
  const auto expected = of_bash(scripts);
  REQUIRE(expected.size() == scripts.size());
  std::size_t known = 0;
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    const auto words = given(scripts[i]);
    INFO(scripts[i]);
    if (words) CHECK(*words == expected[i]);
    known += words ? 1U : 0U;
  }
  CHECK(known > scripts.size() * 9 / 10);
}

TEST_CASE("drawn files that a script writes hold what bash writes") {
  Draw draw(12);
  std::vector<std::string> scripts, shown;
  for (int i = 0; i < 120; ++i) {
    const auto* end = i % 3 == 0 ? "'END'" : "END";
    scripts.push_back(drawn_settings + ("cat > f.yaml <<" + std::string(end)) + "\n" + draw.document() + "\nEND\n");
    shown.push_back(scripts.back() + "cat f.yaml");
  }
  const auto expected = of_bash(shown);
  REQUIRE(expected.size() == scripts.size());
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    INFO(scripts[i]);
    CHECK(dialects::parse_shell(scripts[i], "s.sh").files.at("f.yaml") == expected[i]);
  }
}

TEST_CASE("files that a script writes hold what bash writes") {
  std::vector<std::string> scripts;
  for (const std::string end : documents) {
    scripts.push_back("N=4\ncat > f.yaml <<" + end + "\nseq: $N\n'q' \\$N ${N}k\nEND\n");
  }
  scripts.push_back("echo 'a: 1' > f.yaml\nN=4\necho -n b: $N >> f.yaml\necho >> f.yaml\n");
  scripts.push_back("cat > f.yaml <<E\na: 1\nE\necho b: 2 >> f.yaml\ncat >> f.yaml <<E\nc\nE\n");
  auto shown = scripts;
  for (auto& script : shown) script += "cat f.yaml";
  const auto expected = of_bash(shown);
  REQUIRE(expected.size() == scripts.size());
  for (std::size_t i = 0; i < scripts.size(); ++i) {
    INFO(scripts[i]);
    CHECK(dialects::parse_shell(scripts[i], "s.sh").files.at("f.yaml") == expected[i]);
  }
}
