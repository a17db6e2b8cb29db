// What a file of settings holds, whatever it is written in: values, lists and tables, each with its place.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace llmcalc::read {

struct Member;

struct Node {
  enum class Kind { nothing, value, list, table };
  Kind kind = Kind::nothing;
  std::string text;   ///< of a value
  std::string where;  ///< "axolotl.yaml:27", "ds_config.json:/zero_optimization/stage"
  std::vector<Node> items;
  std::vector<Member> members;

  const Node* find(std::string_view key) const;
};

/// One entry of a table.
struct Member {
  std::string key;
  Node value;
};

/// A file of settings that a person wrote has some hundred values; these bounds keep one that nobody wrote from taking
/// memory or stack.
inline constexpr std::size_t largest_settings = std::size_t{1} << 20U;
inline constexpr std::size_t most_nodes = 10'000;
inline constexpr int deepest_node = 64;
inline constexpr std::size_t most_settings = 4'000;  ///< of one file or command, each looked up among the others

/// \throws quantity::BadInput at `place` when the text is longer than any file of settings
void refuse_large(std::string_view text, std::string_view place);

/// Each reads a whole file; `place` is its name.
/// \throws quantity::BadInput with the line or byte of what cannot be read
Node parse_yaml(std::string_view text, std::string_view place);  ///< aliases and merge keys expanded
Node parse_toml(std::string_view text, std::string_view place);
Node parse_commented_json(std::string_view text, std::string_view place);  ///< with // comments, as DeepSpeed has them

}  // namespace llmcalc::read
