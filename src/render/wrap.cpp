#include "render/inner/wrap.hpp"

#include "quantity/lists.hpp"
#include "quantity/text.hpp"
#include "render/foreign.hpp"
#include "render/inner/width.hpp"

#include <algorithm>

namespace llmcalc::render {

std::string wrapped(std::string_view text, std::size_t start, std::size_t indent, std::size_t end) {
  std::string result;
  std::size_t column = start;
  while (!text.empty()) {
    const auto word = one_line(quantity::take_until(text, " "));
    const auto width = display_width(word);
    if (!result.empty() && column + 1 + width > end) {
      result.append("\n").append(indent, ' ');
      column = indent;
    } else if (!result.empty()) {
      result += ' ';
      ++column;
    }
    result += word;
    column += width;
  }
  return result;
}

std::vector<std::string> lines_of(std::string_view text) {
  return quantity::mapped(quantity::pieces_of(text, "\n"), [](std::string_view line) { return std::string(line); });
}

std::vector<std::string> page_lines(std::string_view text, std::size_t indent) {
  return lines_of(std::string(indent, ' ') + wrapped(text, indent, indent));
}

}  // namespace llmcalc::render
