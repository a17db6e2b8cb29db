// The commands of a shell script, without a shell: nothing is executed. Assignments, arrays, "${NAME:-default}",
// integer arithmetic and `expr` of integers are expanded; a value that hangs on anything else is marked with what it
// hangs on, which is an error only where the value is needed.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

/// Where a value that nobody knows would stand in a text.
struct ShellGap {
  std::size_t at = 0;
  std::string name;  ///< "$1", "NAME"
};

struct ShellWord {
  std::string text;
  int line = 0;
  std::string unknown = {};         ///< "$1", "NAME": what it hangs on, the last of its gaps
  std::vector<ShellGap> gaps = {};  ///< without any, what is unknown stands in front
};

/// Puts a word behind another.
void append(ShellWord& word, const ShellWord& more);

/// A text for a shell, in which what is not known stays a variable that nobody set.
std::string with_gaps(const ShellWord& word);

/// Whether what is unknown of a path stands in its folder, and its last part is known.
bool ends_known(const ShellWord& word);

struct ShellCommand {
  std::vector<ShellWord> words;
  std::map<std::string, ShellWord> environment;  ///< those of the variables it starts with that launchers read
};

using Files = std::map<std::string, std::string>;

struct Script {
  std::vector<ShellCommand> commands;
  std::vector<ShellWord> directives;  ///< what follows #SBATCH, a line each
  Files files;                        ///< written by `cat > NAME <<END` and `echo TEXT > NAME`
};

/// \throws quantity::BadInput with the line of a quote or an expansion that is not closed
Script parse_shell(std::string_view text, std::string_view place);

/// The value of an integer expression, or nothing where it is none.
struct ShellInteger {
  bool known = false;
  long long value = 0;
};
ShellInteger shell_arithmetic(std::string_view expression, const std::map<std::string, ShellWord>& variables);

}  // namespace llmcalc::dialects
