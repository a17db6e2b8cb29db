// Which branches of a script run, as far as that hangs on what the script itself says.
#pragma once

#include "dialects/shell/shell.hpp"

#include <optional>
#include <span>
#include <vector>

namespace llmcalc::dialects {

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

  /// Between "if" or "elif" and "then".
  bool in_condition() const;
  void start_condition();
  /// \param joined  '&' or '|' where "&&" or "||" stands in front of it
  void take_test(std::optional<bool> truth, char joined);
  void take_then();
  void take_else();

  /// In front of "pattern)".
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

}  // namespace llmcalc::dialects
