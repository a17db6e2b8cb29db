// The reader of a shell script, whose members stand by subject: words as they are written, with their quotes and
// expansions (shell_words.cpp); which branches run, as far as that hangs on what the script itself says
// (shell_branches.cpp); assignments, commands, and what is written into files (shell.cpp).
#pragma once

#include "dialects/shell/shell.hpp"

#include <cstddef>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace llmcalc::dialects {

class ShellWords {
 public:
  ShellWords(std::string_view text, std::string_view place, int first_line = 1)
      : text_(text), place_(place), line_(first_line) {}

 protected:
  using Words = std::vector<ShellWord>;

  char peek(std::size_t ahead = 0) const;
  char next();
  bool at_end() const { return position_ >= text_.size(); }
  /// Whether a line goes on behind what ends it: '\\' of shells, '`' of PowerShell, '^' of batch files.
  bool continues_line() const;
  std::string_view rest() const { return text_.substr(position_); }
  std::string_view rest_of_line() const { return rest().substr(0, rest().find('\n')); }
  void skip(std::size_t count);
  int line() const { return line_; }
  std::string_view place() const { return place_; }
  [[noreturn]] void fail(const std::string& problem) const;

  /// One word as it is written, which may expand to several or to none.
  /// \param splits  false behind an assignment's '=', where blanks in a value are part of it
  Words read_words(bool splits = true);

  void set(const std::string& name, Words value);
  const Words* list(const std::string& name) const;
  const std::map<std::string, ShellWord>& variables() const { return variables_; }

  /// A here-document, in which variables are expanded and quotes are left alone.
  ShellWord expanded(std::string_view document);

  /// Keeps what expands from outgrowing any script.
  void count(std::size_t size);

 private:
  /// Where a text is read that holds another.
  struct Cursor {
    std::string_view text;
    std::size_t position = 0;
    int line = 0;
    bool quoted_list = false;
  };
  Cursor enter(std::string_view text);
  void leave(const Cursor& outer);

  void split(const ShellWord& value, ShellWord& word, Words& done);
  bool put(const Words& value, bool splits, ShellWord& word, Words& done);
  void read_single_quotes(ShellWord& word);
  void read_double_quotes(ShellWord& word, Words& done);
  std::string bracketed(char open, char close);
  Words unknown(std::string what) const { return {{"", line_, std::move(what)}}; }
  Words value_of(const std::string& name) const;
  Words expand();
  Words expand_name();
  Words expand_arithmetic();
  Words expand_command();
  std::optional<Words> folder_of(std::string_view command);
  Words expand_braces(const std::string& inner);
  Words expand_default(std::string_view text);
  Words expand_trimmed(const std::string& name, std::string_view tail);
  Words expand_alternative(const std::string& name, std::string_view text);

  std::string_view text_;
  std::string_view place_;
  std::size_t position_ = 0;
  int line_;
  int nested_ = 0;  ///< defaults within defaults
  bool quoted_list_ = false;
  std::size_t size_ = 0;
  std::map<std::string, ShellWord> variables_;
  std::map<std::string, Words> arrays_;
};

/// A letter, digit or underscore.
bool is_name_char(char c);
/// Whether the character stands between two words.
bool ends_word(char c);

/// Whether the commands at hand run.
enum class Reach { runs, maybe, never };

/// "[ a = b ]", "[[ -z a ]]", "test a -gt b". A variable that nobody set is empty, as it is in "${NAME:-default}".
/// Nothing where it hangs on files, on patterns or on what is not known.
std::optional<bool> truth_of_test(std::span<const ShellWord> words);

/// True for "[", "[[" and "test".
bool is_test(std::span<const ShellWord> words);

/// The branches of if and case and the loops that stand around a command.
class ShellBranches {
 public:
  Reach reach() const;

  void open_if();
  void open_loop();
  void open_case(ShellWord subject);
  void close();

  /// The innermost runs, a first time at least.
  void enter();

  /// Between "if" or "elif" and "then".
  bool in_condition() const;
  void start_condition();
  /// \param joined  '&' or '|' where "&&" or "||" stands in front of it
  void take_test(std::optional<bool> truth, char joined);
  void take_then();
  void take_else();

  /// Whether the reader stands in front of "pattern)".
  bool expects_pattern() const;
  void take_patterns(const std::vector<ShellWord>& patterns);
  void end_clause();

 private:
  struct Branch {
    Reach now = Reach::runs;
    bool taken = false;    ///< one of them surely runs, so that no later one does
    bool perhaps = false;  ///< an earlier one may
    bool condition = false;
    std::optional<bool> truth = {};
    std::optional<ShellWord> subject = {};  ///< of a case
    bool pattern = false;

    void choose(std::optional<bool> chosen);
  };
  std::vector<Branch> open_;
};

/// A here-document.
struct HereDocument {
  std::string end;
  bool expands = true;
  ShellWord text;
  int first_line = 0;
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
  /// "for NAME in a b": the commands of the loop see the first, and behind it nobody knows what it left.
  void enter_loop();
  void leave_loop();
  /// "IFS=, read -r A B <<< text": its fields, the rest for the last name.
  void read_fields();
  void assign(const std::string& name, Words value);
  /// "bash -c 'text $NAME'": a shell that is started finds the variables of this one (those that are exported, which
  /// scripts do not always say).
  void hand_on_variables();
  /// \param joined  '&' or '|' where "&&" or "||" follows
  void finish_command(char joined = '\0');
  void run_command();

  /// Text of a script within this one, and the line on which it begins.
  struct Written {
    std::string text;
    int first_line = 0;
  };
  /// The text that a shell, on another machine as well, or Slurm is handed: "sbatch <<END", "bash run.sh" of a file
  /// written here. A text that was handed on hands nothing on.
  std::optional<Written> handed_on() const;
  void run_handed(const Written& handed);

  /// ">file", "2>&1", "<<EOF", whose document begins on the next line.
  void read_redirection();
  void read_document();
  /// Keeps text that the command at hand writes into a file, which a later one may name.
  void keep_file();

  ShellBranches branches_;
  Reach circuit_ = Reach::runs;  ///< behind a test and "&&" or "||"
  char joined_ = '\0';           ///< what stands in front of the command at hand
  bool hands_on_ = true;
  Words words_;
  std::vector<std::pair<std::string, Words>> pending_;
  std::map<std::string, ShellWord> environment_;      ///< variables set so far that launchers read
  std::string written_;                               ///< what the output of the command at hand goes to
  bool adds_ = false;                                 ///< behind what stands there
  std::optional<HereDocument> document_;              ///< that it is fed with
  std::optional<ShellWord> fed_;                      ///< the same, behind "<<<"
  int loops_ = 0;                                     ///< that are open
  std::vector<std::string> changing_;                 ///< variables that are set in them
  std::map<std::string, Written, std::less<>> kept_;  ///< files that `cat > NAME <<END` wrote
  Script script_;
};

}  // namespace llmcalc::dialects
