// The reader of a shell script, whose members stand by subject: shell.cpp has words and assignments, shell_commands.cpp
// what runs and under which condition, shell_documents.cpp what is written into files.
#pragma once

#include "dialects/shell/shell.hpp"
#include "dialects/shell/shell_branches.hpp"
#include "dialects/shell/shell_words.hpp"

#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::dialects {

/// A here-document.
struct HereDocument {
  std::string end;
  bool expands = true;
  std::string text;
};

class Shell : private ShellWords {
 public:
  using ShellWords::ShellWords;

  Script read() &&;

 private:
  void step();
  /// At ';', '&', '|', a parenthesis or the end of a line.
  void end_command(char c);
  void read_comment();
  /// "a | b)" of a case.
  void read_patterns();
  /// The next word of a command, or an assignment in front of it.
  void read_element();
  void add(ShellWord word);
  void read_assignment(std::size_t length);
  Words read_list();
  bool declares() const;

  /// A branch that is not taken, and what stands behind a test and "&&".
  Reach reach() const;
  /// "[ a = b ] && c": c runs where the test says so. In a condition the test counts for its branches.
  void take_test(char joined);
  /// "bash -c 'text $NAME'": a shell that is started finds the variables of this one (those that are exported, which
  /// scripts do not always say).
  void hand_on_variables();
  /// \param joined  '&' or '|' where "&&" or "||" follows
  void finish_command(char joined = '\0');
  void run_command();

  /// ">file", "2>&1", "<<EOF", whose document begins on the next line.
  void read_redirection();
  void read_document();
  /// What the command at hand writes into a file that a later one may name.
  void keep_file();

  ShellBranches branches_;
  Reach circuit_ = Reach::runs;  ///< behind a test and "&&" or "||"
  char joined_ = '\0';           ///< what stands in front of the command at hand
  Words words_;
  std::vector<std::pair<std::string, Words>> pending_;
  std::map<std::string, ShellWord> environment_;  ///< variables set so far that launchers read
  std::string written_;                           ///< what the output of the command at hand goes to
  std::optional<HereDocument> document_;          ///< that it is fed with
  Script script_;
};

/// True if a launcher or a server is told something by it; no others are looked at.
bool is_read_by_launchers(std::string_view variable);

/// What Slurm tells a script of a directive of its own (sbatch's manual, output environment variables): names and
/// counts.
std::vector<std::pair<std::string, std::string>> job_variables(std::string_view directive);

}  // namespace llmcalc::dialects
