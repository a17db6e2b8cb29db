#include "render/wrap.hpp"

#include "render/width.hpp"

#include <algorithm>

namespace llmcalc::render {

std::string wrapped(std::string_view text, std::size_t start, std::size_t indent, std::size_t end) {
  std::string result;
  std::size_t column = start;
  while (!text.empty()) {
    const auto word = text.substr(0, std::min(text.find(' '), text.size()));
    text.remove_prefix(std::min(word.size() + 1, text.size()));
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

}  // namespace llmcalc::render
