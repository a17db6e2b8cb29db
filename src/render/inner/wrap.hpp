// Prose in lines that an 80-column terminal shows whole.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::render {

inline constexpr std::size_t page_columns = 80;

/// `text` broken at spaces so that no line reaches beyond `end`, where the first begins at column `start` and the
/// others at `indent`. A word that is wider than a line stands on one of its own.
std::string wrapped(std::string_view text, std::size_t start, std::size_t indent, std::size_t end = page_columns);

/// Text cut at its line breaks.
std::vector<std::string> lines_of(std::string_view text);

/// Prose as the lines of a page, all of them indented.
std::vector<std::string> page_lines(std::string_view text, std::size_t indent);

}  // namespace llmcalc::render
