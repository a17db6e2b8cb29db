// Words of a shell as they are written, with their quotes and expansions.
#pragma once

#include "dialects/shell/shell.hpp"

#include <cstddef>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::dialects {

class ShellWords {
 public:
  ShellWords(std::string_view text, std::string_view place) : text_(text), place_(place) {}

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
  [[noreturn]] void fail(const std::string& problem) const;

  /// One word as it is written, which may expand to several or to none.
  /// \param splits  false behind an assignment's '=', where blanks in a value are part of it
  Words read_words(bool splits = true);

  void set(const std::string& name, Words value);
  const Words* list(const std::string& name) const;
  const std::map<std::string, ShellWord>& variables() const { return variables_; }

  /// A here-document, in which variables are expanded and quotes are left alone. What is not known stays "$NAME".
  std::string expanded(std::string_view document);

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
  Words expand_braces(const std::string& inner);
  Words expand_default(std::string_view text);
  Words expand_alternative(const std::string& name, std::string_view text);

  std::string_view text_;
  std::string_view place_;
  std::size_t position_ = 0;
  int line_ = 1;
  int nested_ = 0;  ///< defaults within defaults
  bool quoted_list_ = false;
  std::size_t size_ = 0;
  std::map<std::string, ShellWord> variables_;
  std::map<std::string, Words> arrays_;
};

/// A letter, digit or underscore.
bool is_name_char(char c);
/// What stands between two words.
bool ends_word(char c);

}  // namespace llmcalc::dialects
