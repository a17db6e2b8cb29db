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

std::vector<std::string> lines_of(std::string_view text) {
  std::vector<std::string> lines;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    lines.emplace_back(text.substr(0, end));
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return lines;
}

std::vector<std::string> page_lines(std::string_view text, std::size_t indent) {
  return lines_of(std::string(indent, ' ') + wrapped(text, indent, indent));
}

}  // namespace llmcalc::render
