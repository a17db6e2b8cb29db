#include "render/runs.hpp"

namespace llmcalc::render {

/// A list of one line, cut around that: what stands before it begins a list of many, what stands behind ends it.
std::string RunPieces::next(const RunLine& line) {
  runs_.lines.assign(1, line);
  const auto one = is_json_ ? to_json(runs_) : to_csv(runs_);
  constexpr std::string_view list = "\"runs\": [";
  const auto begin = is_json_ ? one.find(list) + list.size() : one.find('\n') + 1;
  const auto end = is_json_ ? one.rfind("\n  ]") : one.size();
  end_ = one.substr(end);
  const bool is_first = std::exchange(is_first_, false);
  const auto piece = is_first ? one.substr(0, end) : one.substr(begin, end - begin);
  return is_json_ && !is_first ? "," + piece : piece;
}

}  // namespace llmcalc::render
