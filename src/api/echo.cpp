#include "api/inner/echo.hpp"

#include "quantity/lists.hpp"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>

namespace llmcalc::api {
namespace {

void add_absent(std::string_view term, std::vector<render::EchoLine>& lines) {
  if (!quantity::contains(lines, term, &render::EchoLine::term)) lines.push_back({std::string(term), {}, {}, {}});
}

}  // namespace

std::vector<render::EchoLine> echo_lines(std::vector<read::Echo> echo, std::span<const read::Term> terms) {
  std::vector<render::EchoLine> lines;
  for (auto& line : echo) {
    lines.push_back({std::move(line.term), std::move(line.value), std::string(word_of(line.origin.source)),
                     std::move(line.origin.where)});
  }
  for (const auto& word : read::shorthands()) add_absent(word.name, lines);
  for (const auto& term : terms) add_absent(term.name, lines);
  return lines;
}

}  // namespace llmcalc::api
