// The door through which text that others wrote (names in files, ids of rows, what was typed) goes out: nothing that
// shows it obeys it.
#pragma once

#include "llmcalc/render/report.hpp"

#include <cstddef>
#include <string>
#include <string_view>

namespace llmcalc::render {

/// Where a text is shown, which says what has a meaning there.
enum class Medium {
  line,      ///< a line of a screen
  screen,    ///< lines of a screen
  colours,   ///< lines of a screen, with the colours that `paint` sets
  markdown,  ///< a cell of a table
  shell,     ///< within $'...' (POSIX.1-2024, section 2.2.4)
  csv,       ///< a field (RFC 4180), in quotes where it needs them
  xml,       ///< the value of an attribute (XML 1.0, section 2.4)
  json       ///< a string without its quotes (RFC 8259, section 7)
};

/// The text as valid UTF-8 of which nothing is obeyed: controls, marks of direction and bytes that are not UTF-8 are
/// written out ("\x1B", "\u202E"), in JSON as its escapes and U+FFFD.
std::string shown(std::string_view text, Medium medium);
/// Behind what is there.
void append_shown(std::string& to, std::string_view text, Medium medium);

/// Lines of a screen as that text may be shown which holds foreign parts already laid out.
std::string on_screen(std::string_view text, const TextStyle& style = {});

/// Part of a line: a line break in it, which is none of ours, is written out.
std::string one_line(std::string_view text);

/// The beginning of a text that is longer than anybody reads, and how many bytes follow.
std::string shortened(std::string_view text, std::size_t most = 2000);

/// Quoted where a shell would read anything into it; what a terminal would obey is spelled out for the shell to read.
std::string shell_word(const std::string& text);

}  // namespace llmcalc::render
