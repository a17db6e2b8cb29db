#include "llmcalc/quantity/error.hpp"
#include "read/inner/json_text.hpp"
#include "read/node.hpp"
#include "read/presets/json.hpp"

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace llmcalc::read {
namespace {

using nlohmann::json;

class Converter {
 public:
  Node convert(const JsonPlace& from, int depth) {
    if (depth > deepest_node) from.fail(fmt::format("nests deeper than {} levels", deepest_node));
    if (++nodes_ > most_nodes) from.fail(fmt::format("holds more than {} values", most_nodes));
    const json& value = from.value();
    Node node;
    node.where = from.text();
    if (value.is_object()) {
      node.kind = Node::Kind::table;
      for (const auto& key : from.keys()) node.members.push_back({key, convert(from.member(key), depth + 1)});
    } else if (value.is_array()) {
      node.kind = Node::Kind::list;
      for (std::size_t i = 0; i < value.size(); ++i) node.items.push_back(convert(from.item(i), depth + 1));
    } else if (!value.is_null()) {
      node.kind = Node::Kind::value;
      node.text = value.is_string() ? value.get<std::string>() : value.dump();
    }
    return node;
  }

 private:
  std::size_t nodes_ = 0;
};

}  // namespace

Node parse_commented_json(std::string_view text, std::string_view place) {
  refuse_large(text, place);
  const json value = parse_json(text, place, Comments::ignored);
  return Converter().convert({value, place}, 0);
}

}  // namespace llmcalc::read
