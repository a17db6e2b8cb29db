#include "api/echo.hpp"

#include <utility>

namespace llmcalc::api {

std::vector<render::EchoLine> echo_lines(std::vector<read::Echo> echo) {
  std::vector<render::EchoLine> lines;
  for (auto& line : echo) {
    lines.push_back({std::move(line.term), std::move(line.value), std::string(word_of(line.origin.source)),
                     std::move(line.origin.where)});
  }
  return lines;
}

}  // namespace llmcalc::api
